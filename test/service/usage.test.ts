import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startService } from '../../src/service/service.ts';
import { SteppingClock } from '../clocks.ts';
import { type Answer, Bench, bench, fixtures, keys, type Sent, scratch } from './service.ts';

const noon = '2026-03-02T17:00:00Z';
const hour = 3_600_000;
const day = 24 * hour;
const unix = (text: string): number => Date.parse(text) / 1000;

interface Range {
  readonly from?: string;
  readonly to?: string;
  readonly company?: string;
}

function reportPath(
  name: string,
  { from = '2026-01-01T12:00Z', to = '2026-12-31T12:00Z', company }: Range = {},
): string {
  const path = name.startsWith('/') ? name : `/usage-overview/${name}`;
  return `${path}?start_date=${unix(from)}&end_date=${unix(to)}${company === undefined ? '' : `&company_id=${company}`}`;
}

const report = (given: Bench, name: string, range?: Range, sent?: Sent): Promise<Answer> =>
  given.call('GET', reportPath(name, range), sent);

const rows = async (given: Bench, name: string, range?: Range): Promise<Record<string, string>[]> =>
  (await report(given, name, range)).body.data.overview as Record<string, string>[];

const password = Buffer.from('admin@acme.test:correct horse').toString('base64');
const signIn = (given: Bench): Promise<Answer> =>
  given.call('GET', '/profile', { key: null, headers: { authorization: `Basic ${password}` } });

const uploaded = async (given: Bench, body: string): Promise<void> => {
  const id = await given.source();
  await given.call('PUT', `/datasources/${id}/data`, { body });
};

describe('account-stats (4.1, 2.14)', () => {
  it('shows the current day so far, with every value as a string', async () => {
    const given = await bench({ clock: new SteppingClock(noon) });
    await uploaded(given, '[1,2,3]');
    await given.call('POST', '/klips', { body: { name: 'K' } });
    await given.call('POST', '/tabs', { body: { name: 'T' } });
    expect(await rows(given, 'account-stats')).toEqual([
      {
        calendar_date: '2026-03-02',
        last_login_calendar_date: '',
        no_of_seats: '-1',
        no_of_users: '5',
        no_of_klips: '1',
        no_of_data_sources: '1',
        no_of_scheduled_emails: '0',
        no_of_dashboards: '1',
        no_of_klip_templates: '0',
        no_of_embeds: '0',
        data_storage_size: '7',
      },
    ]);
  });

  it("keeps each day's values as they were at midnight in New York", async () => {
    const clock = new SteppingClock('2026-03-03T04:59:00Z');
    const given = await bench({ clock });
    await uploaded(given, '[1]');
    clock.advance(2 * 60_000);
    await uploaded(given, '[1,2]');
    const seen = await rows(given, 'account-stats');
    expect(seen.map((one) => [one.calendar_date, one.no_of_data_sources, one.data_storage_size])).toEqual([
      ['2026-03-02', '1', '3'],
      ['2026-03-03', '2', '8'],
    ]);
  });

  it("fills in days on which the service wasn't running", async () => {
    const folder = await scratch();
    const clock = new SteppingClock(noon);
    const first = await bench({ data: { folder }, clock });
    await first.source();
    await first.close();
    clock.advance(3 * day);
    const second = new Bench(await startService({ data: { folder }, limits: false, clock }));
    onTestFinished(() => second.close());
    await second.source();
    const seen = await rows(second, 'account-stats');
    expect(seen.map((one) => [one.calendar_date, one.no_of_data_sources])).toEqual([
      ['2026-03-02', '1'],
      ['2026-03-03', '1'],
      ['2026-03-04', '1'],
      ['2026-03-05', '2'],
    ]);
  });

  it('returns the days from start_date to end_date, both inclusive, in pages', async () => {
    const clock = new SteppingClock(noon);
    const given = await bench({ clock });
    for (let i = 0; i < 5; i++) {
      clock.advance(day);
      await given.call('GET', '/profile');
    }
    const range = { from: '2026-03-03T12:00Z', to: '2026-03-05T12:00Z' };
    const dates = (await rows(given, 'account-stats', range)).map((one) => one.calendar_date);
    expect(dates).toEqual(['2026-03-03', '2026-03-04', '2026-03-05']);
    const { body } = await given.call('GET', `${reportPath('account-stats', range)}&offset=1&limit=1`);
    expect(body.meta).toMatchObject({ count: 1, total: 3 });
    expect(body.data.overview).toMatchObject([{ calendar_date: '2026-03-04' }]);
  });
});

describe('data-source-stats', () => {
  it('counts each source and each of its instances once, today and on earlier days', async () => {
    const clock = new SteppingClock(noon);
    const given = await bench({ clock });
    for (const [user, region] of [
      ['acme-editor', 'north'],
      ['acme-viewer', 'south'],
    ])
      await given.call('PUT', `/users/${user}/properties`, { body: { properties: { region } } });
    await given.source({ properties: { endpoint_url: 'https://x.test/{props.region}' } });
    await given.source();
    clock.advance(day);
    const seen = await rows(given, 'data-source-stats');
    expect(seen.map((one) => [one.calendar_date, one.no_of_datasources, one.no_of_instances])).toEqual([
      ['2026-03-02', '2', '4'],
      ['2026-03-03', '2', '4'],
    ]);
  });

  it('counts sources and instances by connector, and has service names only for gallery connectors', async () => {
    const clock = new SteppingClock(noon);
    const given = await bench({ clock });
    await given.source();
    await given.source({ connector: 'google_drive' });
    clock.advance(day);
    await given.source();
    const record = {
      company_name: 'Acme',
      calendar_date: '2026-03-02',
      service_name: 'Not Available',
      connector_name: 'Not Available',
      type_name: 'simple_rest',
      no_of_datasources: '1',
      no_of_instances: '1',
    };
    const drive = { service_name: 'Google Drive', connector_name: 'Google Drive', type_name: 'google_drive' };
    const today = { calendar_date: '2026-03-03' };
    expect(await rows(given, 'data-source-stats')).toEqual([
      { ...record, ...drive },
      record,
      { ...record, ...drive, ...today },
      { ...record, ...today, no_of_datasources: '2', no_of_instances: '2' },
    ]);
  });
});

describe('account-sign-in-trend', () => {
  it('counts users who sign in with a password, not programs with a key, over several periods', async () => {
    const clock = new SteppingClock(noon);
    const given = await bench({ given: fixtures, clock });
    await signIn(given);
    clock.advance(2 * day);
    const [first, , third] = await rows(given, 'account-sign-in-trend');
    expect(first).toEqual({
      calendar_date: '2026-03-02',
      last_login_calendar_date: '2026-03-02',
      days_since_login: '0',
      no_of_seats: '-1',
      no_of_users: '5',
      '24h_login_percentage': '20',
      '7d_login_percentage': '20',
      '14d_login_percentage': '20',
      '30d_login_percentage': '20',
      '90d_login_percentage': '20',
    });
    expect(third).toMatchObject({
      calendar_date: '2026-03-04',
      days_since_login: '2',
      '24h_login_percentage': '0',
      '7d_login_percentage': '20',
    });
  });

  it('has no dates until a user has signed in, even after a wrong password', async () => {
    const given = await bench({ given: fixtures, clock: new SteppingClock(noon) });
    const wrong = Buffer.from('admin@acme.test:battery staple').toString('base64');
    await given.call('GET', '/profile', { key: null, headers: { authorization: `Basic ${wrong}` } });
    expect(await rows(given, 'account-sign-in-trend')).toMatchObject([
      { last_login_calendar_date: '', days_since_login: '', '90d_login_percentage': '0' },
    ]);
  });

  it('agrees with the last login in the profile', async () => {
    const given = await bench({ given: fixtures, clock: new SteppingClock(noon) });
    await signIn(given);
    expect((await given.call('GET', '/profile')).body.data.date_last_login).toBe('2026-03-02T17:00:00Z');
  });

  it('includes the login of the current call', async () => {
    const clock = new SteppingClock(noon);
    const given = await bench({ given: fixtures, clock });
    await signIn(given);
    clock.advance(1_000);
    const own = Buffer.from('admin@acme.test:correct horse').toString('base64');
    const { data } = (await given.call('GET', '/profile', { key: null, headers: { authorization: `Basic ${own}` } }))
      .body;
    expect(data.date_last_login).toBe('2026-03-02T17:00:01Z');
  });

  it("keeps the client's last login if the user who signed in is deleted", async () => {
    const clock = new SteppingClock(noon);
    const given = await bench({ clock });
    const sent = { key: keys.clientAdmin, body: { email: 'm@bakery.test', password: 'x' } };
    const { location } = (await given.call('POST', '/users', sent)).body.meta;
    const authorization = `Basic ${Buffer.from('m@bakery.test:x').toString('base64')}`;
    await given.call('GET', '/profile', { key: null, headers: { authorization } });
    clock.advance(1_000);
    await given.call('GET', '/profile', { key: keys.clientAdmin });
    const lastSignIn = async (): Promise<unknown> =>
      (await given.call('GET', '/clients/bakery')).body.data.last_sign_in;
    expect(await lastSignIn()).toBe('2026-03-02T17:00:00Z');
    await given.call('DELETE', location!, { key: keys.clientAdmin });
    expect(await lastSignIn()).toBe('2026-03-02T17:00:00Z');
    const { users } = (await given.call('GET', '/users', { key: keys.clientAdmin })).body.data;
    expect(users).toMatchObject([{ id: 'bakery-admin', date_last_login: null }]);
  });
});

describe('the reports about client accounts', () => {
  const create = async (given: Bench, name: string): Promise<string> =>
    (await given.call('POST', '/clients', { body: { name, status: 'active' } })).body.meta.location!.split('/').at(-1)!;

  it('show added and canceled clients per day, and each cancellation only once', async () => {
    const clock = new SteppingClock(noon);
    const given = await bench({ clock });
    const [one, two] = [await create(given, 'One'), await create(given, 'Two')];
    clock.advance(day);
    await given.call('PUT', `/clients/${one}`, { body: { status: 'disabled' } });
    clock.advance(day);
    for (const id of [one, two]) await given.call('DELETE', `/clients/${id}`);
    expect(await rows(given, 'daily-client-trend')).toEqual([
      { calendar_date: '2026-03-02', added: '3', cancelled: '0' },
      { calendar_date: '2026-03-03', added: '0', cancelled: '1' },
      { calendar_date: '2026-03-04', added: '0', cancelled: '1' },
    ]);
  });

  it('show each month with its changes and its final numbers', async () => {
    const clock = new SteppingClock(noon);
    const given = await bench({ clock });
    const one = await create(given, 'One');
    clock.advance(31 * day);
    await given.call('PUT', `/clients/${one}`, { body: { status: 'arrears' } });
    const none = { setup: '0', trial: '0', disabled: '0', expired: '0', grace: '0' };
    expect(await rows(given, 'monthly-client-aggregate')).toEqual([
      { calendar_date: '2026-03-01', adds: '2', cancels: '0', total: '2', ...none, active: '2', arrears: '0' },
      { calendar_date: '2026-04-01', adds: '0', cancels: '0', total: '2', ...none, active: '1', arrears: '1' },
    ]);
  });
});

describe('published-links', () => {
  it("has a record for each hour in which a link was viewed, with the link's state at that time", async () => {
    const clock = new SteppingClock(noon);
    const given = await bench({ clock });
    const tab = (await given.call('POST', '/tabs', { body: { name: 'Sales' } })).body.meta.location!.split('/').at(-1);
    const link = (
      await given.call('POST', `/dashboard-published-links/${tab}`, { body: { name: 'All', isPublic: true } })
    ).body.data as { id: string; dashboard_url: string };
    const look = async (): Promise<void> => {
      const { statusCode, body } = await request(`http://${link.dashboard_url}`);
      await body.dump();
      expect(statusCode).toBe(200);
    };
    await look();
    await look();
    clock.advance(hour);
    await look();
    const record = {
      calendar_date: '2026-03-02',
      name: 'Sales',
      is_public: 'Yes',
      is_disabled: 'No',
      has_password: 'No',
    };
    expect(await rows(given, 'published-links')).toEqual([
      { ...record, time: '12:00:00', view_count: '2' },
      { ...record, time: '13:00:00', view_count: '1' },
    ]);
    expect((await report(given, '/usage-details/published-link-views')).body.data.published_link_views).toEqual([
      { published_link_id: link.id, dashboard_name: 'Sales', views: 3 },
    ]);
  });
});

describe('the daily call count', () => {
  it('is returned as a number in usage-details, with the number of remaining calls', async () => {
    const given = await bench({ clock: new SteppingClock(noon) });
    await given.call('GET', '/profile');
    expect((await report(given, '/usage-details/api-calls')).body.data.api_calls).toEqual([
      { date: '2026-03-02', calls: 2, limit: 10_000, remaining: 9_998 },
    ]);
  });
});

describe('every report', () => {
  const open = ['account-stats', 'data-source-stats', 'api-usage', 'published-links'];
  const gated = ['daily-client-trend', 'monthly-client-aggregate', 'account-sign-in-trend'];
  const details = ['/usage-details/api-calls', '/usage-details/published-link-views'];

  it.each([...open, ...gated, ...details])(
    "%s covers only the caller's company or one of its clients",
    async (name) => {
      const given = await bench();
      const status = async (company: string, sent?: Sent): Promise<number> =>
        (await report(given, name, { company }, sent)).status;
      expect(await status('acme')).toBe(200);
      expect(await status('bakery')).toBe(200);
      expect([await status('other'), await status('cafe')]).toEqual([403, 403]);
      expect(await status('nobody')).toBe(404);
      expect(await status('acme', { key: keys.acmeReporter })).toBe(403);
      expect((await report(given, name, {}, { key: keys.acmeReporter })).status).toBe(200);
      expect((await report(given, name, {}, { key: keys.acmeEditor })).status).toBe(403);
    },
  );

  it.each([
    [open, 200],
    [gated, 403],
    [details, 200],
  ] as const)('%s returns %i to a company below the Grow plan', async (names, status) => {
    const given = await bench();
    for (const name of names) expect((await report(given, name, {}, { key: keys.otherAdmin })).status).toBe(status);
  });

  it('for a client covers only that client', async () => {
    const given = await bench({ clock: new SteppingClock(noon) });
    await given.call('POST', '/datasources?client_id=bakery', { body: { name: 'Theirs' } });
    const counts = async (company: string): Promise<unknown[]> =>
      (await rows(given, 'account-stats', { company })).map((one) => [one.no_of_users, one.no_of_data_sources]);
    expect([await counts('bakery'), await counts('acme')]).toEqual([[['1', '1']], [['5', '0']]]);
  });
});
