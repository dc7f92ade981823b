import { Type } from 'typebox';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { idAndName, isoTime, isoTimeOrNull, timeText } from '../http/fields.ts';
import { defineModel } from '../model.ts';
import { tabInstanceSchema } from '../people-rules.ts';
import { allTabInstancesOf } from '../store/user-tabs.ts';
import { groupsOf, userById } from '../store/users.ts';

const profile = defineModel('Profile', {
  id: Type.String(),
  company: idAndName,
  first_name: Type.String(),
  last_name: Type.String(),
  email: Type.String(),
  date_last_login: isoTimeOrNull,
  date_created: isoTime,
  is_locked_out: Type.Boolean(),
  tab_instances: Type.Optional(Type.Array(tabInstanceSchema)),
  groups: Type.Optional(Type.Array(idAndName)),
  permissions: Type.Optional(Type.Array(Type.String())),
});

function describe({ caller, context }: ApiCall): object {
  const { company } = caller;
  // Read the user again, because a call with a password has just updated the time of the last sign-in.
  const user = userById(context.db, caller.user.id)!;
  return {
    id: user.id,
    company: { id: company.id, name: company.name },
    first_name: user.firstName,
    last_name: user.lastName,
    email: user.email,
    date_last_login: timeText(user.dateLastLogin),
    date_created: timeText(user.createdAt),
    is_locked_out: false,
  };
}

function describeFully(call: ApiCall): object {
  const { caller, context } = call;
  return {
    ...describe(call),
    tab_instances: allTabInstancesOf(context.db, caller.user.id),
    groups: groupsOf(context.db, caller.user),
    permissions: [...caller.permissions].sort(),
  };
}

export default {
  name: 'profile',
  summary: 'The user who makes a call',
  endpoints: [
    defineEndpoint({
      id: 'getProfile',
      method: 'GET',
      path: '/profile',
      summary: 'The user that the credentials belong to',
      basis: 'decided',
      missing: 'lockout after wrong passwords: `is_locked_out` stays false',
      permission: [],
      client: false,
      query: { full: Type.Boolean({ default: false }) },
      answer: { status: 200, data: profile },
      do: (call) => ({ data: call.query.full ? describeFully(call) : describe(call) }),
    }),
  ],
} satisfies Resource;
