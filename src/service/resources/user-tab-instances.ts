import { Type } from 'typebox';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { notFound } from '../http/api-error.ts';
import { canonicalId } from '../http/canonical-id.ts';
import { listResult, pageQuery } from '../http/page.ts';
import { defineModel } from '../model.ts';
import { findUser, tabInstanceSchema } from '../people-rules.ts';
import { putOnScreen, type TabInstance, tabInstancesOf, takeFromScreen } from '../store/user-tabs.ts';
import type { User } from '../store/users.ts';
import { findTab } from '../tab-rules.ts';

const permission = ['user.manage'] as const;
const path = '/users/{id}/tab-instances';
const { id, tab_id, name } = tabInstanceSchema.properties;

/** Adds all dashboards to the user's screen. Adds none if one of them isn't visible to the caller. */
function put(call: ApiCall<unknown, { tab_ids: string[] }>, user: User): Omit<TabInstance, 'context'>[] {
  const { db } = call.context;
  return db.durably(() => {
    const tabs = [...new Set(call.body.tab_ids.map(canonicalId))].map((tabId) => findTab(call, tabId));
    const instances = tabs.map((tab) => putOnScreen(db, user.id, tab.id));
    return instances.map(({ context: _context, ...shown }) => shown);
  });
}

export default {
  name: 'user-tab-instances',
  summary: "The dashboards on a user's screen",
  endpoints: [
    defineEndpoint({
      id: 'listTabInstances',
      method: 'GET',
      path,
      summary: "The dashboards on a user's screen",
      basis: 'document',
      missing: 'contexts other than `desktop`',
      permission,
      query: pageQuery,
      answer: { status: 200, data: Type.Object({ tab_instances: Type.Array(tabInstanceSchema) }) },
      find: (call) => findUser(call),
      do: ({ context, query }, user) => listResult('tab_instances', tabInstancesOf(context.db, user.id, query)),
    }),
    defineEndpoint({
      id: 'addTabInstances',
      method: 'PUT',
      path,
      summary: "Puts dashboards on a user's screen; existing ones keep their instance",
      basis: 'document',
      decided: 'an existing dashboard keeps its instance',
      permission,
      body: { tab_ids: Type.Array(Type.String()) },
      answer: {
        status: 200,
        data: Type.Object({ tab_instances: Type.Array(defineModel('NewTabInstance', { id, tab_id, name })) }),
      },
      find: (call) => findUser(call),
      do: (call, user) => ({ data: { tab_instances: put(call, user) } }),
    }),
    defineEndpoint({
      id: 'removeTabInstance',
      method: 'DELETE',
      path: `${path}/{instance}`,
      summary: "Removes a dashboard from a user's screen",
      basis: 'document',
      permission,
      find: (call) => findUser(call),
      act: ({ context, params }, user) => {
        const found = context.db.durably(() => takeFromScreen(context.db, user.id, params.instance!));
        if (!found) throw notFound(`Tab instance not found: ${params.instance}`);
      },
    }),
  ],
} satisfies Resource;
