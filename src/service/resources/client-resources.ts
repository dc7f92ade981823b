import { Type } from 'typebox';
import { findClient } from '../client-rules.ts';
import { type ApiCall, defineEndpoint, type Resource } from '../endpoint.ts';
import { badRequest } from '../http/api-error.ts';
import { listResult, pageOf, pageQuery } from '../http/page.ts';
import { defineModel } from '../model.ts';
import { type LimitName, limitNames, limitsOf, setLimit } from '../store/client-limits.ts';
import type { ClientAccount } from '../store/clients.ts';

const path = '/clients/{id}/resources';

const displayNames: Readonly<Record<LimitName, string>> = {
  'api.requests.perDay': 'API requests per day',
  'api.requests.perSecond': 'API requests per second',
  'dashboard.combined.total': 'Dashboards',
  'company.seats': 'Seats',
  'published.private.links': 'Private published links',
};

const wanted = defineModel('ResourceLimit', {
  name: Type.Enum(limitNames),
  value: Type.Integer({ maximum: Number.MAX_SAFE_INTEGER, 'x-rule': 'must be a whole number' }),
});

/** Throws if the value isn't allowed for this limit. Only asset limits can be unlimited; API rate limits can't. */
function checkValue({ name, value }: { name: LimitName; value: number }, index: number): void {
  const least = name.startsWith('api.') ? 1 : -1;
  if (value >= least) return;
  const rule = least === 1 ? 'must be 1 or more' : 'must be 0 or more, or -1 for no limit';
  throw badRequest(`Field "resources.${index}.value" ${rule}`);
}

function setAll(
  { context, body }: ApiCall<unknown, { resources: { name: LimitName; value: number }[] }>,
  id: string,
): void {
  for (const [index, one] of body.resources.entries()) checkValue(one, index);
  context.db.durably(() => {
    for (const { name, value } of body.resources) setLimit(context.db, id, name, value);
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
