import { describe, expect, it } from 'vitest';
import { fixturesFrom } from '../../src/service/fixtures/read.ts';
import { dataOf } from './people.ts';
import { type Bench, bench, keys, scratch } from './service.ts';

const company = {
  id: 'acme',
  name: 'Acme',
  plan: 'grow',
  users: [
    { id: 'ann', email: 'ann@acme.test', role: 'Admin', api_keys: [keys.acmeAdmin], properties: { region: 'north' } },
    { id: 'ed', email: 'Ed@acme.test', role: 'Editor', api_keys: [keys.acmeEditor], properties: { region: 'south' } },
    { id: 'vi', email: 'vi@acme.test', role: 'View-Only', api_keys: [keys.acmeViewer] },
  ],
  groups: [{ id: 'team', name: 'Team', members: ['vi@acme.test'] }],
  datasources: [
    {
      id: 'orders',
      name: 'Orders',
      description: 'from the shop',
      connector: 'simple_rest',
      format: 'csv',
      refresh_interval: 3600,
      properties: { endpoint_url: 'https://shop.test/{props.region}', nested: { a: [1, true, null] } },
      owner: 'ed@acme.test',
      share: [{ group: 'Team', can_edit: true }, { user: 'ann@acme.test' }],
    },
    { id: 'pushed', name: 'Pushed', no_refresh: true, disabled: true },
  ],
  klips: [
    { id: 'sales', name: 'Sales', datasources: ['Orders', 'Pushed'], share: [{ group: 'Team' }] },
    { id: 'text', name: 'Text' },
  ],
  dashboards: [
    {
      id: 'board',
      name: 'Board',
      owner: 'ed@acme.test',
      klips: [{ klip: 'Sales' }, { klip: 'Text', region: 2, position: 3 }],
      share: [{ group: 'Team' }],
    },
  ],
  clients: [
    {
      id: 'bakery',
      name: 'Bakery',
      description: 'bread',
      external_id: 'crm-7',
      resources: { 'api.requests.perDay': 77, 'company.seats': 1, 'dashboard.combined.total': -1 },
      features: { sso: false },
      properties: { tier: 'gold' },
      users: [{ email: 'b@bakery.test', role: 'Admin', api_keys: [keys.clientAdmin] }],
      datasources: [{ id: 'flour', name: 'Flour' }],
    },
  ],
};
const given = { companies: [company] };

interface World {
  readonly viewer: unknown;
  readonly source: Record<string, unknown>;
  readonly everything: unknown;
}

async function worldOf(bench: Bench): Promise<World> {
  const paths = [
    '/datasources/orders?full=true',
    '/datasource-instances?datasource_id=orders',
    '/datasources/pushed',
    '/klips/sales?full=true',
    '/klips/sales/schema',
    '/tabs/board?full=true',
    '/tabs/board/layout',
    '/users/ed/properties',
    '/users/vi/properties',
    '/clients/bakery',
    '/clients/bakery/resources',
    '/clients/bakery/features',
    '/clients/bakery/properties',
    '/datasources?client_id=bakery',
  ];
  const everything: unknown[] = [];
  for (const path of paths) everything.push([path, await dataOf(bench, path)]);
  const { body } = await bench.call('GET', '/datasources', { key: keys.acmeViewer });
  return { viewer: body.data.datasources, source: await dataOf(bench, '/datasources/orders?full=true'), everything };
}

describe('fixtures with assets', () => {
  it('create sources, Klips and dashboards the same way as HTTP calls', async () => {
    const world = await bench({ given });
    expect(await dataOf(world, '/datasources/orders?full=true')).toMatchObject({
      name: 'Orders',
      description: 'from the shop',
      connector: 'simple_rest',
      format: 'csv',
      refresh_interval: 3600,
      is_dynamic: true,
      created_by: 'ed',
      properties: { endpoint_url: 'https://shop.test/{props.region}', nested: { a: [1, true, null] } },
      share_rights: [{ group_id: 'team', can_edit: true }],
      user_share_rights: [{ user_id: 'ann', can_edit: false }],
    });
    const instances = await world.call('GET', '/datasource-instances?datasource_id=orders');
    expect(instances.body.meta.total).toBe(3);
    expect(await dataOf(world, '/datasources/pushed')).toMatchObject({
      disabled: true,
      created_by: null,
      format: 'json',
    });
    expect(await dataOf(world, '/klips/sales?full=true')).toMatchObject({
      datasources: [{ id: 'orders' }, { id: 'pushed' }],
      share_rights: [{ group_id: 'team' }],
    });
    expect(await dataOf(world, '/klips/text/schema')).toMatchObject({ schema: { title: 'Default' } });
    const layout = (await dataOf(world, '/tabs/board/layout')) as unknown as {
      state: { desktop: { itemConfigs: { index: number[] }[] } };
    };
    expect(layout.state.desktop.itemConfigs.map(({ index }) => index)).toEqual([
      [0, 0],
      [1, 3],
    ]);
    expect((await world.call('GET', '/tabs', { key: keys.acmeViewer })).body.data.tabs).toMatchObject([
      { id: 'board' },
    ]);
  });

  it("can contain user properties as well as clients' resources and states", async () => {
    const world = await bench({ given });
    expect(await dataOf(world, '/users/ed/properties')).toEqual({ properties: { region: 'south' } });
    expect(await dataOf(world, '/users/vi/properties')).toEqual({ properties: { region: '' } });
    expect(await dataOf(world, '/clients/bakery')).toMatchObject({
      description: 'bread',
      external_id: 'crm-7',
      seats: 1,
    });
    expect((await dataOf(world, '/clients/bakery/resources')).resources).toEqual(
      expect.arrayContaining([expect.objectContaining({ resource: 'api.requests.perDay', value: 77 })]),
    );
    expect((await dataOf(world, '/clients/bakery/features')).features).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'sso', enabled: false })]),
    );
    expect(await dataOf(world, '/clients/bakery/properties')).toEqual({ properties: { tier: 'gold' } });
    const full = await world.call('POST', '/users', { body: { email: 'c@bakery.test', client_id: 'bakery' } });
    expect(full.status).toBe(403);
  });

  it("change nothing if they're loaded again, and only the edits apply if they were edited", async () => {
    const folder = await scratch();
    const first = await bench({ given, data: { folder }, control: {} });
    await first.control('PUT', '/clock', { now: '2026-06-01T00:00:00Z', frozen: true });
    const before = await worldOf(first);
    await first.control('POST', '/fixtures', given);
    expect(await worldOf(first)).toEqual(before);
    const source = { ...company.datasources[0]!, name: 'Orders', description: 'new', refresh_interval: 60 };
    const changed = { ...company, datasources: [{ ...source, properties: { extra: 'x' } }, company.datasources[1]!] };
    expect(await first.control('POST', '/fixtures', { companies: [changed] })).toMatchObject({ status: 200 });
    const after = await worldOf(first);
    expect(after.source).toMatchObject({
      description: 'new',
      refresh_interval: 60,
      properties: { extra: 'x', endpoint_url: 'https://shop.test/{props.region}' },
    });
    await first.close();
    const again = await bench({ given: { companies: [changed] }, data: { folder } });
    expect((await worldOf(again)).source).toEqual(after.source);
  });

  it.each([
    [{ datasources: [{ ...company.datasources[1]!, format: 'xml' }] }, 'another connector or format'],
    [{ datasources: [{ id: 'flour', name: 'Mine' }], klips: [], dashboards: [] }, 'belongs to another account'],
  ])('that conflict with existing data are rejected: %j', async (change, said) => {
    const world = await bench({ given, control: {} });
    const unfit = { id: 'acme', name: 'Acme', plan: 'grow', ...change };
    const { status, data } = await world.control('POST', '/fixtures', { companies: [unfit] });
    expect([status, (data.error as { message: string }).message]).toEqual([400, expect.stringContaining(said)]);
  });

  it('that are invalid are reported, each error with its line and without property values', async () => {
    const text = `companies:
  - name: Acme
    plan: grow
    users:
      - {email: a@a.test, role: Admin, properties: {region: 5}}
    datasources:
      - {name: A, connector: rest, format: yaml, refresh_interval: 61, no_refresh: maybe}
      - {name: A, owner: b@a.test, share: [{group: G}, {can_edit: true}, {user: a@a.test, group: G}]}
      - {nam: B, properties: [1]}
    klips: [{name: K, datasources: [Z]}]
    dashboards:
      - {name: D, klips: [{klip: L}, {region: 0}]}
    clients:
      - {name: C, resources: {company.seats: -2, seats: 1, api.requests.perDay: 0}, features: {sso: 1}}
`;
    const faultsOf = (source: string): string[] => {
      try {
        fixturesFrom('f.yaml', source);
        return [];
      } catch (thrown) {
        const { cause } = thrown as {
          cause: { errors: { where: { line: number }; message: string; seen?: string }[] };
        };
        return cause.errors.map(
          ({ where, message, seen }) => `${where.line}: ${message}${seen === undefined ? '' : ` (${seen})`}`,
        );
      }
    };
    expect(faultsOf(text)).toEqual([
      '5: companies.1.users.1.properties.region is not valid',
      '7: companies.1.datasources.1.connector is not valid ("rest")',
      '7: companies.1.datasources.1.format is not valid ("yaml")',
      '7: companies.1.datasources.1.refresh_interval is not valid (61)',
      '7: companies.1.datasources.1.no_refresh is not valid ("maybe")',
      '9: unknown key nam',
      '9: companies.1.datasources.3.properties is not valid',
      '9: companies.1.datasources.3 has no name',
      '12: companies.1.dashboards.1.klips.2.region is not valid (0)',
      '12: companies.1.dashboards.1.klips.2 has no klip',
      '14: companies.1.clients.1.resources.company.seats is not valid (-2)',
      '14: unknown key seats',
      '14: companies.1.clients.1.resources.api.requests.perDay is not valid (0)',
      '14: companies.1.clients.1.features.sso is not valid (1)',
    ]);
    const references = `companies:
  - name: Acme
    plan: grow
    users: [{email: a@a.test, role: Admin}]
    datasources:
      - {name: A}
      - {name: A, owner: b@a.test, share: [{group: G}, {can_edit: true}, {user: A@a.test}]}
    klips: [{name: K, datasources: [Z]}]
    dashboards: [{name: D, klips: [{klip: L}]}]
`;
    expect(faultsOf(references)).toEqual([
      '7: datasource in companies.1 A appears twice',
      '7: this account has no user b@a.test',
      '7: this account has no group G',
      '7: a group or a user is required',
      '8: this account has no data source Z',
      '9: this account has no klip L',
    ]);
  });
});
