import { Type } from 'typebox';
import { defineEndpoint, type Resource } from '../endpoint.ts';
import { idAndName, idText, isoTime, isoTimeOrNull, nothing, shortText, timeText } from '../http/fields.ts';
import { byExternalId, listResult, pageQuery } from '../http/page.ts';
import { defineModel } from '../model.ts';
import { findUser, tabInstanceSchema } from '../people-rules.ts';
import type { Database } from '../store/database.ts';
import { roleById } from '../store/roles.ts';
import { userProperties } from '../store/user-properties.ts';
import { allTabInstancesOf } from '../store/user-tabs.ts';
import { groupsOf, type User, usersOfAccount } from '../store/users.ts';
import { addUser, changeUser, removeUser } from '../user-changes.ts';

const permission = ['user.manage'] as const;

const listItem = {
  id: Type.String(),
  first_name: Type.String(),
  last_name: Type.String(),
  email: Type.String(),
  date_last_login: isoTimeOrNull,
};

const summary = defineModel('UserSummary', listItem);

const detail = defineModel('User', {
  ...listItem,
  external_id: Type.Union([Type.String(), Type.Null()]),
  company: Type.String(),
  date_created: isoTime,
  is_locked_out: Type.Boolean(),
  groups: Type.Optional(Type.Array(idAndName)),
  roles: Type.Optional(Type.Array(idAndName)),
  tab_instances: Type.Optional(Type.Array(tabInstanceSchema)),
  properties: Type.Optional(Type.Record(Type.String(), Type.String())),
});

const email = Type.String({ maxLength: 254, pattern: '^[^\\s@:]+@[^\\s@:]+$', 'x-rule': 'must be an e-mail address' });

const change = {
  email: Type.Optional(email),
  first_name: Type.Optional(shortText),
  last_name: Type.Optional(shortText),
  password: Type.Optional(
    Type.String({ minLength: 1, maxLength: 1000, 'x-rule': 'must be a string of 1 to 1000 characters' }),
  ),
  external_id: Type.Optional(idText),
  roles: Type.Optional(
    Type.Array(Type.String(), { minItems: 1, maxItems: 1, 'x-rule': 'must be an array with exactly one role ID' }),
  ),
};

function describeListed(user: User): object {
  return {
    id: user.id,
    first_name: user.firstName,
    last_name: user.lastName,
    email: user.email,
    date_last_login: timeText(user.dateLastLogin),
  };
}

function describe(user: User): object {
  return {
    ...describeListed(user),
    external_id: user.externalId,
    company: user.accountId,
    date_created: timeText(user.createdAt),
    is_locked_out: false,
  };
}

function describeFully(db: Database, user: User): object {
  const role = roleById(db, user.roleId ?? '');
  return {
    ...describe(user),
    groups: groupsOf(db, user),
    roles: role === undefined ? [] : [{ id: role.id, name: role.name }],
    tab_instances: allTabInstancesOf(db, user.id),
    properties: userProperties(db, user),
  };
}

export default {
  name: 'users',
  summary: 'The users of an account',
  endpoints: [
    defineEndpoint({
      id: 'listUsers',
      method: 'GET',
      path: '/users',
      summary: 'The users of the account',
      basis: 'decided',
      permission,
      query: {
        ...pageQuery,
        ...byExternalId,
        email: Type.Optional(
          Type.String({ minLength: 1, description: 'return only the user with this e-mail address, in any case' }),
        ),
      },
      answer: { status: 200, data: Type.Object({ users: Type.Array(summary) }) },
      do: ({ context, account, query }) =>
        listResult('users', usersOfAccount(context.db, account.id, query), describeListed),
    }),
    defineEndpoint({
      id: 'getUser',
      method: 'GET',
      path: '/users/{id}',
      summary: 'One user; with `full`, also groups, role and properties',
      basis: 'decided',
      permission,
      query: { full: Type.Boolean({ default: false }) },
      answer: { status: 200, data: detail },
      find: (call) => findUser(call),
      do: ({ context, query }, user) => ({ data: query.full ? describeFully(context.db, user) : describe(user) }),
    }),
    defineEndpoint({
      id: 'createUser',
      method: 'POST',
      path: '/users',
      summary: 'Creates a user',
      basis: 'decided',
      decided: 'a new user gets the View-Only role unless another role is given',
      missing: 'mail: `send_email` is accepted, but no mail is sent',
      permission,
      body: { ...change, email, send_email: Type.Optional(Type.Boolean()) },
      answer: { status: 201, data: nothing },
      do: async (call) => ({ meta: { location: `/users/${await addUser(call)}` } }),
    }),
    defineEndpoint({
      id: 'updateUser',
      method: 'PUT',
      path: '/users/{id}',
      summary: 'Changes a user; other fields are unchanged',
      basis: 'decided',
      missing: 'lockout, and creating or revoking API keys: keys come from fixtures and the first start',
      permission,
      body: change,
      find: (call) => findUser(call),
      act: (call) => changeUser(call),
    }),
    defineEndpoint({
      id: 'deleteUser',
      method: 'DELETE',
      path: '/users/{id}',
      summary: 'Removes a user and their keys, memberships and share rights',
      basis: 'decided',
      permission,
      find: (call) => findUser(call),
      act: (call, user) => removeUser(call, user),
    }),
  ],
} satisfies Resource;
