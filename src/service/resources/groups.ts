import { Type } from 'typebox';
import { newId } from '../../lib/ids.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { badRequest } from '../http/api-error.ts';
import { companyName, idText, nothing, someName, someText } from '../http/fields.ts';
import { byExternalId, listResult, pageQuery } from '../http/page.ts';
import { defineModel } from '../model.ts';
import { describeNamed, findGroup, groupSummary } from '../people-rules.ts';
import {
  allMembersOf,
  countMembers,
  createGroup,
  deleteGroup,
  groupByName,
  groupsOfAccount,
  type UserGroup,
  updateGroup,
} from '../store/groups.ts';

const detail = defineModel('Group', {
  id: Type.String(),
  external_id: Type.Union([Type.String(), Type.Null()]),
  company: companyName,
  name: Type.String(),
  description: Type.String(),
  num_members: Type.Integer(),
  members: Type.Optional(Type.Array(defineModel('GroupMember', { id: Type.String(), full_name: Type.String() }))),
});

const body = { description: Type.Optional(someText), external_id: Type.Optional(idText) };

function describe({ context, account, query }: ApiCall<{ full: boolean }>, group: UserGroup): object {
  const { id, externalId, name, description } = group;
  const fields = { id, external_id: externalId, company: account.name, name, description };
  const num_members = countMembers(context.db, id);
  if (!query.full) return { ...fields, num_members };
  const members = allMembersOf(context.db, id).map((person) => ({
    id: person.id,
    full_name: `${person.first_name} ${person.last_name}`.trim(),
  }));
  return { ...fields, num_members, members };
}

/** Checks that the name isn't used by another group in the account. */
function checkName({ context, account }: ApiCall, name: string | undefined, self?: string): void {
  const known = name === undefined ? undefined : groupByName(context.db, account.id, name);
  if (known !== undefined && known.id !== self) throw badRequest('Field "name" is already used by another group');
}

export default {
  name: 'groups',
  summary: 'Sets of users to share with',
  endpoints: [
    defineEndpoint({
      id: 'listGroups',
      method: 'GET',
      path: '/groups',
      summary: 'The groups of the account',
      basis: 'document',
      decided: 'the required permission; `external_id` filters the list',
      permission: ['user.manage', 'group.view'],
      query: { ...pageQuery, ...byExternalId },
      answer: { status: 200, data: Type.Object({ groups: Type.Array(groupSummary) }) },
      do: ({ context, account, query }) =>
        listResult('groups', groupsOfAccount(context.db, account.id, query), describeNamed),
    }),
    defineEndpoint({
      id: 'getGroup',
      method: 'GET',
      path: '/groups/{id}',
      summary: 'One group; with `full`, also its members',
      basis: 'document',
      permission: ['user.manage'],
      query: { full: Type.Boolean({ default: false }) },
      answer: { status: 200, data: detail },
      find: (call) => findGroup(call),
      do: (call, group) => ({ data: describe(call, group) }),
    }),
    defineEndpoint({
      id: 'createGroup',
      method: 'POST',
      path: '/groups',
      summary: 'Creates a group',
      basis: 'document',
      decided: 'the `external_id` field',
      permission: ['user.manage'],
      body: { name: someName, ...body },
      answer: { status: 201, data: nothing },
      do: (call) => {
        const { context, account, body } = call;
        const { name, description = '', external_id: externalId = null } = body;
        const id = newId();
        checkName(call, name);
        const group = { id, accountId: account.id, externalId, name, description };
        context.db.durably(() => createGroup(context.db, group, context.clock.now()));
        return { meta: { location: `/groups/${id}` } };
      },
    }),
    defineEndpoint({
      id: 'updateGroup',
      method: 'PUT',
      path: '/groups/{id}',
      summary: 'Changes name, description or external ID',
      basis: 'document',
      decided: 'the `external_id` field',
      permission: ['user.manage'],
      body: { name: Type.Optional(someName), ...body },
      find: (call) => findGroup(call),
      act: (call, group) => {
        const { db } = call.context;
        checkName(call, call.body.name, group.id);
        db.durably(() => updateGroup(db, group.id, call.body));
      },
    }),
    defineEndpoint({
      id: 'deleteGroup',
      method: 'DELETE',
      path: '/groups/{id}',
      summary: 'Removes a group, its memberships and its share rights',
      basis: 'document',
      permission: ['user.manage'],
      find: (call) => findGroup(call),
      act: ({ context }, group) => context.db.durably(() => deleteGroup(context.db, group.id)),
    }),
  ],
} satisfies Resource;
