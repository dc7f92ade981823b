import { Type } from 'typebox';
import type { Fixtures } from '../../fixtures/fixtures.ts';
import { fixturesFrom } from '../../fixtures/read.ts';
import { type ControlEndpoint, defineControl } from '../endpoint.ts';
import { addFixtures, keepable, reset } from '../reset.ts';

const keep = Type.Array(Type.Enum(keepable), {
  default: [],
  'x-rule': `must be a list that contains only ${keepable.join(', ')}`,
});

/** The numbers of items that the fixtures contain, for the response. */
function counted({ companies }: Fixtures): object {
  const clients = companies.flatMap(({ clients = [] }) => clients);
  const accounts = [...companies, ...clients];
  const countOf = (kind: 'users' | 'datasources' | 'klips' | 'dashboards'): number =>
    accounts.reduce((sum, account) => sum + (account[kind]?.length ?? 0), 0);
  return {
    companies: companies.length,
    clients: clients.length,
    users: countOf('users'),
    datasources: countOf('datasources'),
    klips: countOf('klips'),
    dashboards: countOf('dashboards'),
  };
}

/** Resets and loads the service's data. */
export default [
  defineControl({
    method: 'POST',
    path: '/reset',
    summary: 'Resets everything: data, limits, queue, request log, faults, clock',
    body: { to: Type.Enum(['start', 'empty'] as const, { default: 'start' }), keep },
    do: async ({ context, body }) => {
      const key = await context.serially(() => reset(context, body));
      return { data: key === undefined ? {} : { first_key: key } };
    },
  }),
  defineControl({
    method: 'POST',
    path: '/fixtures',
    summary: 'Loads fixtures (YAML or JSON) in addition to the existing data or after a reset',
    query: { reset: Type.Boolean({ default: false, 'x-rule': 'must be true or false' }) },
    body: 'text',
    do: async ({ context, query, body }) => {
      const fixtures = fixturesFrom('fixtures', body);
      await context.serially(async () => {
        if (query.reset) await reset(context, { to: fixtures, keep: [] });
        else await addFixtures(context, fixtures);
      });
      return { data: { loaded: counted(fixtures) } };
    },
  }),
] satisfies readonly ControlEndpoint[];
