import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { LoggedRequest } from '../../src/service/http/request-log.ts';
import { startService } from '../../src/service/service.ts';
import { Bench, bench, fixtures, keys, scratch, until } from './service.ts';

const token = 'a token of the test'.replaceAll(' ', '-');
const controlled = (options: Parameters<typeof bench>[0] = {}): Promise<Bench> =>
  bench({ control: { token }, ...options });

const requestsOf = async (given: Bench, query = ''): Promise<LoggedRequest[]> =>
  (await given.control('GET', `/requests${query}`)).data.requests as LoggedRequest[];

const errorOf = (data: Record<string, unknown>): Record<string, unknown> => data.error as Record<string, unknown>;

describe('the control interface', () => {
  it('is off by default', async () => {
    const given = await bench();
    expect(given.service.control).toBe(undefined);
  });

  it('rejects requests without its token', async () => {
    const given = await controlled();
    const { url } = given.service.control!;
    for (const authorization of ['', token, `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`]) {
      for (const path of ['/', '/reset', '/clock', '/nothing']) {
        const answer = await request(url + path, { headers: { authorization } });
        expect([path, answer.statusCode]).toEqual([path, 401]);
        expect(await answer.body.json()).toMatchObject({ error: { code: 'auth_fail' } });
      }
    }
  });

  it('creates a random token if none is given, and rejects a weak one', async () => {
    const given = await bench({ control: {} });
    expect(given.service.control!.token).toMatch(/^[0-9a-f]{48}$/);
    expect((await given.control('GET', '/clock')).status).toBe(200);
    const refused = startService({ data: 'memory', control: { token: 'short' } });
    await expect(refused).rejects.toMatchObject({ code: 'SERVICE_CONTROL_TOKEN', family: 'config' });
  });

  it("listens only on loopback, even if the service doesn't", async () => {
    const given = await controlled({ host: '0.0.0.0' });
    expect(new URL(given.service.control!.url).hostname).toBe('127.0.0.1');
  });

  it("can't be reached through the service's port", async () => {
    const given = await controlled();
    for (const path of ['/reset', '/clock', '/faults', '/requests', '/fixtures']) {
      const answer = await request(given.origin + path, { headers: { authorization: `Bearer ${token}` } });
      expect([path, answer.statusCode]).toEqual([path, 401]);
      await answer.body.dump();
      expect((await given.call('GET', `/api/1.0${path}`)).status).toBe(404);
    }
  });

  it('lists its commands, and suggests the closest valid name for an unknown field', async () => {
    const given = await controlled();
    const { endpoints } = (await given.control('GET', '/')).data as { endpoints: { path: string }[] };
    expect(endpoints.map(({ path }) => path)).toEqual(expect.arrayContaining(['/reset', '/clock', '/requests/wait']));
    const { status, data } = await given.control('POST', '/faults', { frist: 1, answer: { status: 500 } });
    expect([status, errorOf(data).message]).toEqual([400, 'Unknown field "frist"; did you mean "first"?']);
    expect((await given.control('GET', '/requests?metod=GET')).status).toBe(400);
    expect((await given.control('GET', '/nothing')).status).toBe(404);
    expect((await given.control('QUERY', '/requests')).status).toBe(404);
    expect((await given.control('POST', '/reset', '{')).status).toBe(400);
  });

  it('reports that its port is in use, and leaves nothing running', async () => {
    const given = await controlled();
    const port = Number(new URL(given.service.control!.url).port);
    const second = startService({ data: 'memory', control: { port } });
    await expect(second).rejects.toMatchObject({ code: 'SERVICE_CONTROL_ADDRESS' });
  });
});

describe('a reset', () => {
  it('restores the current fixtures, and discards everything that was created, counted, limited or set', async () => {
    const folder = await scratch();
    const file = join(folder, 'fixtures.json');
    await writeFile(file, JSON.stringify(fixtures));
    const given = new Bench(await startService({ data: 'memory', fixtures: file, control: {} }));
    onTestFinished(() => given.close());
    const id = await given.source();
    await given.call('PUT', `/datasources/${id}/data`, { body: '[1]' });
    for (let i = 0; i < 5; i++) await given.call('GET', '/profile');
    expect((await given.call('GET', '/profile')).status).toBe(429);
    await given.control('POST', '/faults', { path: '/klips', answer: { status: 500 } });
    await given.control('PUT', '/clock', { now: '2030-01-01T00:00:00Z', frozen: true });
    const [acme, other] = fixtures.companies;
    await writeFile(file, JSON.stringify({ companies: [{ ...acme!, name: 'Renamed' }, other] }));
    expect(await given.control('POST', '/reset')).toEqual({ status: 200, data: {} });
    expect(await requestsOf(given)).toEqual([]);
    expect((await given.call('GET', '/profile')).body.data).toMatchObject({ company: { name: 'Renamed' } });
    expect((await given.call('GET', '/datasources')).body.data).toEqual({ datasources: [] });
    expect((await given.call('GET', '/klips')).status).toBe(200);
    expect((await given.control('GET', '/clock')).data).toMatchObject({ frozen: false, ahead_ms: 0 });
    const usage = await given.call('GET', '/usage-overview/api-usage?start_date=0&end_date=4000000000');
    expect(usage.body.data.overview).toMatchObject([{ api_usage: '4' }]);
  });

  it('keeps the parts that the request lists in `keep`', async () => {
    const given = await controlled();
    await given.call('GET', '/profile');
    await given.control('POST', '/faults', { id: 'mine', path: '/klips', answer: { status: 500 } });
    await given.control('PUT', '/clock', { now: '2030-01-01T00:00:00Z', frozen: true });
    await given.control('POST', '/reset', { keep: ['clock', 'faults', 'requests'] });
    expect((await given.control('GET', '/clock')).data.now).toBe('2030-01-01T00:00:00.000Z');
    expect((await given.call('GET', '/klips')).status).toBe(500);
    expect(await requestsOf(given)).toHaveLength(2);
    expect((await given.call('GET', '/profile')).body.data.date_created).toBe('2030-01-01T00:00:00Z');
  });

  it('to empty leaves no accounts, and a reset without fixtures restores the first admin and key', async () => {
    const given = new Bench(await startService({ data: 'memory', control: {} }));
    onTestFinished(() => given.close());
    const key = given.service.firstKey!;
    await given.control('POST', '/reset', { to: 'empty' });
    expect((await given.call('GET', '/profile', { key })).status).toBe(401);
    expect((await given.control('POST', '/reset')).data).toEqual({ first_key: key });
    expect((await given.call('GET', '/profile', { key })).body.data).toMatchObject({ company: { name: 'Local' } });
  });

  it('with invalid fixtures changes nothing and reports where the error is', async () => {
    const file = join(await scratch(), 'fixtures.json');
    await writeFile(file, JSON.stringify(fixtures));
    const given = new Bench(await startService({ data: 'memory', fixtures: file, limits: false, control: {} }));
    onTestFinished(() => given.close());
    await given.source();
    await writeFile(file, 'companies:\n  - {name: A, plan: huge}\n');
    const { status, data } = await given.control('POST', '/reset');
    expect([status, errorOf(data).file, errorOf(data).line]).toEqual([400, file, 2]);
    expect((await given.call('GET', '/datasources')).body.meta.total).toBe(1);
  });

  it('of a data folder deletes the documents, and a restart on the folder finds the same state', async () => {
    const folder = await scratch();
    const given = await controlled({ data: { folder } });
    const id = await given.source();
    await given.call('PUT', `/datasources/${id}/data`, { body: '[1]' });
    await given.control('POST', '/reset');
    const kept = await given.source({ name: 'Kept' });
    await given.close();
    const again = await bench({ data: { folder } });
    expect((await again.call('GET', '/datasources')).body.data.datasources).toMatchObject([{ id: kept }]);
  });

  it('cancels a running refresh and empties the queue, and later refreshes work', async () => {
    let [pulls, isHanging] = [0, true];
    const pull = async function* ({ signal }: { signal: AbortSignal }) {
      pulls += 1;
      if (isHanging) await wait(60_000, undefined, { signal });
      yield Buffer.from('[1]');
    };
    const given = await controlled({ pull });
    const id = await given.source();
    await given.call('POST', `/datasource-instances/${id}/@/refresh`);
    await until(() => pulls === 1);
    isHanging = false;
    await given.control('POST', '/reset');
    const next = await given.source();
    await given.call('POST', `/datasource-instances/${next}/@/refresh`);
    await until(async () => (await given.call('GET', `/datasource-instances/${next}`)).body.data.data_size === 3);
    expect(pulls).toBe(2);
  });

  it('cancels an endless upload, and waiting requests get responses from the new state', async () => {
    const given = await controlled();
    const id = await given.source();
    const never = async function* () {
      yield Buffer.from('[1,');
      await wait(60_000, undefined, { ref: false });
    };
    const upload = given.call('PUT', `/datasources/${id}/data`, { body: never() as never }).catch(() => 'cut off');
    await until(async () => (await requestsOf(given, '?method=PUT')).length === 1);
    const reset = given.control('POST', '/reset');
    expect(await upload).toBe('cut off');
    const waiting = given.call('GET', `/datasources/${id}`);
    expect([(await reset).status, (await waiting).status]).toEqual([200, 404]);
  });

  it('leaves the service consistent, even with many resets at once under load', async () => {
    const given = await controlled();
    const load = Array.from({ length: 60 }, () => given.source());
    const resets = Array.from({ length: 5 }, () => given.control('POST', '/reset'));
    expect((await Promise.all(resets)).map(({ status }) => status)).toEqual(Array(5).fill(200));
    await Promise.allSettled(load);
    expect(given.service.requestLog.entries.filter(({ status }) => status === 500)).toEqual([]);
    expect((await given.call('GET', '/profile')).status).toBe(200);
  });
});

describe('fixtures sent to the control interface', () => {
  const extra =
    'companies:\n  - name: Extra\n    plan: team\n    users:\n      - {email: e@e.test, role: Admin, api_keys: [eeeeeeee]}\n';

  it("are added to existing data, even as JSON, and change nothing if they're sent again", async () => {
    const given = await controlled();
    const id = await given.source();
    const loaded = { companies: 1, clients: 0, users: 1, datasources: 0, klips: 0, dashboards: 0 };
    expect(await given.control('POST', '/fixtures', extra)).toEqual({ status: 200, data: { loaded } });
    expect((await given.control('POST', '/fixtures', extra)).status).toBe(200);
    expect((await given.call('GET', '/profile', { key: 'eeeeeeee' })).body.data).toMatchObject({
      company: { name: 'Extra' },
    });
    expect((await given.call('GET', `/datasources/${id}`)).status).toBe(200);
    expect((await given.control('POST', '/fixtures', fixtures)).status).toBe(200);
  });

  it("replace existing data if they're sent with `reset=true`", async () => {
    const given = await controlled();
    expect((await given.control('POST', '/fixtures?reset=true', extra)).status).toBe(200);
    expect((await given.call('GET', '/profile')).status).toBe(401);
    expect((await given.call('GET', '/profile', { key: 'eeeeeeee' })).status).toBe(200);
    expect(await requestsOf(given)).toHaveLength(2);
  });

  it("change nothing if they're invalid, and each error is reported with its line, and each conflict", async () => {
    const given = await controlled();
    const { status, data } = await given.control(
      'POST',
      '/fixtures?reset=true',
      'companies:\n  - nam: A\n    plan: huge\n',
    );
    expect(status).toBe(400);
    expect(errorOf(data)).toMatchObject({
      code: 'SERVICE_FIXTURES',
      problems: [
        { file: 'fixtures', line: 2, message: 'unknown key nam', next: 'write name' },
        { line: 3, message: 'companies.1.plan is not valid' },
        { line: 2, message: 'companies.1 has no name' },
      ],
    });
    expect((await given.call('GET', '/profile')).status).toBe(200);
    const stolen = 'companies: [{name: New, plan: grow, users: [{email: admin@acme.test, role: Admin}]}]';
    const conflict = await given.control('POST', '/fixtures', stolen);
    expect([conflict.status, errorOf(conflict.data).code]).toEqual([400, 'SERVICE_FIXTURES_CONFLICT']);
  });
});

describe("the control interface's request log", () => {
  it("shows each request's user, time, size and response, but never a key", async () => {
    const given = await controlled();
    const id = await given.source();
    await given.call('PUT', `/datasources/${id}/data`, { body: '[1,2,3]' });
    await given.call('GET', '/profile?x=1', { key: 'wrong-key' });
    const all = await requestsOf(given);
    expect(all).toMatchObject([
      { id: 1, method: 'POST', path: '/api/1.0/datasources', status: 201, company: 'acme', user: 'acme-admin' },
      { id: 2, method: 'PUT', path: `/api/1.0/datasources/${id}/data`, status: 200, bytes_in: 7, fault: null },
      { id: 3, path: '/api/1.0/profile', status: 401, company: null, user: null },
    ]);
    expect(all[0]!.credentials).toBe(all[1]!.credentials);
    expect(all[2]!.credentials).not.toBe(all[0]!.credentials);
    for (const { bytes_out, took_ms, time } of all) {
      expect(bytes_out).toBeGreaterThan(50);
      expect(took_ms).toBeGreaterThanOrEqual(0);
      expect(new Date(time).toISOString()).toBe(time);
    }
    expect(JSON.stringify(all)).not.toContain(keys.acmeAdmin);
  });

  it('can be filtered, paged and cleared', async () => {
    const given = await controlled();
    await given.call('GET', '/profile');
    await given.call('GET', '/datasources/nothing');
    await given.call('GET', '/profile', { key: keys.otherAdmin });
    const ids = async (query: string) => (await requestsOf(given, query)).map(({ id }) => id);
    expect(await ids('?path=/profile')).toEqual([1, 3]);
    expect(await ids('?path=/datasources/*')).toEqual([2]);
    expect(await ids('?status=404&method=get')).toEqual([2]);
    expect(await ids('?company=other')).toEqual([3]);
    expect(await ids('?after=1')).toEqual([2, 3]);
    expect((await given.control('GET', '/requests?limit=1&offset=1')).data).toMatchObject({
      requests: [{ id: 2 }],
      count: 1,
      total: 3,
    });
    expect((await given.control('GET', '/requests?limit=0')).data).toEqual({ requests: [], count: 0, total: 3 });
    expect((await given.control('DELETE', '/requests')).data).toEqual({ deleted: 3 });
    await given.call('GET', '/profile');
    expect(await ids('')).toEqual([4]);
  });

  it('lets a client wait until the expected requests have arrived or a timeout has passed', async () => {
    const given = await controlled();
    await given.call('GET', '/profile');
    const waiting = given.control('GET', '/requests/wait?path=/profile&count=2&timeout_ms=60000');
    await given.call('GET', '/klips');
    await given.call('GET', '/profile');
    expect(await waiting).toMatchObject({
      status: 200,
      data: { count: 2, wanted: 2, requests: [{ id: 1 }, { id: 3 }] },
    });
    const late = await given.control('GET', '/requests/wait?path=/tabs&timeout_ms=20');
    expect(late).toEqual({ status: 504, data: { requests: [], count: 0, wanted: 1 } });
  });

  it("doesn't delay the service's shutdown while a client waits for requests", async () => {
    const given = await controlled();
    const waiting = given.control('GET', '/requests/wait?count=9&timeout_ms=600000').then(
      ({ status }) => status,
      () => 504,
    );
    await given.call('GET', '/profile');
    await given.service.close();
    expect(await waiting).toBe(504);
  });
});
