import { Type } from 'typebox';
import { followUsers } from '../datasource-instancing.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { notFound } from '../http/api-error.ts';
import { findUser } from '../people-rules.ts';
import { propertiesGiven, textProperties } from '../property-map.ts';
import { dropUserProperty, setUserProperty, userProperties } from '../store/user-properties.ts';
import type { User } from '../store/users.ts';

const permission = ['user.manage'] as const;
const path = '/users/{id}/properties';

function set({ context, body }: ApiCall<unknown, { properties: Record<string, string | null> }>, user: User): string[] {
  const given = propertiesGiven(body.properties);
  return context.db.durably(() => {
    for (const property of given) setUserProperty(context.db, user, property);
    return followUsers(context.db, user.accountId, context.clock.now());
  });
}

function drop({ context, query }: ApiCall<{ name: string }>, user: User): string[] {
  return context.db.durably(() => {
    const found = dropUserProperty(context.db, user.accountId, query.name);
    if (!found) throw notFound(`There is no user property "${query.name}"`);
    return followUsers(context.db, user.accountId, context.clock.now());
  });
}

export default {
  name: 'user-properties',
  summary: 'Values per user, under names that all users in the account share',
  endpoints: [
    defineEndpoint({
      id: 'getUserProperties',
      method: 'GET',
      path,
      summary: "The account's properties with the user's values; a value is empty until it is set",
      basis: 'document',
      decided: 'values are empty until they are set',
      permission,
      answer: { status: 200, data: Type.Object({ properties: Type.Record(Type.String(), Type.String()) }) },
      find: (call) => findUser(call),
      do: ({ context }, user) => ({ data: { properties: userProperties(context.db, user) } }),
    }),
    defineEndpoint({
      id: 'setUserProperties',
      method: 'PUT',
      path,
      summary: 'Sets values for the user; a new name exists for all users of the account',
      basis: 'document',
      permission,
      body: { properties: textProperties },
      find: (call) => findUser(call),
      act: async (call, user) => {
        for (const blob of set(call, user)) await call.context.blobs.remove(blob);
      },
    }),
    defineEndpoint({
      id: 'deleteUserProperty',
      method: 'DELETE',
      path,
      summary: 'Removes a property from all users of the account',
      basis: 'document',
      decided: 'returns 404 for an unknown name',
      permission,
      query: { name: Type.String({ minLength: 1 }) },
      find: (call) => findUser(call),
      act: async (call, user) => {
        for (const blob of drop(call, user)) await call.context.blobs.remove(blob);
      },
    }),
  ],
} satisfies Resource;
