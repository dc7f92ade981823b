import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Answer, type Bench, bench, keys, scratch } from './service.ts';

const setRegion = (given: Bench, user: string, region: string): Promise<Answer> =>
  given.call('PUT', `/users/${user}/properties`, { body: { properties: { region } } });

const instancesOf = async (given: Bench, id: string): Promise<Record<string, unknown>[]> =>
  (await given.call('GET', `/datasource-instances?datasource_id=${id}`)).body.data.datasources as [];

const propertiesOf = async (given: Bench, path: string): Promise<unknown> =>
  (await given.call('GET', `${path}/properties`)).body.data.properties;

/** What the instances of a source request, sorted by value. */
async function addressesOf(given: Bench, id: string): Promise<string[]> {
  const all = await Promise.all(
    (await instancesOf(given, id)).map((one) => propertiesOf(given, `/datasource-instances/${one.id}`)),
  );
  return all.map((properties) => (properties as { endpoint_url: string }).endpoint_url).sort();
}

const change = (given: Bench, id: string, properties: object): Promise<Answer> =>
  given.call('PUT', `/datasources/${id}/properties`, { body: { properties } });

/** A source that has an instance for each of two regions and whose data is in a folder. */
async function dynamic(): Promise<{ given: Bench; id: string; documents: () => Promise<string[]> }> {
  const folder = await scratch();
  const given = await bench({ data: { folder } });
  for (const user of ['acme-admin', 'acme-editor', 'acme-reporter', 'acme-nobody']) await setRegion(given, user, 'n');
  await setRegion(given, 'acme-viewer', 's');
  const id = await given.source({ properties: { endpoint_url: 'http://x.test/{props.region}', kept: 'k' } });
  for (const instance of await instancesOf(given, id)) {
    await given.call('PUT', `/datasource-instances/${instance.id}/data`, { body: '[1]' });
  }
  return { given, id, documents: () => readdir(join(folder, 'documents')) };
}

/** Gives users of Acme their own role. */
async function giveRole(given: Bench, permissions: string[], users: string[]): Promise<void> {
  const { body } = await given.call('POST', '/roles', { body: { name: 'Own', permissions } });
  const id = body.meta.location!.split('/').at(-1)!;
  for (const user of users) await given.call('PUT', `/users/${user}/roles/${id}`);
}

describe("a data source's properties", () => {
  it("are shared with its only instance if it isn't dynamic", async () => {
    const given = await bench();
    const id = await given.source({ properties: { endpoint_url: 'http://a.test', other: { deep: [1] } } });
    await change(given, id, { endpoint_url: 'http://b.test', none: null, 'žlutý 🐎': true });
    const now = { endpoint_url: 'http://b.test', other: { deep: [1] }, 'žlutý 🐎': true };
    for (const path of [`/datasources/${id}`, `/datasource-instances/${id}`]) {
      expect(await propertiesOf(given, path)).toEqual(now);
    }
    await given.call('PUT', `/datasource-instances/${id}/properties`, { body: { properties: { other: 2 } } });
    expect(await propertiesOf(given, `/datasources/${id}`)).toEqual({ ...now, other: 2 });
    await given.call('DELETE', `/datasources/${id}/properties?name=${encodeURIComponent('žlutý 🐎')}`);
    expect(await propertiesOf(given, `/datasource-instances/${id}`)).toEqual({
      endpoint_url: 'http://b.test',
      other: 2,
    });
    expect((await given.call('DELETE', `/datasources/${id}/properties?name=gone`)).status).toBe(404);
  });

  it("apply to every instance of a dynamic source with the instance's own values, and don't delete data", async () => {
    const { given, id, documents } = await dynamic();
    const before = (await instancesOf(given, id)).map((one) => one.id);
    expect(await propertiesOf(given, `/datasources/${id}`)).toEqual({
      endpoint_url: 'http://x.test/{props.region}',
      kept: 'k',
    });
    await change(given, id, { endpoint_url: 'http://y.test/{props.region}?all' });
    expect(await addressesOf(given, id)).toEqual(['http://y.test/n?all', 'http://y.test/s?all']);
    expect((await instancesOf(given, id)).map((one) => one.id)).toEqual(before);
    expect(await documents()).toHaveLength(2);
    await given.call('DELETE', `/datasources/${id}/properties?name=kept`);
    expect(await propertiesOf(given, `/datasource-instances/${before[0]}`)).not.toHaveProperty('kept');
    await setRegion(given, 'acme-editor', 'w');
    expect(await addressesOf(given, id)).toEqual(['http://y.test/n?all', 'http://y.test/s?all', 'http://y.test/w?all']);
  });

  it('cause all instances to be recreated without data if they now refer to other user properties', async () => {
    const { given, id, documents } = await dynamic();
    await given.call('PUT', '/users/acme-viewer/properties', { body: { properties: { tier: 'n' } } });
    await change(given, id, { endpoint_url: 'http://x.test/{props.tier}' });
    expect(await addressesOf(given, id)).toEqual(['http://x.test/', 'http://x.test/n']);
    expect(await documents()).toEqual([]);
  });

  it('make a source dynamic when the first reference is added, and static when the last one is removed', async () => {
    const { given } = await dynamic();
    const id = await given.source({ properties: { endpoint_url: 'http://x.test/' } });
    const isDynamic = async (): Promise<unknown> =>
      (await given.call('GET', `/datasources/${id}`)).body.data.is_dynamic;
    await change(given, id, { endpoint_url: 'http://x.test/{props.region}' });
    expect([await isDynamic(), await addressesOf(given, id)]).toEqual([true, ['http://x.test/n', 'http://x.test/s']]);
    expect((await given.call('GET', `/datasource-instances/${id}`)).status).toBe(404);
    await given.call('DELETE', `/datasources/${id}/properties?name=endpoint_url`);
    expect([await isDynamic(), (await instancesOf(given, id)).map((one) => one.id)]).toEqual([false, [id]]);
    expect(await propertiesOf(given, `/datasources/${id}`)).toEqual({});
  });

  it('can be changed by users who can edit the source, and read by users who can see it', async () => {
    const given = await bench();
    await giveRole(given, ['datasource.edit', 'dashboard.library'], ['acme-editor']);
    const id = await given.source({ properties: { a: '1' } });
    await given.call('PUT', `/datasources/${id}/share-rights`, {
      body: { groups: [], users: [{ user_id: 'acme-editor' }] },
    });
    const sent = { key: keys.acmeEditor, body: { properties: { a: '2' } } };
    expect((await given.call('PUT', `/datasources/${id}/properties`, sent)).status).toBe(403);
    expect((await given.call('GET', `/datasources/${id}/properties`, { key: keys.acmeEditor })).body.data).toEqual({
      properties: { a: '1' },
    });
    expect((await given.call('GET', `/datasources/${id}/properties`, { key: keys.acmeViewer })).status).toBe(404);
  });
});

describe("a data source's full form", () => {
  it("includes its properties, and the users and groups that it's shared with", async () => {
    const given = await bench();
    const id = await given.source({ properties: { a: '1' } });
    await given.call('PUT', `/datasources/${id}/share-rights`, {
      body: { groups: [{ group_id: 'acme-team', can_edit: true }], users: [{ user_id: 'acme-editor' }] },
    });
    const plain = (await given.call('GET', `/datasources/${id}?full=false`)).body.data;
    expect((await given.call('GET', `/datasources/${id}?full=true`)).body.data).toEqual({
      ...plain,
      properties: { a: '1' },
      share_rights: [{ group_id: 'acme-team', group_name: 'Team', can_edit: true }],
      user_share_rights: [{ user_id: 'acme-editor', first_name: 'Ed', last_name: 'It', can_edit: false }],
    });
  });
});

describe('importing a data source', () => {
  it('gives a client a copy with the properties and without the data', async () => {
    const given = await bench();
    const id = await given.source({ format: 'csv', properties: { a: '1' }, refresh_interval: 3600 });
    await given.call('PUT', `/datasources/${id}/data`, { body: 'a\n1\n' });
    const { body } = await given.call('POST', `/datasources/${id}/@/import`, { body: { client_id: 'bakery' } });
    expect(body.data).toEqual({ op_requested: 'import' });
    const path = body.meta.location!;
    expect(path).toMatch(/^\/datasources\/[0-9a-f]{32}$/);
    expect((await given.call('GET', path)).status).toBe(404);
    const copy = (await given.call('GET', `${path}?full=true`, { key: keys.clientAdmin })).body.data;
    expect(copy).toMatchObject({
      company: 'Bakery',
      format: 'csv',
      refresh_interval: 3600,
      date_last_refresh: copy.date_created,
      properties: { a: '1' },
      share_rights: [],
    });
  });

  it('requires access to the source through a group, unless the user administers sources', async () => {
    const given = await bench();
    const users = ['acme-viewer', 'acme-editor'];
    await giveRole(given, ['datasource.import', 'client.access', 'dashboard.library'], users);
    const id = await given.source();
    const give = async (key: string): Promise<number> =>
      (await given.call('POST', `/datasources/${id}/@/import`, { key, body: { client_id: 'bakery' } })).status;
    expect(await give(keys.acmeEditor)).toBe(401);
    await given.call('PUT', `/datasources/${id}/share-rights`, {
      body: { groups: [{ group_id: 'acme-team' }], users: [{ user_id: 'acme-editor' }] },
    });
    expect([await give(keys.acmeEditor), await give(keys.acmeViewer)]).toEqual([403, 201]);
    expect(await give(keys.otherAdmin)).toBe(404);
    const foreign = { body: { client_id: 'cafe' } };
    expect((await given.call('POST', `/datasources/${id}/@/import`, foreign)).status).toBe(404);
  });
});

describe("deleting a data source's instances", () => {
  it('deletes their data, and recreates the instances that the source still needs without data', async () => {
    const { given, id, documents } = await dynamic();
    const before = (await instancesOf(given, id)).map((one) => one.id);
    const answer = await given.call('POST', `/datasources/${id}/@/delete_instances`);
    expect(answer.body.data).toEqual({ op_requested: 'delete_instances' });
    expect(await documents()).toEqual([]);
    const after = await instancesOf(given, id);
    expect(after).toMatchObject([{ data_size: 0 }, { data_size: 0 }]);
    for (const one of after) expect(before).not.toContain(one.id);
    expect(await addressesOf(given, id)).toEqual(['http://x.test/n', 'http://x.test/s']);
  });

  it('keeps instances whose data is newer than last_access, which can be set in the query or the body', async () => {
    const { given, id, documents } = await dynamic();
    for (const sent of [{ query: '?last_access=0' }, { query: '', body: { last_access: 0 } }]) {
      const { query, ...rest } = sent;
      await given.call('POST', `/datasources/${id}/@/delete_instances${query}`, rest);
      expect(await documents()).toHaveLength(2);
    }
    await given.call('POST', `/datasources/${id}/@/delete_instances`, { body: { last_access: 4_000_000_000 } });
    expect(await documents()).toEqual([]);
  });

  it("keeps a static source's instance with its ID and properties", async () => {
    const given = await bench();
    const id = await given.source({ properties: { a: '1' } });
    await given.call('PUT', `/datasources/${id}/data`, { body: '[1]' });
    await given.call('POST', `/datasources/${id}/@/delete_instances`);
    expect((await given.call('GET', `/datasource-instances/${id}/data`)).status).toBe(404);
    expect(await propertiesOf(given, `/datasource-instances/${id}`)).toEqual({ a: '1' });
    expect((await given.call('PUT', `/datasources/${id}/data`, { body: '[2]' })).status).toBe(200);
  });
});
