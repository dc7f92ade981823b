import { Type } from 'typebox';
import { newId } from '../../lib/ids.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { forbidden, notFound } from '../http/api-error.ts';
import { nothing } from '../http/fields.ts';
import { listResult, pageQuery } from '../http/page.ts';
import { defineModel } from '../model.ts';
import { findGroup } from '../people-rules.ts';
import {
  countKlips,
  type DefaultTab,
  defaultTabById,
  defaultTabOf,
  defaultTabsOf,
  deleteDefaultTab,
  insertDefaultTab,
  nextPosition,
  type TabVisibility,
  tabVisibilities,
  updateDefaultTab,
} from '../store/default-tabs.ts';
import type { UserGroup } from '../store/groups.ts';
import { share, unshare } from '../store/shares.ts';
import { findEditableTab } from '../tab-rules.ts';

const permission = ['user.manage'] as const;
const path = '/groups/{id}/default-tabs';

const item = {
  id: Type.String(),
  tab_id: Type.String(),
  tab_name: Type.String(),
  description: Type.Union([Type.String(), Type.Null()]),
  can_edit: Type.Boolean(),
  visibility: Type.Enum(tabVisibilities),
  index: Type.Integer(),
};
const summary = defineModel('DefaultDashboardSummary', item);
const detail = defineModel('DefaultDashboard', { ...item, klips_shared: Type.Integer(), total_klips: Type.Integer() });

const change = {
  can_edit: Type.Optional(Type.Boolean()),
  visibility: Type.Optional(Type.Enum(tabVisibilities)),
  index: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1_000_000, 'x-rule': 'must be a position: a whole number, 0 or more' }),
  ),
};
type Change = { can_edit?: boolean; visibility?: TabVisibility; index?: number };

function describe(given: DefaultTab): object {
  return {
    id: given.id,
    tab_id: given.tabId,
    tab_name: given.tabName,
    description: given.description === '' ? null : given.description,
    can_edit: given.canEdit === 1,
    visibility: given.visibility,
    index: given.position,
  };
}

function describeFully({ context }: ApiCall, given: DefaultTab): object {
  const { total, shared } = countKlips(context.db, given);
  return { ...describe(given), klips_shared: shared, total_klips: total };
}

function find(call: ApiCall): DefaultTab {
  const group = findGroup(call);
  const id = call.params.default_tab!;
  const found = defaultTabById(call.context.db, group.id, id);
  if (found === undefined) throw notFound(`Default dashboard not found: ${id}`);
  return found;
}

/**
 * Makes a dashboard a default of the group. This also shares the dashboard with the group, with the rights that
 * `can_edit` sets, so the caller must be allowed to share it.
 */
function add(call: ApiCall<unknown, Change & { tab_id: string }>, group: UserGroup): string {
  const { db, clock } = call.context;
  const { tab_id: asked, can_edit = false, visibility = 'library', index } = call.body;
  const id = newId();
  const createdAt = clock.now();
  db.durably(() => {
    const { id: tabId } = findEditableTab(call, asked);
    if (defaultTabOf(db, group.id, tabId) !== undefined) {
      throw forbidden('The dashboard is already a default dashboard of the group');
    }
    const position = index ?? nextPosition(db, group.id);
    insertDefaultTab(db, { id, groupId: group.id, tabId, canEdit: can_edit ? 1 : 0, visibility, position, createdAt });
    shareIt(call, { tabId, groupId: group.id, canEdit: can_edit });
  });
  return id;
}

function update(call: ApiCall<unknown, Change>, found: DefaultTab): void {
  const { db } = call.context;
  const { can_edit: canEdit } = call.body;
  db.durably(() => {
    if (canEdit !== undefined) {
      findEditableTab(call, found.tabId);
      shareIt(call, { ...found, canEdit });
    }
    updateDefaultTab(db, found.id, call.body);
  });
}

function shareIt({ context }: ApiCall, given: { tabId: string; groupId: string; canEdit: boolean }): void {
  const { tabId, groupId, canEdit } = given;
  share(
    context.db,
    { kind: 'tab', id: tabId },
    { kind: 'group', holderId: groupId, canEdit, now: context.clock.now() },
  );
}

function remove({ context }: ApiCall, { id, tabId, groupId }: DefaultTab): void {
  context.db.durably(() => {
    deleteDefaultTab(context.db, id);
    unshare(context.db, { kind: 'tab', id: tabId }, 'group', groupId);
  });
}

export default {
  name: 'group-default-tabs',
  summary: 'The default dashboards of a group',
  endpoints: [
    defineEndpoint({
      id: 'listDefaultDashboards',
      method: 'GET',
      path,
      summary: 'The default dashboards of a group, by position',
      basis: 'document',
      decided: 'the list is ordered by `index`',
      permission,
      query: pageQuery,
      answer: { status: 200, data: Type.Object({ tabs: Type.Array(summary) }) },
      find: (call) => findGroup(call),
      do: ({ context, query }, group) => listResult('tabs', defaultTabsOf(context.db, group.id, query), describe),
    }),
    defineEndpoint({
      id: 'getDefaultDashboard',
      method: 'GET',
      path: `${path}/{default_tab}`,
      summary: 'One default dashboard, with the number of its Klips',
      basis: 'document',
      permission,
      answer: { status: 200, data: detail },
      find,
      do: (call, found) => ({ data: describeFully(call, found) }),
    }),
    defineEndpoint({
      id: 'addDefaultDashboard',
      method: 'POST',
      path,
      summary: 'Adds a default dashboard to a group and shares it with the group',
      basis: 'document',
      decided: 'the defaults; the dashboard is also shared with the group',
      missing: 'the effect of `visibility`, which is only stored and returned',
      permission,
      body: { ...change, tab_id: Type.String({ minLength: 1 }) },
      answer: { status: 201, data: nothing },
      find: (call) => findGroup(call),
      do: (call, group) => ({ meta: { location: `/groups/${group.id}/default-tabs/${add(call, group)}` } }),
    }),
    defineEndpoint({
      id: 'updateDefaultDashboard',
      method: 'PUT',
      path: `${path}/{default_tab}`,
      summary: 'Changes a default dashboard of a group',
      basis: 'document',
      missing: 'the effect of `visibility`, which is only stored and returned',
      permission,
      body: change,
      find,
      act: (call, found) => update(call, found),
    }),
    defineEndpoint({
      id: 'removeDefaultDashboard',
      method: 'DELETE',
      path: `${path}/{default_tab}`,
      summary: 'Removes a default dashboard from a group and stops sharing it',
      basis: 'document',
      decided: 'the dashboard is no longer shared with the group',
      permission,
      find,
      act: (call, found) => remove(call, found),
    }),
  ],
} satisfies Resource;
