import { Type } from 'typebox';
import { type ApiCall, defineEndpoint, type Endpoint, type Resource } from '../endpoint.ts';
import {
  companyName,
  idAndName,
  idText,
  isoTime,
  isoTimeOrNull,
  nothing,
  shortText,
  timeText,
} from '../http/fields.ts';
import { byExternalId, listResult, pageQuery } from '../http/page.ts';
import { defineModel } from '../model.ts';
import { findUser, tabInstanceSchema } from '../people-rules.ts';
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

const full = {
  groups: Type.Optional(Type.Array(idAndName)),
  roles: Type.Optional(Type.Array(Type.String(), { description: "the role's ID" })),
  tab_instances: Type.Optional(Type.Array(tabInstanceSchema)),
  properties: Type.Optional(Type.Record(Type.String(), Type.String())),
};

const summary = defineModel('UserSummary', {
  ...listItem,
  external_id: Type.Optional(Type.String()),
  company: Type.Optional(companyName),
  date_created: Type.Optional(isoTime),
  is_locked_out: Type.Optional(Type.Boolean()),
  ...full,
});

const detail = defineModel('User', {
  ...listItem,
  external_id: Type.Optional(Type.String()),
  company: companyName,
  date_created: isoTime,
  is_locked_out: Type.Boolean(),
  ...full,
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

interface Added {
  readonly full: boolean;
  readonly include_groups: boolean;
  readonly include_roles: boolean;
}

/** Adds what the query asks for to an item of the list. */
function describeWith(call: Pick<ApiCall, 'account' | 'context'>, user: User, added: Added): object {
  const { db } = call.context;
  if (added.full) return describeFully(call, user);
  return {
    ...describeListed(user),
    ...(added.include_groups && { groups: groupsOf(db, user) }),
    ...(added.include_roles && { roles: rolesOf(user) }),
  };
}

/** A user has at most one role, but clients expect a list. */
function rolesOf({ roleId }: User): string[] {
  return roleId === null ? [] : [roleId];
}

function describe({ account }: Pick<ApiCall, 'account'>, user: User): object {
  return {
    ...describeListed(user),
    ...(user.externalId !== null && { external_id: user.externalId }),
    company: account.name,
    date_created: timeText(user.createdAt),
    is_locked_out: false,
  };
}

function describeFully(call: Pick<ApiCall, 'account' | 'context'>, user: User): object {
  const { db } = call.context;
  return {
    ...describe(call, user),
    groups: groupsOf(db, user),
    roles: rolesOf(user),
    tab_instances: allTabInstancesOf(db, user.id),
    properties: userProperties(db, user),
  };
}

function mailing(operation: 'resend-invite' | 'reset-password', summary: string): Endpoint {
  return defineEndpoint({
    id: operation === 'resend-invite' ? 'resendInvite' : 'resetPassword',
    method: 'POST',
    path: `/users/{id}/@/${operation}`,
    summary,
    basis: 'decided',
    missing: 'mail: no mail is sent, and the password stays the same',
    permission,
    body: {},
    find: (call) => findUser(call),
    act: () => undefined,
  });
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
        full: Type.Boolean({ default: false, description: 'add everything that is known of each user' }),
        include_groups: Type.Boolean({ default: false, description: 'add the groups of each user' }),
        include_roles: Type.Boolean({ default: false, description: "add the ID of each user's role" }),
      },
      answer: { status: 200, data: Type.Object({ users: Type.Array(summary) }) },
      do: (call) => {
        const { context, account, query } = call;
        const found = usersOfAccount(context.db, account.id, query);
        return listResult('users', found, (user) => describeWith(call, user, query));
      },
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
      do: (call, user) => ({ data: call.query.full ? describeFully(call, user) : describe(call, user) }),
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
    mailing('resend-invite', 'Sends the invitation to a user again'),
    mailing('reset-password', 'Sends a user a link to set a new password'),
  ],
} satisfies Resource;
