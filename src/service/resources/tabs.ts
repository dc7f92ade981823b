import { Type } from 'typebox';
import { newId } from '../../lib/ids.ts';
import { requireDashboardCapacity } from '../account-capacity.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { companyName, isoTime, nothing, someName, someText, timeText } from '../http/fields.ts';
import { listResult, pageQuery } from '../http/page.ts';
import { defineModel } from '../model.ts';
import { rights, rightsOf } from '../sharing.ts';
import { klipInstancesOf } from '../store/klip-instances.ts';
import { deleteTab, insertTab, type Tab, tabAsShared, updateTab, visibleTabs } from '../store/tabs.ts';
import { emptyLayout } from '../tab-layout.ts';
import { findEditableTab, findTab } from '../tab-rules.ts';

const listItem = { id: Type.String(), name: Type.String(), description: Type.String() };

const summary = defineModel('DashboardSummary', listItem);

const detail = defineModel('Dashboard', {
  ...listItem,
  company: companyName,
  created_by: Type.Union([Type.String(), Type.Null()]),
  last_updated: isoTime,
  klip_instances: Type.Optional(Type.Array(Type.String())),
  share_rights: Type.Optional(rights.share_rights),
  user_share_rights: Type.Optional(rights.user_share_rights),
});

function describeListed({ id, name, description }: Tab): object {
  return { id, name, description };
}

function describe({ account }: Pick<ApiCall, 'account'>, tab: Tab): object {
  return {
    ...describeListed(tab),
    company: account.name,
    created_by: tab.createdBy,
    last_updated: timeText(tab.updatedAt),
  };
}

function describeFully(call: Pick<ApiCall, 'account' | 'context'>, tab: Tab): object {
  const { db } = call.context;
  const instances = klipInstancesOf(db, tab.id).map(({ id }) => id);
  return { ...describe(call, tab), klip_instances: instances, ...rightsOf(db, tabAsShared(tab)) };
}

function create({ context, caller, account, body }: ApiCall<unknown, { name: string; description?: string }>): string {
  const { name, description = '' } = body;
  const id = newId();
  const own = { id, accountId: account.id, createdBy: caller.user.id, createdAt: context.clock.now() };
  context.db.durably(() => {
    requireDashboardCapacity(context.db, account.id);
    insertTab(context.db, { ...own, ...emptyLayout, name, description });
  });
  return id;
}

export default {
  name: 'tabs',
  summary: 'Dashboards, on which Klips are placed',
  endpoints: [
    defineEndpoint({
      id: 'listDashboards',
      method: 'GET',
      path: '/tabs',
      summary: 'The dashboards that are visible to the caller',
      basis: 'document',
      decided: 'the name of the `tabs` key',
      permission: ['dashboard.library'],
      query: pageQuery,
      answer: { status: 200, data: Type.Object({ tabs: Type.Array(summary) }) },
      do: ({ context, account, caller, query }) =>
        listResult('tabs', visibleTabs(context.db, account, caller, query), describeListed),
    }),
    defineEndpoint({
      id: 'getDashboard',
      method: 'GET',
      path: '/tabs/{id}',
      summary: 'One dashboard; with `full`, also its Klip instances and share rights',
      basis: 'document',
      permission: ['dashboard.library'],
      query: { full: Type.Boolean({ default: false }) },
      answer: { status: 200, data: detail },
      find: (call) => findTab(call),
      do: (call, tab) => ({ data: call.query.full ? describeFully(call, tab) : describe(call, tab) }),
    }),
    defineEndpoint({
      id: 'createDashboard',
      method: 'POST',
      path: '/tabs',
      summary: 'Creates an empty dashboard',
      basis: 'document',
      decided: 'a new dashboard is a grid of six columns',
      permission: ['tab.build'],
      body: { name: someName, description: Type.Optional(someText) },
      answer: { status: 201, data: nothing },
      do: (call) => ({ meta: { location: `/tabs/${create(call)}` } }),
    }),
    defineEndpoint({
      id: 'updateDashboard',
      method: 'PUT',
      path: '/tabs/{id}',
      summary: 'Changes name or description',
      basis: 'document',
      permission: ['tab.edit'],
      body: { name: Type.Optional(someName), description: Type.Optional(someText) },
      find: (call) => findEditableTab(call),
      act: ({ context, body }, { id }) =>
        context.db.durably(() => updateTab(context.db, id, { ...body, now: context.clock.now() })),
    }),
    defineEndpoint({
      id: 'deleteDashboard',
      method: 'DELETE',
      path: '/tabs/{id}',
      summary: 'Removes a dashboard with its Klip instances and published links; the Klips stay',
      basis: 'document',
      permission: ['tab.delete'],
      find: (call) => findEditableTab(call),
      act: ({ context }, { id }) => context.db.durably(() => deleteTab(context.db, id)),
    }),
  ],
} satisfies Resource;
