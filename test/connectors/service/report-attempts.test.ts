import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Problem } from '../../../src/lib/problem.ts';
import { batchText, option, type StreamData } from '../../../src/sdk/index.ts';
import { caseOf, numbers } from '../doubles/acme.ts';
import { type Asked, type Fault, type Reply, type Routes, Vendor } from '../doubles/vendor.ts';
import { contextOf } from '../harness.ts';

const busy: Reply = { status: 503 };

const report: Partial<StreamData> = {
  job: {
    create: { path: '/reports', json: { from: '{{ window.from }}', to: '{{ window.to }}', shop: '{{ shop }}' } },
    keep: { id: 'report.id' },
    poll: { path: '/reports/{{ job.id }}' },
    state: 'state',
    done: ['Done'],
    failed: ['Broken', 'Expired'],
    every: '0s',
    result: { url: 'url' },
  },
  request: { path: '{{ job.url }}' },
  options: { shop: option.text({ about: 'The shop.' }) },
  decode: 'csv',
};

/** A vendor that creates reports `r1`, `r2` …, which are done immediately unless `answers` says otherwise. */
const reports = (answers: Routes = {}): Routes => {
  let made = 0;
  return {
    ...answers,
    'POST /v1/reports': () => ({ json: { report: { id: `r${++made}` } } }),
    'GET /v1/reports/{id}': ({ base, part }: Asked) => ({ json: { state: 'Done', url: `${base}/files/${part.id}` } }),
    'GET /files/{id}': { text: 'id\n0\n1\n' },
  };
};

/**
 * A vendor, and the attempts of one run that reads one of its streams. Each attempt takes over what the previous one
 * left.
 */
async function runOf(stream: Partial<StreamData>, { routes = reports(), faults = [] as readonly Fault[] } = {}) {
  const vendor = await new Vendor({ routes, faults }).start();
  const folder = await mkdtemp(join(tmpdir(), 'sluice-report-'));
  onTestFinished(async () => {
    await vendor.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const { service } = caseOf(stream, { routes });
  let texts = new Map<string, string>();
  const since = Date.parse('2026-11-23T12:00:00Z');
  const attempt = async (query: object = {}): Promise<(string | null)[][] | string> => {
    // As read from the state.
    texts = new Map(JSON.parse(JSON.stringify([...texts])));
    const run = { source: { api_url: vendor.url, retries: 0 }, query: { stream: 'things', ...query }, folder };
    try {
      const { batches } = await service.extract({
        ...contextOf(service, run),
        attemptFacts: { texts, since, folder: '/none' },
      });
      const rows: (string | null)[][] = [];
      for await (const batch of batches) rows.push(...batchText(batch));
      return rows;
    } catch (error) {
      return (error as Problem).code;
    }
  };
  const count = (line: string) => vendor.lines.filter((one) => one.startsWith(line)).length;
  return { vendor, attempt, count, created: () => count('POST /v1/reports '), texts: () => texts };
}

const poll = 'GET /v1/reports/{id}';

describe('a report that a vendor prepares while an attempt fails', () => {
  it('is polled by the next attempt instead of being requested again', async () => {
    const { attempt, created, vendor } = await runOf(report, { faults: [{ at: 1, times: 2, to: poll, reply: busy }] });
    expect(await attempt()).toBe('SERVICE_BUSY');
    expect(await attempt()).toBe('SERVICE_BUSY');
    expect(await attempt()).toEqual(numbers(0, 2));
    expect(created()).toBe(1);
    expect(vendor.lines.slice(1)).toEqual([...Array(3).fill('GET /v1/reports/r1'), 'GET /files/r1']);
  });

  it('is downloaded by the next attempt if its download fails', async () => {
    const fetchFault: Fault = { at: 1, to: 'GET /files/{id}', reply: busy };
    const { attempt, created } = await runOf(report, { faults: [fetchFault] });
    expect(await attempt()).toBe('SERVICE_BUSY');
    expect(await attempt()).toEqual(numbers(0, 2));
    expect(created()).toBe(1);
  });

  it("keeps an ID that doesn't fit into a number", async () => {
    const create = { text: '{"report":{"id":12345678901234567890}}', headers: { 'content-type': 'application/json' } };
    const routes = { ...reports(), 'POST /v1/reports': create };
    const { attempt, vendor } = await runOf(report, { routes, faults: [{ at: 1, to: poll, reply: busy }] });
    expect(await attempt()).toBe('SERVICE_BUSY');
    expect(await attempt()).toEqual(numbers(0, 2));
    expect(vendor.lines.slice(1, 3)).toEqual(Array(2).fill('GET /v1/reports/12345678901234567890'));
  });

  it.each<[string, Reply]>([
    ['is unknown to the vendor', { status: 404, json: {} }],
    ['was deleted', { status: 410, json: {} }],
    ['belongs to another user', { status: 403, json: {} }],
    ['has failed', { json: { state: 'Broken' } }],
    ['has expired', { json: { state: 'Expired' } }],
    ['has no state', { json: { report: null } }],
  ])('is requested again if it %s in the meantime', async (_, reply) => {
    const faults: Fault[] = [
      { at: 1, to: poll, reply: busy },
      { at: 1, to: poll, reply },
    ];
    const { attempt, created, count } = await runOf(report, { faults });
    expect(await attempt()).toBe('SERVICE_BUSY');
    expect(await attempt()).toEqual(numbers(0, 2));
    expect(created()).toBe(2);
    expect(count('GET /files/r2')).toBe(1);
  });

  it("is requested again if one of the stream's rules ignores missing reports", async () => {
    const stream: Partial<StreamData> = { ...report, errors: [{ status: 404, verdict: 'ignore' }] };
    const faults: Fault[] = [
      { at: 1, to: poll, reply: busy },
      { at: 1, to: poll, reply: { status: 404 } },
    ];
    const { attempt, created } = await runOf(stream, { faults });
    expect(await attempt()).toBe('SERVICE_BUSY');
    expect(await attempt()).toEqual(numbers(0, 2));
    expect(created()).toBe(2);
  });

  it('is requested again if its file is gone', async () => {
    const faults: Fault[] = [
      { at: 1, to: poll, reply: busy },
      { at: 1, to: 'GET /files/{id}', reply: { status: 404 } },
    ];
    const { attempt, created } = await runOf(report, { faults });
    expect(await attempt()).toBe('SERVICE_BUSY');
    expect(await attempt()).toEqual(numbers(0, 2));
    expect(created()).toBe(2);
  });

  it("isn't requested again while the login is refused", async () => {
    const faults: Fault[] = [
      { at: 1, to: poll, reply: busy },
      { at: 1, to: poll, reply: { status: 401 } },
    ];
    const { attempt, created } = await runOf(report, { faults });
    expect(await attempt()).toBe('SERVICE_BUSY');
    expect(await attempt()).toBe('SERVICE_LOGIN');
    expect(created()).toBe(1);
  });

  it('is requested again by the next attempt if the vendor failed to create it', async () => {
    const { attempt, created } = await runOf(report, {
      faults: [{ at: 1, to: poll, reply: { json: { state: 'Broken' } } }],
    });
    expect(await attempt()).toBe('SERVICE_JOB_FAILED');
    expect(await attempt()).toEqual(numbers(0, 2));
    expect(created()).toBe(2);
  });

  it('is requested again if it timed out', async () => {
    const stream: Partial<StreamData> = { ...report, job: { ...report.job!, every: '1s', patience: '0s' } };
    const pending: Fault = { at: 1, to: poll, reply: { json: { state: 'Running' } } };
    const { attempt, created, texts } = await runOf(stream, { faults: [pending] });
    expect(await attempt()).toBe('SERVICE_JOB_LATE');
    expect(texts().size).toBe(0);
    const late = await runOf(stream, { faults: [{ at: 1, to: poll, reply: busy }] });
    expect(await late.attempt()).toBe('SERVICE_BUSY');
    expect(await late.attempt()).toEqual(numbers(0, 2));
    expect([created(), late.created()]).toEqual([1, 2]);
  });

  it('is started by the next attempt if the vendor rejected the start', async () => {
    const job = { ...report.job!, start: { method: 'POST' as const, path: '/reports/{{ job.id }}/start' } };
    const started = 'POST /v1/reports/{id}/start';
    const routes = { [started]: { status: 204 }, ...reports() };
    const faults: Fault[] = [
      { at: 1, to: started, reply: busy },
      { at: 1, to: poll, reply: busy },
    ];
    const { attempt, created, count } = await runOf({ ...report, job }, { routes, faults });
    expect(await attempt()).toBe('SERVICE_BUSY');
    expect(await attempt()).toBe('SERVICE_BUSY');
    expect(await attempt()).toEqual(numbers(0, 2));
    expect([created(), count('POST /v1/reports/r1/start')]).toEqual([1, 2]);
  });

  it.each([{ shop: 'toys' }, { start_date: '2026-11-02' }, { end_date: '2026-11-21' }])(
    "isn't used for another query: %j",
    async (other) => {
      const stream: Partial<StreamData> = { ...report, window: { end: 'inside' } };
      const faults: Fault[] = [{ at: 1, to: poll, reply: busy }];
      const { attempt, created, count } = await runOf(stream, { faults });
      const query = { shop: 'books', start_date: '2026-11-01', end_date: '2026-11-20' };
      expect(await attempt(query)).toBe('SERVICE_BUSY');
      expect(await attempt({ ...query, ...other })).toEqual(numbers(0, 2));
      expect([created(), count('GET /v1/reports/r1'), count('GET /v1/reports/r2')]).toEqual([2, 1, 1]);
    },
  );

  it('is separate for each date range', async () => {
    const stream: Partial<StreamData> = { ...report, window: { step: '1d', end: 'outside' } };
    const query = { start_date: '2026-11-01', end_date: '2026-11-03' };
    const { attempt, created, vendor } = await runOf(stream, { faults: [{ at: 3, times: 2, to: poll, reply: busy }] });
    expect(await attempt(query)).toBe('SERVICE_BUSY');
    expect(created()).toBe(3);
    // The first range is read again, from its own report.
    expect(await attempt(query)).toBe('SERVICE_BUSY');
    expect(await attempt(query)).toEqual([...numbers(0, 2), ...numbers(0, 2), ...numbers(0, 2)]);
    expect(created()).toBe(3);
    expect(vendor.lines.slice(-6).filter((line) => line.startsWith('GET /files'))).toEqual([
      'GET /files/r1',
      'GET /files/r2',
      'GET /files/r3',
    ]);
  });

  it('is the same in all attempts even if its request contains the current time', async () => {
    const job = { ...report.job!, create: { path: '/reports', json: { until: '{{ now | iso }}' } } };
    const { attempt, created } = await runOf({ ...report, job }, { faults: [{ at: 1, to: poll, reply: busy }] });
    expect(await attempt()).toBe('SERVICE_BUSY');
    expect(await attempt()).toEqual(numbers(0, 2));
    expect(created()).toBe(1);
  });
});
