import { describe, expect, it } from 'vitest';
import { SteppingClock } from '../clocks.ts';
import { dataOf, errorOf, make, pagesOf, peopleBench } from './people.ts';
import { type Answer, type Bench, bench, keys } from './service.ts';

const forbidden = [403, 'forbidden'];
const set = (given: Bench, name: string, value: number, id = 'bakery'): Promise<Answer> =>
  given.call('PUT', `/clients/${id}/resources`, { body: { resources: [{ name, value }] } });
const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status).sort();

describe("a client's resources", () => {
  it('are listed by display name with their current values, and are set by name, all or nothing', async () => {
    const given = await peopleBench();
    const names = ['API Calls per Day', 'API Calls per Second', 'Dashboards', 'Users', 'Private Links'];
    const listed = async () =>
      (await pagesOf(given, '/clients/bakery/resources', 'resources')) as { name: string; value: number }[];
    expect((await listed()).map(({ name, value }) => [name, value])).toEqual(
      names.map((name, i) => [name, [10_000, 5, -1, -1, -1][i]]),
    );
    const resources = [
      { name: 'api.requests.perDay', value: 77 },
      { name: 'company.seats', value: 4 },
    ];
    expect((await given.call('PUT', '/clients/bakery/resources', { body: { resources } })).body.data).toEqual({});
    expect((await listed()).map(({ value }) => value)).toEqual([77, 5, -1, 4, -1]);
    expect(await dataOf(given, '/clients/bakery')).toMatchObject({ seats: 4 });
    const half = [...resources.map((one) => ({ ...one, value: 1 })), { name: 'api.requests.perSecond', value: 0 }];
    expect((await given.call('PUT', '/clients/bakery/resources', { body: { resources: half } })).status).toBe(400);
    expect((await listed()).map(({ value }) => value)).toEqual([77, 5, -1, 4, -1]);
  });

  // A PHP client writes back the list that it has read, and uses the older name of the number of dashboards.
  it('can be written back as they were read, and by the older name of the number of dashboards', async () => {
    const given = await peopleBench();
    const path = '/clients/bakery/resources';
    const listed = async () => (await pagesOf(given, path, 'resources')) as { name: string; value: number }[];
    const resources = (await listed()).map((one) => ({ ...one, value: one.value + 3 }));
    expect((await given.call('PUT', path, { body: { resources } })).status).toBe(200);
    expect(await listed()).toEqual(resources);
    expect((await set(given, 'dashboard.tabs.total', 7)).status).toBe(200);
    expect((await listed()).find(({ name }) => name === 'Dashboards')).toMatchObject({ value: 7 });
    const features = (await dataOf(given, '/clients/bakery/features')).features as { display_name: string }[];
    const off = features.map(({ display_name: name }) => ({ name, enabled: name === 'SSO' }));
    expect((await given.call('PUT', '/clients/bakery/features', { body: { features: off } })).status).toBe(200);
    const after = (await dataOf(given, '/clients/bakery/features')).features as { name: string; enabled: boolean }[];
    expect(after.filter(({ enabled }) => enabled).map(({ name }) => name)).toEqual(['sso']);
  });

  it('limit the number of users to the number of seats', async () => {
    const given = await peopleBench();
    const add = (name: string): Promise<Answer> =>
      given.call('POST', '/users', { body: { email: `${name}@bakery.test`, password: 'x', client_id: 'bakery' } });
    await set(given, 'company.seats', 2);
    expect(statuses(await Promise.all(['a', 'b', 'c'].map(add)))).toEqual([201, 403, 403]);
    expect(errorOf(await add('d'))).toEqual(forbidden);
    await set(given, 'company.seats', 3);
    expect((await add('d')).status).toBe(201);
    await given.call('PUT', '/clients/bakery', { body: { seats: -1 } });
    expect((await add('e')).status).toBe(201);
    await set(given, 'company.seats', 0);
    expect(errorOf(await add('f'))).toEqual(forbidden);
    expect((await given.call('GET', '/profile', { key: keys.clientAdmin })).status).toBe(200);
  });

  it("change the daily limit of the client's own users, from the next call on", async () => {
    const given = await bench({ limits: true, clock: new SteppingClock('2026-06-01T12:00:00Z') });
    const call = (): Promise<Answer> => given.call('GET', '/profile', { key: keys.clientAdmin });
    await set(given, 'api.requests.perDay', 2);
    expect([(await call()).status, (await call()).status]).toEqual([200, 200]);
    const refused = await call();
    expect(errorOf(refused)).toEqual([429, 'daily_limit_reached']);
    await set(given, 'api.requests.perDay', 3);
    expect([(await call()).status, (await call()).status]).toEqual([200, 429]);
    const report = '/usage-overview/api-usage?start_date=0&end_date=4000000000&company_id=bakery';
    expect((await dataOf(given, report)).overview).toMatchObject([{ api_usage: '3', api_limit: '3' }]);
  });

  it("change the per-second limit of the client's own users, but not that of the company", async () => {
    const clock = new SteppingClock('2026-06-01T12:00:00Z');
    const given = await bench({ limits: true, clock });
    await set(given, 'api.requests.perSecond', 2);
    clock.advance(1000);
    const three = (path: string, key: string): Promise<Answer[]> =>
      Promise.all([1, 2, 3].map(() => given.call('GET', path, { key })));
    expect(statuses(await three('/users', keys.clientAdmin))).toEqual([200, 200, 429]);
    expect(statuses(await three('/users?client_id=bakery', keys.acmeAdmin))).toEqual([200, 200, 200]);
  });

  it('apply only to that client', async () => {
    const given = await peopleBench();
    const mill = await make(given, '/clients', { name: 'Mill' });
    await set(given, 'company.seats', 1, mill);
    expect(await dataOf(given, '/clients/bakery')).toMatchObject({ seats: -1 });
  });
});

describe("a client's features", () => {
  it("are all enabled until they're disabled", async () => {
    const given = await peopleBench();
    const path = '/clients/bakery/features';
    const features = (await pagesOf(given, path, 'features')) as { name: string; enabled: boolean }[];
    expect(features.map(({ name }) => name)).toEqual([
      'theming',
      'domain_cloaking',
      'published_dashboards',
      'downloadable_reports',
      'scheduled_emails',
      'sso',
      'embeds',
      'public_dashboards',
    ]);
    expect(features[0]).toEqual({ name: 'theming', display_name: 'Custom Theme', enabled: true });
    expect(features.every(({ enabled }) => enabled)).toBe(true);
    const body = {
      features: [
        { name: 'sso', enabled: false },
        { name: 'theming', enabled: false },
      ],
    };
    await given.call('PUT', path, { body });
    await given.call('PUT', path, { body: { features: [{ name: 'theming', enabled: true }] } });
    const after = (await dataOf(given, path)).features as { name: string; enabled: boolean }[];
    expect(after.filter(({ enabled }) => !enabled).map(({ name }) => name)).toEqual(['sso']);
  });
});

describe("a client's properties", () => {
  it('are set, kept, replaced and removed by name', async () => {
    const given = await peopleBench();
    const path = '/clients/bakery/properties';
    const put = (properties: object): Promise<Answer> => given.call('PUT', path, { body: { properties } });
    await put({ tier: 'gold', 'Ünï çødé': '名前', unset: null });
    await put({ tier: 'silver' });
    expect(await dataOf(given, path)).toEqual({ properties: { tier: 'silver', 'Ünï çødé': '名前' } });
    expect((await given.call('DELETE', `${path}?name=tier`)).status).toBe(200);
    expect((await given.call('DELETE', `${path}?name=tier`)).status).toBe(404);
    expect(await dataOf(given, path)).toEqual({ properties: { 'Ünï çødé': '名前' } });
    const mill = await make(given, '/clients', { name: 'Mill' });
    expect(await dataOf(given, `/clients/${mill}/properties`)).toEqual({ properties: {} });
  });
});

describe('limits on what a client creates', () => {
  const tab = (given: Bench, name = 'T'): Promise<Answer> =>
    given.call('POST', '/tabs', { key: keys.clientAdmin, body: { name } });
  const idOf = (answer: Answer): string => answer.body.meta.location!.split('/').at(-1)!;

  it('count imported dashboards towards the maximum number of dashboards', async () => {
    const given = await peopleBench();
    await set(given, 'dashboard.combined.total', 2);
    const first = await tab(given);
    expect(first.status).toBe(201);
    const own = await make(given, '/tabs', { name: 'Ours' });
    const bring = (): Promise<Answer> => given.call('POST', `/tabs/${own}/@/import`, { body: { client_id: 'bakery' } });
    expect((await bring()).status).toBe(201);
    expect(errorOf(await bring())).toEqual(forbidden);
    expect(errorOf(await tab(given))).toEqual(forbidden);
    expect(errorOf(await given.call('POST', '/tabs', { body: { name: 'T', client_id: 'bakery' } }))).toEqual(forbidden);
    expect((await given.call('DELETE', `/tabs/${idOf(first)}`, { key: keys.clientAdmin })).status).toBe(200);
    expect(statuses(await Promise.all([tab(given), tab(given)]))).toEqual([201, 403]);
    await set(given, 'dashboard.combined.total', -1);
    expect((await tab(given)).status).toBe(201);
    expect((await given.call('POST', '/tabs', { body: { name: 'Not limited' } })).status).toBe(201);
  });

  it('apply to private links, but not to public ones', async () => {
    const given = await peopleBench();
    const key = keys.clientAdmin;
    const path = `/dashboard-published-links/${idOf(await tab(given))}`;
    const publish = (isPublic: boolean): Promise<Answer> =>
      given.call('POST', path, { key, body: { name: 'L', isPublic } });
    await set(given, 'published.private.links', 1);
    const link = idOf(await publish(false));
    expect(errorOf(await publish(false))).toEqual(forbidden);
    const open = idOf(await publish(true));
    const change = (id: string, body: object): Promise<Answer> =>
      given.call('PUT', `/dashboard-published-links/${id}`, { key, body });
    expect(errorOf(await change(open, { isPublic: false }))).toEqual(forbidden);
    await set(given, 'published.private.links', 0);
    expect((await change(link, { name: 'Renamed' })).status).toBe(200);
    expect((await change(link, { isPublic: true })).status).toBe(200);
  });

  it('forbid published dashboards, or only public ones, if that feature is disabled', async () => {
    const given = await peopleBench();
    const key = keys.clientAdmin;
    const path = `/dashboard-published-links/${idOf(await tab(given))}`;
    const publish = async (isPublic: boolean): Promise<number> =>
      (await given.call('POST', path, { key, body: { name: 'L', isPublic } })).status;
    const turn = (name: string, enabled: boolean): Promise<Answer> =>
      given.call('PUT', '/clients/bakery/features', { body: { features: [{ name, enabled }] } });
    await turn('public_dashboards', false);
    expect([await publish(true), await publish(false)]).toEqual([403, 201]);
    await turn('published_dashboards', false);
    expect(await publish(false)).toBe(403);
    await turn('published_dashboards', true);
    await turn('public_dashboards', true);
    expect(await publish(true)).toBe(201);
  });
});
