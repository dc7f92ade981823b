import { type Static, Type } from 'typebox';
import { findClient } from '../client-rules.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { badRequest } from '../http/api-error.ts';
import { listResult, pageOf, pageQuery } from '../http/page.ts';
import { defineModel } from '../model.ts';
import { type LimitName, limitNames, limitsOf, setLimit } from '../store/client-limits.ts';
import type { ClientAccount } from '../store/clients.ts';

const path = '/clients/{id}/resources';

const displayNames = {
  'api.requests.perDay': 'API Calls per Day',
  'api.requests.perSecond': 'API Calls per Second',
  'dashboard.combined.total': 'Dashboards',
  'company.seats': 'Users',
  'published.private.links': 'Private Links',
} as const satisfies Readonly<Record<LimitName, string>>;

/** All names of each limit. Clients write back the display names that they read; one name is from older clients. */
const limitsByName = new Map<string, LimitName>([
  ...limitNames.map((name) => [name, name] as const),
  ...limitNames.map((name) => [displayNames[name], name] as const),
  ['dashboard.tabs.total', 'dashboard.combined.total'],
]);

const wanted = defineModel('ResourceLimit', {
  name: Type.Enum([...limitNames, ...Object.values(displayNames), 'dashboard.tabs.total'] as const),
  value: Type.Integer({
    minimum: -1,
    maximum: Number.MAX_SAFE_INTEGER,
    'x-rule': 'must be a whole number: 1 or more for API calls, 0 or more for others, or -1 for no limit',
  }),
});

type WantedLimit = Static<typeof wanted>;

function setAll({ context, body }: ApiCall<unknown, { resources: WantedLimit[] }>, id: string): void {
  const limits = body.resources.map(({ name, value }, index) => {
    const limit = limitsByName.get(name)!;
    // Only asset limits can be unlimited; API rate limits can't.
    if (limit.startsWith('api.') && value < 1) throw badRequest(`Field "resources.${index}.value" must be 1 or more`);
    return { limit, value };
  });
  context.db.durably(() => {
    for (const { limit, value } of limits) setLimit(context.db, id, limit, value);
  });
}

function describe({ context }: Pick<ApiCall, 'context'>, { id }: ClientAccount): object[] {
  const limits = limitsOf(context.db, id);
  return limitNames.map((name) => ({ name: displayNames[name], resource: name, value: limits[name] }));
}

export default {
  name: 'client-resources',
  summary: 'The resource limits of a client',
  endpoints: [
    defineEndpoint({
      id: 'listClientResources',
      method: 'GET',
      path,
      summary: 'The limits that apply to a client; -1 means no limit',
      basis: 'decided',
      permission: ['client.access'],
      client: false,
      query: pageQuery,
      answer: {
        status: 200,
        data: Type.Object({
          resources: Type.Array(
            defineModel('ClientResource', {
              name: Type.String(),
              resource: Type.Enum(limitNames),
              value: Type.Integer(),
            }),
          ),
        }),
      },
      find: (call) => findClient(call),
      do: (call, client) => listResult('resources', pageOf(describe(call, client), call.query)),
    }),
    defineEndpoint({
      id: 'setClientResources',
      method: 'PUT',
      path,
      summary: 'Sets limits, which apply from the next call; other limits are unchanged',
      basis: 'decided',
      missing: 'resources other than the five listed',
      permission: ['client.edit'],
      client: false,
      body: { resources: Type.Array(wanted) },
      find: (call) => findClient(call),
      act: (call, client) => setAll(call, client.id),
    }),
  ],
} satisfies Resource;
