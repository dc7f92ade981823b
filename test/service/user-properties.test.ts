import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dataOf, errorOf, make, peopleBench } from './people.ts';
import { type Bench, bench, scratch } from './service.ts';

const path = (user: string): string => `/users/${user}/properties`;
const set = (given: Bench, user: string, properties: object) => given.call('PUT', path(user), { body: { properties } });
const held = async (given: Bench, user: string) => (await dataOf(given, path(user))).properties;

describe('user properties (section 4.11)', () => {
  it("are defined by name for all users in the account, and are empty until they're set", async () => {
    const given = await peopleBench();
    expect(await held(given, 'acme-editor')).toEqual({});
    expect((await set(given, 'acme-editor', { region: 'north', tier: '1' })).body.data).toEqual({});
    expect(await held(given, 'acme-editor')).toEqual({ region: 'north', tier: '1' });
    expect(await held(given, 'acme-viewer')).toEqual({ region: '', tier: '' });
    await set(given, 'acme-viewer', { region: 'south' });
    await set(given, 'acme-editor', { tier: '2', region: null });
    expect(await held(given, 'acme-editor')).toEqual({ region: 'north', tier: '2' });
    expect(await held(given, 'acme-viewer')).toEqual({ region: 'south', tier: '' });
    const id = await make(given, '/users', { email: 'new@acme.test' });
    expect(await held(given, id)).toEqual({ region: '', tier: '' });
  });

  it('remain if the user who first set them is deleted, and are deleted for all users at once', async () => {
    const given = await peopleBench();
    await set(given, 'acme-editor', { region: 'north', tier: '1' });
    await given.call('DELETE', '/users/acme-editor');
    expect(await held(given, 'acme-viewer')).toEqual({ region: '', tier: '' });
    await set(given, 'acme-admin', { region: 'south' });
    expect((await given.call('DELETE', `${path('acme-viewer')}?name=region`)).status).toBe(200);
    expect(await held(given, 'acme-admin')).toEqual({ tier: '' });
    expect(errorOf(await given.call('DELETE', `${path('acme-viewer')}?name=region`))).toEqual([404, 'not_found']);
    await set(given, 'acme-viewer', { region: 'west' });
    expect(await held(given, 'acme-admin')).toEqual({ region: '', tier: '' });
  });

  it("belong to one account: other companies and clients don't have them and can't see them", async () => {
    const given = await peopleBench();
    await set(given, 'acme-editor', { region: 'north' });
    expect((await dataOf(given, '/users/bakery-admin/properties?client_id=bakery')).properties).toEqual({});
    for (const user of ['other-admin', 'bakery-admin', 'unknown']) {
      expect((await set(given, user, { region: 'mine' })).status).toBe(404);
      expect((await given.call('GET', path(user))).status).toBe(404);
      expect((await given.call('DELETE', `${path(user)}?name=region`)).status).toBe(404);
    }
    const body = { properties: { tier: 'gold' }, client_id: 'bakery' };
    expect((await given.call('PUT', path('bakery-admin'), { body })).status).toBe(200);
    expect(await held(given, 'acme-editor')).toEqual({ region: 'north' });
  });

  it('can have any name and value, and are set all or nothing', async () => {
    const given = await peopleBench();
    const properties = { 'Ünï çødé': '名前', "x'; --": '👩‍👩‍👧', toString: 'a\u0000b', ' a.b ': '' };
    await set(given, 'acme-editor', properties);
    expect(await held(given, 'acme-editor')).toEqual(properties);
    expect((await set(given, 'acme-editor', { fine: 'x', bad: 7 })).status).toBe(400);
    expect((await set(given, 'acme-editor', { fine: 'x', ' ': 'y' })).status).toBe(400);
    expect(await held(given, 'acme-editor')).toEqual(properties);
    await given.call('PUT', path('acme-editor'), { body: '{"properties": {"__proto__": "x", "constructor": "y"}}' });
    expect(await held(given, 'acme-editor')).toEqual(properties);
    expect((await given.call('DELETE', `${path('acme-editor')}?name=__proto__`)).status).toBe(404);
  });
});

describe('a dynamic data source', () => {
  const address = 'https://x.test/{props.region}';
  const create = (given: Bench): Promise<string> => given.source({ properties: { endpoint_url: address } });

  /** The regions of the source's instances, each with its instance's ID. */
  async function regions(given: Bench, source: string): Promise<Record<string, string>> {
    const { datasources } = await dataOf(given, `/datasource-instances?datasource_id=${source}&limit=100`);
    const pairs = (datasources as { id: string }[]).map(async ({ id }) => {
      const { properties } = await dataOf(given, `/datasource-instances/${id}/properties`);
      return [(properties as { endpoint_url: string }).endpoint_url.split('/').at(-1), id];
    });
    return Object.fromEntries(await Promise.all(pairs)) as Record<string, string>;
  }

  it('always has one instance for each distinct set of values', async () => {
    const given = await peopleBench();
    const source = await create(given);
    const names = async () => Object.keys(await regions(given, source)).sort();
    expect(await names()).toEqual(['']);
    await set(given, 'acme-editor', { region: 'north', unrelated: 'x' });
    expect(await names()).toEqual(['', 'north']);
    await set(given, 'acme-viewer', { region: 'north' });
    expect(await names()).toEqual(['', 'north']);
    await set(given, 'acme-viewer', { region: 'south' });
    expect(await names()).toEqual(['', 'north', 'south']);
    await given.call('DELETE', '/users/acme-viewer');
    expect(await names()).toEqual(['', 'north']);
    for (const { id } of (await dataOf(given, '/users')).users as { id: string }[]) {
      await set(given, id, { region: 'all' });
    }
    expect(await names()).toEqual(['all']);
    await make(given, '/users', { email: 'new@acme.test' });
    expect(await names()).toEqual(['', 'all']);
    await given.call('DELETE', `${path('acme-admin')}?name=region`);
    expect(await names()).toEqual(['']);
  });

  it('keeps the instance and data of values that a user still has, and deletes all other instances', async () => {
    const folder = await scratch();
    const given = await bench({ data: { folder } });
    const documents = async () => (await readdir(join(folder, 'documents'))).length;
    const source = await create(given);
    await set(given, 'acme-editor', { region: 'north' });
    await set(given, 'acme-viewer', { region: 'north' });
    const { north } = await regions(given, source);
    await given.call('PUT', `/datasource-instances/${north}/data`, { body: '["north"]' });
    await set(given, 'acme-viewer', { region: 'south' });
    expect((await given.call('GET', `/datasource-instances/${north}/data?raw=true`)).text).toBe('["north"]');
    expect(await documents()).toBe(1);
    await set(given, 'acme-editor', { region: 'south' });
    expect((await given.call('GET', `/datasource-instances/${north}/data`)).status).toBe(404);
    expect(await documents()).toBe(0);
  });

  it('works with names and values in any script', async () => {
    const given = await peopleBench();
    for (const [name, value] of [
      ['Ünï çødé', '名前'],
      ["x'; --", '👩‍👩‍👧'],
      ['a\u0000b', 'c\u0000d'],
      ['quote"d\\', 'e"f\\'],
    ] as const) {
      const source = await given.source({ properties: { endpoint_url: `https://x.test/{props.${name}}` } });
      await set(given, 'acme-editor', { [name]: value });
      expect(Object.keys(await regions(given, source)).sort()).toEqual(['', value]);
    }
  });

  it("ignores another account's users", async () => {
    const given = await peopleBench();
    const source = await create(given);
    const body = { properties: { region: 'east' }, client_id: 'bakery' };
    await given.call('PUT', path('bakery-admin'), { body });
    expect(Object.keys(await regions(given, source))).toEqual(['']);
  });

  it('gets an instance for a user that new fixtures add', async () => {
    const folder = await scratch();
    const first = {
      companies: [
        {
          id: 'c',
          name: 'C',
          plan: 'grow',
          users: [{ id: 'a', email: 'a@c.test', role: 'Admin', api_keys: ['aa'.repeat(20)] }],
        },
      ],
    };
    const before = await bench({ data: { folder }, given: first });
    const source = await create(before);
    await set(before, 'a', { region: 'north' });
    expect(Object.keys(await regions(before, source))).toEqual(['north']);
    await before.close();
    const [company] = first.companies;
    const second = { companies: [{ ...company!, users: [...company!.users, { email: 'b@c.test', role: 'Editor' }] }] };
    const after = await bench({ data: { folder }, given: second });
    expect(Object.keys(await regions(after, source)).sort()).toEqual(['', 'north']);
  });
});
