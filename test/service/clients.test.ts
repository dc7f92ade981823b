import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SteppingClock } from '../clocks.ts';
import { dataOf, errorOf, hostileNames, make, managerKey, pagesOf, peopleBench } from './people.ts';
import { type Answer, type Bench, bench, fixtures, keys, scratch } from './service.ts';

const forbidden = [403, 'forbidden'];
const bad = [400, 'bad_request'];
const day = 86_400_000;
const statusOf = async (given: Bench, id: string) => (await dataOf(given, `/clients/${id}`)).status;
const put = (given: Bench, id: string, body: object): Promise<Answer> => given.call('PUT', `/clients/${id}`, { body });
const act = (given: Bench, id: string, action: string): Promise<Answer> =>
  given.call('POST', `/clients/${id}/@/${action}`);
const onClock = async (): Promise<{ given: Bench; clock: SteppingClock }> => {
  const clock = new SteppingClock('2026-06-01T12:00:00Z');
  return { given: await bench({ clock }), clock };
};

describe('a client', () => {
  it('has the values that it was created with, in the list and in detail', async () => {
    const given = await peopleBench();
    const id = await make(given, '/clients', { name: 'Mill', description: 'grinds', seats: 3, external_id: 'crm-1' });
    const item = { id, name: 'Mill', description: 'grinds', seats: 3, external_id: 'crm-1', last_sign_in: null };
    expect(await dataOf(given, `/clients/${id}`)).toEqual({ ...item, status: 'trial', direct_billing: false });
    expect(await pagesOf(given, '/clients', 'clients')).toEqual([
      { id: 'bakery', name: 'Bakery', description: '', seats: -1, last_sign_in: null, status: 'active' },
      { ...item, status: 'trial' },
    ]);
    await put(given, id, { name: 'Windmill', seats: -1, description: null });
    expect(await dataOf(given, `/clients/${id}`)).toMatchObject({ name: 'Windmill', description: 'grinds', seats: -1 });
  });

  it('immediately has its own account, with roles and users who can sign in', async () => {
    const given = await peopleBench();
    const id = await make(given, '/clients', { name: 'Mill' });
    const { roles } = (await dataOf(given, `/roles?client_id=${id}`)) as { roles: { id: string; name: string }[] };
    expect(roles.map(({ name }) => name).sort()).toEqual(['Admin', 'Editor', 'View-Only']);
    const admin = roles.find(({ name }) => name === 'Admin')!.id;
    const body = { email: 'm@mill.test', password: 'x', roles: [admin], client_id: id };
    await make(given, '/users', body);
    const authorization = `Basic ${Buffer.from('m@mill.test:x').toString('base64')}`;
    const profile = await given.call('GET', '/profile', { key: null, headers: { authorization } });
    expect(profile.body.data).toMatchObject({ company: { id, name: 'Mill' } });
  });

  it('can be read and changed only with permission', async () => {
    const given = await peopleBench();
    for (const [method, path] of [
      ['GET', '/clients'],
      ['POST', '/clients'],
      ['PUT', '/clients/bakery'],
      ['DELETE', '/clients/bakery'],
      ['POST', '/clients/bakery/@/extend_trial'],
      ['PUT', '/clients/bakery/resources'],
      ['GET', '/clients/bakery/share-rights'],
      ['PUT', '/clients/bakery/share-rights'],
      ['DELETE', '/clients/bakery/share-rights/acme-team'],
      ['GET', '/clients/bakery/settings'],
      ['POST', '/clients/bakery/settings'],
    ] as const) {
      const answer = await given.call(method, path, {
        key: managerKey,
        body: { name: 'A', resources: [], groups: [] },
      });
      expect([path, errorOf(answer)]).toEqual([path, [401, 'permission_denied']]);
    }
  });

  it("of another company isn't found, and a company isn't a client", async () => {
    const given = await peopleBench();
    for (const id of ['cafe', 'other', 'acme', 'unknown']) {
      for (const path of ['', '/resources', '/features', '/properties', '/share-rights', '/settings']) {
        expect((await given.call('GET', `/clients/${id}${path}`)).status).toBe(404);
      }
      expect((await put(given, id, { name: 'Mine' })).status).toBe(404);
      expect((await given.call('DELETE', `/clients/${id}`)).status).toBe(404);
      expect((await act(given, id, 'extend_trial')).status).toBe(404);
      expect((await act(given, id, 'enable_direct_billing')).status).toBe(404);
    }
    expect((await given.call('GET', '/profile', { key: keys.otherAdmin })).status).toBe(200);
  });

  it('has no clients of its own', async () => {
    const given = await peopleBench();
    const answer = await given.call('POST', '/clients', { key: keys.clientAdmin, body: { name: 'Nested' } });
    expect(errorOf(answer)).toEqual(forbidden);
  });

  it('keeps names in any script unchanged', async () => {
    const given = await peopleBench();
    for (const name of hostileNames) {
      const id = await make(given, '/clients', { name });
      expect(await dataOf(given, `/clients/${id}`)).toMatchObject({ name });
    }
  });

  it('is deleted with its users, its sources and their data', async () => {
    const folder = await scratch();
    const given = await bench({ data: { folder } });
    const source = await given.source({ client_id: 'bakery' });
    await given.call('PUT', `/datasources/${source}/data?client_id=bakery`, { body: '[1]' });
    expect(await readdir(join(folder, 'documents'))).toHaveLength(1);
    expect((await given.call('DELETE', '/clients/bakery')).body.data).toEqual({});
    expect(await readdir(join(folder, 'documents'))).toHaveLength(0);
    expect((await given.call('GET', '/profile', { key: keys.clientAdmin })).status).toBe(401);
    expect((await given.call('GET', '/clients/bakery')).status).toBe(404);
    expect((await given.call('GET', `/datasources/${source}?client_id=bakery`)).status).toBe(404);
    expect(await dataOf(given, '/clients')).toEqual({ clients: [] });
  });

  // A connector of an automation vendor lists these operations of share rights, and one in PHP those of settings.
  it('is shared with groups of the company, all or nothing', async () => {
    const given = await peopleBench();
    const path = '/clients/bakery/share-rights';
    const rights = async () => (await dataOf(given, path)).share_rights;
    const share = (...groups: object[]) => given.call('PUT', path, { body: { groups } });
    const sales = await make(given, '/groups', { name: 'Sales' });
    const theirs = await make(given, '/groups', { name: 'Theirs', client_id: 'bakery' });
    for (const group_id of [theirs, 'other-team', 'unknown']) {
      expect(errorOf(await share({ group_id: sales }, { group_id }))).toEqual([404, 'not_found']);
    }
    expect(await rights()).toEqual([]);
    await share({ group_id: sales.toUpperCase(), can_manage: true });
    await share({ group_id: 'acme-team', can_manage: true });
    await share({ group_id: 'acme-team' });
    const both = [
      { group_id: sales, group_name: 'Sales', can_manage: true },
      { group_id: 'acme-team', group_name: 'Team', can_manage: false },
    ];
    expect(await rights()).toEqual(expect.arrayContaining(both));
    expect((await dataOf(given, '/clients/bakery?full=true')).share_rights).toEqual(await rights());
    expect((await given.call('DELETE', `${path}/acme-team`)).body.data).toEqual({});
    expect(errorOf(await given.call('DELETE', `${path}/acme-team`))).toEqual(forbidden);
    expect(errorOf(await given.call('DELETE', `${path}/unknown`))).toEqual([404, 'not_found']);
    await given.call('DELETE', `/groups/${sales}`);
    expect(await rights()).toEqual([]);
  });

  it('has settings of any name and type', async () => {
    const given = await peopleBench();
    const set = (body: object) => given.call('POST', '/clients/bakery/settings', { body });
    expect(await dataOf(given, '/clients/bakery/settings')).toEqual({});
    expect((await set({ 'brand.parent.enabled': true, constructor: 'x', list: ['a', null] })).body.data).toEqual({});
    await set({ constructor: { y: 1 }, list: null });
    expect(await dataOf(given, '/clients/bakery/settings')).toEqual({
      'brand.parent.enabled': true,
      constructor: { y: 1 },
      list: ['a', null],
    });
    expect((await given.call('POST', '/clients/bakery/settings', { body: '' })).status).toBe(200);
  });

  it('can be switched to direct billing repeatedly', async () => {
    const given = await peopleBench();
    for (let i = 0; i < 2; i++) expect((await act(given, 'bakery', 'enable_direct_billing')).status).toBe(200);
    expect(await dataOf(given, '/clients/bakery')).toMatchObject({ direct_billing: true });
  });
});

describe("a client's state", () => {
  it('never returns to setup', async () => {
    const { given } = await onClock();
    const id = await make(given, '/clients', { name: 'Mill', status: 'setup' });
    expect((await put(given, id, { status: 'setup' })).status).toBe(200);
    expect(await statusOf(given, id)).toBe('setup');
    for (const status of ['trial', 'active', 'grace', 'arrears', 'disabled', 'expired', 'active']) {
      expect((await put(given, id, { status })).status).toBe(200);
      expect(await statusOf(given, id)).toBe(status);
      expect(errorOf(await put(given, id, { status: 'setup', name: 'Renamed' }))).toEqual(bad);
    }
    expect(await dataOf(given, `/clients/${id}`)).toMatchObject({ name: 'Mill', status: 'active' });
  });

  it("changes from trial to expired fourteen days after the client's creation", async () => {
    const { given, clock } = await onClock();
    const id = await make(given, '/clients', { name: 'Mill' });
    clock.advance(14 * day - 1);
    expect(await statusOf(given, id)).toBe('trial');
    clock.advance(1);
    expect(await statusOf(given, id)).toBe('expired');
    expect((await dataOf(given, '/clients')).clients).toContainEqual(
      expect.objectContaining({ id, status: 'expired' }),
    );
    expect(errorOf(await put(given, id, { status: 'trial' }))).toEqual(bad);
    expect((await put(given, id, { status: 'active' })).status).toBe(200);
    expect(await statusOf(given, id)).toBe('active');
  });

  it('stays `trial` for fourteen more days if the trial is extended, before or after its end, but only once', async () => {
    const { given, clock } = await onClock();
    const early = await make(given, '/clients', { name: 'Early' });
    const late = await make(given, '/clients', { name: 'Late' });
    expect((await act(given, early, 'extend_trial')).status).toBe(200);
    expect(errorOf(await act(given, early, 'extend_trial'))).toEqual(forbidden);
    clock.advance(20 * day);
    expect([await statusOf(given, early), await statusOf(given, late)]).toEqual(['trial', 'expired']);
    expect((await act(given, late, 'extend_trial')).status).toBe(200);
    expect(await statusOf(given, late)).toBe('trial');
    clock.advance(8 * day);
    expect([await statusOf(given, early), await statusOf(given, late)]).toEqual(['expired', 'expired']);
    expect(errorOf(await act(given, late, 'extend_trial'))).toEqual(forbidden);
  });

  it("doesn't allow an extension if the client isn't on trial, or if the trial ended too long ago", async () => {
    const { given, clock } = await onClock();
    const id = await make(given, '/clients', { name: 'Mill' });
    expect(errorOf(await act(given, 'bakery', 'extend_trial'))).toEqual(forbidden);
    clock.advance(28 * day);
    expect(errorOf(await act(given, id, 'extend_trial'))).toEqual(forbidden);
  });

  it("locks out only the client's own users while it's disabled or expired", async () => {
    const { given } = await onClock();
    const enter = (): Promise<Answer> => given.call('GET', '/profile', { key: keys.clientAdmin });
    for (const status of ['disabled', 'expired']) {
      await put(given, 'bakery', { status });
      expect(errorOf(await enter())).toEqual([401, 'auth_fail']);
      expect((await given.call('GET', '/users?client_id=bakery')).status).toBe(200);
    }
    for (const status of ['grace', 'arrears', 'trial', 'active']) {
      await put(given, 'bakery', { status });
      expect((await enter()).status).toBe(200);
    }
  });

  it('makes each attempt count as a failed login while it locks users out, even with valid credentials', async () => {
    const given = await bench({ limits: true, clock: new SteppingClock('2026-06-01T12:00:00Z') });
    await put(given, 'bakery', { status: 'disabled' });
    const answers: Answer[] = [];
    for (let i = 0; i < 21; i++) answers.push(await given.call('GET', '/profile', { key: keys.clientAdmin }));
    expect(answers.map(({ status }) => status)).toEqual([...Array(20).fill(401), 429]);
  });

  it("isn't reset by the fixtures after a restart", async () => {
    const folder = await scratch();
    const before = await bench({ data: { folder } });
    await put(before, 'bakery', { status: 'grace', seats: 4 });
    const resources = [{ name: 'api.requests.perDay', value: 77 }];
    await before.call('PUT', '/clients/bakery/resources', { body: { resources } });
    await before.call('PUT', '/clients/bakery/properties', { body: { properties: { tier: 'gold' } } });
    await before.close();
    const after = await bench({ data: { folder } });
    expect(await dataOf(after, '/clients/bakery')).toMatchObject({ status: 'grace', seats: 4 });
    expect((await dataOf(after, '/clients/bakery/resources')).resources).toContainEqual(
      expect.objectContaining({ resource: 'api.requests.perDay', value: 77 }),
    );
    expect(await dataOf(after, '/clients/bakery/properties')).toEqual({ properties: { tier: 'gold' } });
    await after.close();
    const [acme, ...others] = fixtures.companies;
    const clients = [{ ...acme!.clients[0]!, status: 'arrears' }];
    const told = await bench({ data: { folder }, given: { companies: [{ ...acme!, clients }, ...others] } });
    expect(await dataOf(told, '/clients/bakery')).toMatchObject({ status: 'arrears', seats: 4 });
  });
});
