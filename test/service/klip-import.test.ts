import { describe, expect, it } from 'vitest';
import { errorOf, lastOf, newKlip, people, schemaNaming, shareWithTeam, withPeople } from './klip-fixtures.ts';
import { type Answer, type Bench, bench, keys, type Sent } from './service.ts';

const importKlip = (given: Bench, id: string, sent: Sent = {}): Promise<Answer> =>
  given.call('POST', `/klips/${id}/@/import`, { body: { client_id: 'bakery' }, ...sent });
const asBakery = { key: keys.clientAdmin };
const listed = async (given: Bench, path: 'klips' | 'datasources'): Promise<{ id: string; name: string }[]> =>
  (await given.call('GET', `/${path}`, asBakery)).body.data[path] as { id: string; name: string }[];

describe('importing a Klip into a client account (4.6)', () => {
  it("copies the Klip and its data sources, and doesn't change the original", async () => {
    const given = await bench();
    const rest = await given.source({
      name: 'Rest',
      description: 'of it',
      format: 'csv',
      refresh_interval: 3600,
      properties: { endpoint_url: 'https://a.test', method: 'GET' },
    });
    await given.call('PUT', `/datasource-instances/${rest}/properties`, { body: { properties: { method: 'POST' } } });
    await given.call('PUT', `/datasources/${rest}/data`, { body: 'a\n1\n' });
    const pushed = await given.source({ name: 'Pushed', no_refresh: true });
    const schema = {
      ...schemaNaming(rest, pushed),
      components: [{ type: 'label', formulas: [`=SUM(@${pushed}/a)`], data: [rest], note: 'as it was' }],
    };
    const id = await newKlip(given, { name: 'Sales', description: 'of all', schema });
    await shareWithTeam(given, id);
    await given.call('POST', `/klips/${id}/annotations`, { body: { body: 'Ours' } });
    const answer = await importKlip(given, id);
    expect([answer.status, answer.body.data]).toEqual([201, { op_requested: 'import' }]);
    expect(answer.body.meta.location).toMatch(/^\/klips\/[0-9a-f]{32}$/);
    const copy = lastOf(answer);
    expect(copy).not.toBe(id);

    const detail = (await given.call('GET', `/klips/${copy}?full=true`, asBakery)).body.data;
    expect(detail).toMatchObject({ name: 'Sales', description: 'of all', company: 'Bakery', created_by: 'acme-admin' });
    expect(detail).toMatchObject({ share_rights: [], user_share_rights: [] });
    const sources = detail.datasources as { id: string; name: string }[];
    const copyOf = Object.fromEntries(sources.map((source) => [source.name, source.id]));
    expect(Object.keys(copyOf).toSorted()).toEqual(['Pushed', 'Rest']);
    expect((await given.call('GET', `/datasources/${copyOf.Rest}`, asBakery)).body.data).toMatchObject({
      company: 'Bakery',
      description: 'of it',
      format: 'csv',
      connector: 'simple_rest',
      refresh_interval: 3600,
    });
    expect((await given.call('GET', `/datasource-instances/${copyOf.Rest}/properties`, asBakery)).body.data).toEqual({
      properties: { endpoint_url: 'https://a.test', method: 'POST' },
    });
    expect((await given.call('GET', `/datasource-instances/${copyOf.Rest}/data`, asBakery)).status).toBe(404);
    expect((await given.call('GET', `/klips/${copy}/annotations`, asBakery)).body.meta.total).toBe(0);
    expect((await given.call('GET', `/klips/${copy}/schema`, asBakery)).body.data.schema).toEqual({
      ...schema,
      workspace: { datasources: [copyOf.Rest, copyOf.Pushed], dimensions: { w: 300 } },
      components: [{ type: 'label', formulas: [`=SUM(@${copyOf.Pushed}/a)`], data: [copyOf.Rest], note: 'as it was' }],
    });
    expect((await given.call('GET', `/klips?datasource_id=${copyOf.Rest}`, asBakery)).body.meta.total).toBe(1);

    expect((await given.call('GET', `/klips/${id}/schema`)).body.data.schema).toEqual(schema);
    expect((await given.call('GET', '/datasources')).body.meta.total).toBe(2);
    expect((await given.call('GET', `/datasources/${rest}/share-rights`, asBakery)).status).toBe(401);
  });

  it('gives the copied schema a new ID if it has one, and drops deleted sources', async () => {
    const given = await bench();
    const gone = await given.source();
    const id = await newKlip(given);
    const schema = (await given.call('GET', `/klips/${id}/schema`)).body.data.schema as object;
    await given.call('PUT', `/klips/${id}/schema`, { body: { ...schema, workspace: { datasources: [gone] } } });
    await given.call('DELETE', `/datasources/${gone}`);
    const copy = lastOf(await importKlip(given, id));
    const copied = (await given.call('GET', `/klips/${copy}/schema`, asBakery)).body.data.schema;
    expect(copied).toMatchObject({ id: copy, workspace: { datasources: [] } });
    expect(JSON.stringify(copied)).not.toContain(id);
    expect(await listed(given, 'datasources')).toEqual([]);
  });

  it("resolves a dynamic source for the client's users, not for the company's", async () => {
    const given = await bench();
    await given.call('PUT', '/users/acme-admin/properties', { body: { properties: { region: 'north' } } });
    await given.call('PUT', '/users/bakery-admin/properties', {
      ...asBakery,
      body: { properties: { region: 'south' } },
    });
    const answer = await given.call('POST', '/datasources', {
      body: { name: 'Mine', properties: { endpoint_url: 'https://x.test/{props.region}' } },
    });
    const id = await newKlip(given, { schema: schemaNaming(lastOf(answer)) });
    await importKlip(given, id);
    const instances = (await given.call('GET', '/datasource-instances', asBakery)).body.data.datasources;
    expect(instances).toHaveLength(1);
    const [{ id: instance }] = instances as [{ id: string }];
    expect((await given.call('GET', `/datasource-instances/${instance}/properties`, asBakery)).body.data).toEqual({
      properties: { endpoint_url: 'https://x.test/south' },
    });
  });

  it('creates a new copy each time, which can be changed and deleted independently', async () => {
    const given = await bench();
    const id = await newKlip(given, { schema: schemaNaming(await given.source()) });
    const copies = [lastOf(await importKlip(given, id)), lastOf(await importKlip(given, id))];
    expect(new Set([id, ...copies]).size).toBe(3);
    expect(await listed(given, 'datasources')).toHaveLength(2);
    await given.call('PUT', `/klips/${copies[0]}`, { ...asBakery, body: { name: 'Rolls' } });
    expect((await listed(given, 'klips')).map(({ name }) => name).toSorted()).toEqual(['Rolls', 'Sales']);
    await given.call('DELETE', `/klips/${id}`);
    expect(await listed(given, 'klips')).toHaveLength(2);
  });

  it('returns 400 without a client_id in the body, whatever the query contains', async () => {
    const given = await bench();
    const id = await newKlip(given);
    for (const body of [null, {}, { client_id: null }]) {
      expect(errorOf(await given.call('POST', `/klips/${id}/@/import?client_id=bakery`, { body }))).toEqual([
        400,
        'bad_request',
      ]);
    }
  });

  it('returns 404 for an unknown Klip or client', async () => {
    const given = await bench();
    const id = await newKlip(given);
    expect(errorOf(await importKlip(given, 'f'.repeat(32)))).toEqual([404, 'not_found']);
    for (const client_id of ['unknown', 'cafe', 'other', 'acme']) {
      expect(errorOf(await importKlip(given, id, { body: { client_id } }))).toEqual([404, 'not_found']);
    }
    expect(await listed(given, 'klips')).toEqual([]);
  });

  it("returns 401 for another company's Klip, and for a Klip that the caller has no access to", async () => {
    const given = await bench({ given: withPeople() });
    const theirs = await newKlip(given, {}, { key: keys.otherAdmin });
    expect(errorOf(await importKlip(given, theirs))).toEqual([401, 'permission_denied']);
    const clients = await newKlip(given, { client_id: 'bakery' });
    expect(errorOf(await importKlip(given, clients))).toEqual([401, 'permission_denied']);
    const ours = await newKlip(given);
    expect(errorOf(await importKlip(given, ours, { key: people.mo }))).toEqual([401, 'permission_denied']);
    expect(await listed(given, 'klips')).toHaveLength(1);
  });

  it("returns 403 for a Klip that isn't shared with one of the caller's groups, unless the caller administers Klips", async () => {
    const given = await bench({ given: withPeople() });
    const own = await newKlip(given, {}, { key: people.mo });
    expect(errorOf(await importKlip(given, own, { key: people.mo }))).toEqual([403, 'forbidden']);
    await shareWithTeam(given, own);
    expect((await importKlip(given, own, { key: people.mo })).status).toBe(201);
    const users = { groups: [], users: [{ user_id: 'acme-bo' }] };
    await given.call('PUT', `/klips/${own}/share-rights`, { body: users });
    expect(errorOf(await importKlip(given, own, { key: people.bo }))).toEqual([403, 'forbidden']);
    expect((await importKlip(given, await newKlip(given))).status).toBe(201);
  });

  it('requires klip.import and client.access', async () => {
    const given = await bench({ given: withPeople() });
    const id = await newKlip(given);
    const lacking = async (key: string): Promise<unknown> => {
      const answer = await importKlip(given, id, { key });
      return [...(errorOf(answer) as unknown[]), answer.body.meta.error_desc!.split(' ').at(-1)];
    };
    expect(await lacking(people.agent)).toEqual([401, 'permission_denied', 'klip.import']);
    expect(await lacking(keys.acmeEditor)).toEqual([401, 'permission_denied', 'client.access']);
  });

  it("doesn't reveal the properties of a source that the caller can't see", async () => {
    const given = await bench({ given: withPeople() });
    const secret = await given.source({ name: 'Secret', properties: { oauth_user_token: 'hidden' } });
    const id = await newKlip(given, { schema: schemaNaming(secret) });
    await shareWithTeam(given, id);
    const copy = lastOf(await importKlip(given, id, { key: people.mo }));
    const [source] = await listed(given, 'datasources');
    const seen = (path: string): Promise<Answer> => given.call('GET', `${path}?client_id=bakery`, { key: people.mo });
    expect((await seen(`/klips/${copy}`)).status).toBe(200);
    expect((await seen('/datasources')).body.meta.total).toBe(0);
    expect((await seen(`/datasource-instances/${source!.id}/properties`)).status).toBe(404);
    expect((await given.call('GET', `/datasources/${source!.id}`, asBakery)).body.data).toMatchObject({
      name: 'Secret',
      created_by: null,
    });
  });
});
