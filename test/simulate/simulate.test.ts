import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { SimulationReport } from '../../src/cli/simulate/report.ts';
import { type SimulationOptions, simulate } from '../../src/cli/simulate/simulate.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { PastRuns } from '../../src/state/runs/past-runs.ts';

const job = { source: 'files', query: 'orders.csv', format: 'csv' };
const target = (letter: string) => letter.repeat(32);
const newYork = 'America/New_York';
const berlin = 'Europe/Berlin';
/** Jobs that never send within seconds of midnight, because requests at that time count on two days. */
const jobs = {
  quarters: { ...job, target: target('a'), schedule: { cron: '7,22,37,52 * * * *', timezone: newYork } },
  nightly: { ...job, target: target('b'), schedule: { cron: '30 2 * * *', timezone: newYork } },
  twice: { ...job, target: target('c'), schedule: { cron: '30 1 * * *', timezone: newYork } },
  weekdays: {
    ...job,
    target: { datasource: { name: 'Office' } },
    schedule: { cron: '5 9-17 * * 1-5', timezone: newYork },
  },
  nachts: { ...job, format: 'json', target: target('d'), schedule: { cron: '30 2 * * *', timezone: berlin } },
  stunden: { ...job, format: 'xml', target: target('e'), schedule: { cron: '12 * * * *', timezone: berlin } },
};
/**
 * A destination to which the daemon sends no requests of its own and for which it reserves none, so jobs make all
 * requests.
 */
const destination = {
  url: 'https://dashboards.invalid/api/1.0',
  api_key: '5e'.repeat(20),
  ask_usage: false,
  when_short: 'first_come',
};

interface Asked extends Partial<Omit<SimulationOptions, 'config' | 'from' | 'until'>> {
  readonly from: string;
  readonly days: number;
  readonly config?: object;
}

/** Simulates this many New York days, starting at midnight there. */
async function simulated({ from, days, config = {}, ...rest }: Asked): Promise<SimulationReport> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'sluice.yaml');
  const whole = { version: 1, destinations: { main: destination }, sources: { files: { connector: 'file' } }, jobs };
  await writeFile(file, JSON.stringify({ ...whole, ...config }));
  const loaded = await loadConfig(file);
  expect(loaded.problems).toEqual([]);
  const first = Temporal.PlainDate.from(from);
  const at = (day: Temporal.PlainDate) => day.toZonedDateTime(newYork).epochMilliseconds;
  return simulate({
    config: loaded.config!,
    from: at(first),
    until: at(first.add({ days })),
    past: new Map(),
    signal: new AbortController().signal,
    ...rest,
  });
}

const firings = ({ jobs }: SimulationReport) => Object.fromEntries(jobs.map((one) => [one.job, one.firings]));
const used = ({ accounts: [account] }: SimulationReport) => account!.days.map((day) => day.used);
const totals = ({ jobs }: SimulationReport) => jobs.reduce((sum, one) => sum + one.firings, 0);

describe('jobs without a history whose firings exceed the daily allowance', () => {
  const often = (letter: string, minutes: number) => ({
    ...job,
    target: target(letter),
    schedule: { cron: `*/${minutes} * * * *`, timezone: newYork },
  });
  const config = {
    destinations: { main: { ...destination, when_short: 'throttle', requests_per_day: 100, reserve_requests: 0 } },
    jobs: { twenties: often('a', 20), thirties: often('b', 30) },
  };

  it('fit if few runs send a request, even if the daemon throttles at first', async () => {
    const report = await simulated({ from: '2026-06-15', days: 1, changes: 0.2, config });
    expect(report.firings.throttled).toBeGreaterThan(0);
    expect(report).toMatchObject({ fits: true, trouble: [], next: [] });
  });

  it("don't fit if every run sends a request", async () => {
    const report = await simulated({ from: '2026-06-15', days: 1, config });
    expect(report.fits).toBe(false);
    expect(report.trouble).toContainEqual(expect.stringContaining('firings were skipped'));
    expect(report.firings.throttled).toBeGreaterThan(15);
  });
});

describe('a simulation of several days with a clock change', () => {
  it('follows the schedules and uses a 23-hour day when New York changes to daylight saving time', async () => {
    const report = await simulated({ from: '2026-03-07', days: 3 });
    expect(firings(report)).toEqual({
      quarters: 71 * 4,
      nightly: 3,
      twice: 3,
      weekdays: 9,
      nachts: 3,
      stunden: 71,
    });
    const [saturday, sunday] = [96 + 1 + 1 + 1 + 24, 92 + 1 + 1 + 1 + 23];
    expect(used(report)).toEqual([saturday, sunday, saturday + 9]);
    expect(report).toMatchObject({
      fits: true,
      trouble: [],
      runs: { delivered: totals(report), requests: totals(report) },
    });
  });

  it('starts no run twice and uses a 25-hour day when New York changes back', async () => {
    const report = await simulated({ from: '2026-10-31', days: 3 });
    expect(firings(report)).toEqual({
      quarters: 73 * 4,
      nightly: 3,
      twice: 3,
      weekdays: 9,
      nachts: 3,
      stunden: 73,
    });
    const days = ['2026-10-31', '2026-11-01', '2026-11-02'];
    expect(report.accounts[0]!.days.map(({ day }) => day)).toEqual(days);
    const saturday = 96 + 1 + 1 + 1 + 24;
    expect(used(report)).toEqual([saturday, 100 + 1 + 1 + 1 + 25, saturday + 9]);
    expect(report.fits).toBe(true);
  });

  it('starts exactly one run for a time that Berlin skips in spring or repeats in autumn', async () => {
    const only = { jobs: { nachts: jobs.nachts, stunden: jobs.stunden } };
    const [spring, autumn] = [
      await simulated({ from: '2026-03-27', days: 3, config: only }),
      await simulated({ from: '2026-10-23', days: 3, config: only }),
    ];
    expect(firings(spring)).toEqual({ nachts: 3, stunden: 72 });
    expect(firings(autumn)).toEqual({ nachts: 3, stunden: 72 });
    expect(used(spring)).toEqual([25, 25, 25]);
    expect(used(autumn)).toEqual([25, 25, 25]);
  });
});

describe('a simulated day', () => {
  const day = { from: '2026-06-15', days: 1 };
  const minutes = jobs.quarters;
  const hourly = { ...minutes, schedule: { cron: '7 * * * *', timezone: newYork } };

  it('shows when the allowance runs out, and never exceeds it', async () => {
    const config = { destinations: { main: { ...destination, requests_per_day: 12 } }, jobs: { hourly } };
    const report = await simulated({ ...day, days: 2, config });
    expect(report.fits).toBe(false);
    expect(report.accounts[0]).toMatchObject({
      limit: 12,
      days: [
        { day: '2026-06-15', used: 12, ended: true },
        { day: '2026-06-16', used: 12, ended: true },
      ],
    });
    // Once the requests were used up, later payloads superseded earlier ones; the last one of each day was sent after
    // midnight.
    expect(report.runs).toMatchObject({ runs: 48, owed: 0, superseded: 48 - 12 - 13, dead: 0 });
    expect(report.trouble).toEqual(['the daily allowance of main (12 requests) was used up on 2026-06-15, 2026-06-16']);
  });

  it("includes the daemon's own requests to the service", async () => {
    const config = { destinations: { main: { ...destination, ask_usage: true } }, jobs: { hourly } };
    const report = await simulated({ ...day, config });
    const [account] = report.accounts;
    expect(account!.usage_queries).toBeGreaterThan(0);
    expect(used(report)).toEqual([24 + account!.usage_queries]);
  });

  it('includes no requests for runs without changes', async () => {
    const report = await simulated({ ...day, config: { jobs: { hourly } }, changes: 0 });
    expect(report.runs).toMatchObject({ runs: 24, delivered: 1, unchanged: 23, requests: 1 });
    expect(used(report)).toEqual([1]);
  });

  it('uses the durations, sizes and change rates of past runs', async () => {
    const past = new Map<string, PastRuns>([
      ['minutes', { runs: 40, bytes: 5_000_000, rows: 100, milliseconds: 20 * 60_000, changed: 1 }],
    ]);
    const report = await simulated({ ...day, config: { jobs: { minutes } }, past });
    expect(report).toMatchObject({ known_jobs: 1, outbox: { peak_payloads: 1, peak_bytes: 5_000_000 } });
    // A run that takes twenty minutes is still in progress at the next firing, 15 minutes later.
    expect(report.firings.overlaps).toBeGreaterThan(30);
    expect(report.firings.skipped).toBe(report.firings.planned - report.runs.runs);
    const still = await simulated({
      ...day,
      config: { jobs: { minutes } },
      past: new Map([['minutes', { ...past.get('minutes')!, changed: 0 }]]),
    });
    expect(still.runs.delivered).toBe(1);
  });

  it('keeps clients, refreshes and targets separate if they have the same name in several accounts', async () => {
    const config = {
      destinations: {
        main: destination,
        other: { ...destination, url: 'https://other.invalid/api/1.0', client_id: target('9') },
      },
      jobs: {
        here: { ...hourly, destination: 'main' },
        there: { ...hourly, destination: 'other' },
        client: { ...hourly, destination: 'main', target: { instance: target('f'), client_id: target('8') } },
        declared: { ...hourly, destination: 'other', target: { datasource: { name: 'Orders' } } },
        refresh: { destination: 'main', target: { refresh: [target('1'), target('2')] }, schedule: hourly.schedule },
      },
    };
    const report = await simulated({ ...day, config });
    expect(report).toMatchObject({ fits: true, runs: { runs: 5 * 24, delivered: 5 * 24, dead: 0, failed: 0 } });
    expect(report.accounts.map(({ days: [only] }) => only!.used)).toEqual([3 * 24, 2 * 24]);
  });
});

describe('random faults', () => {
  const asked = { from: '2026-06-15', days: 1, config: { jobs: { quarters: jobs.quarters, stunden: jobs.stunden } } };

  it('are the same for the same seed, and different for another seed', async () => {
    const [first, again, other] = [
      await simulated({ ...asked, faults: 7 }),
      await simulated({ ...asked, faults: 7 }),
      await simulated({ ...asked, faults: 8 }),
    ];
    expect(again).toEqual(first);
    expect(other.faults).not.toEqual(first.faults);
    expect(first.runs.retries).toBeGreaterThan(0);
    // Without the hour in which no source responds, there would be one or two.
    expect(first.runs.attempts).toBeGreaterThan(8);
    expect(first.faults).toEqual({ outage_at: expect.any(Number), source_outage_at: expect.any(Number) });
    // Later runs of the same jobs have caught up.
    expect(first.jobs.map(({ lost }) => lost)).toEqual([0, 0]);
    expect(first.fits).toBe(true);
    expect(first.runs.requests).toBe(used(first)[0]);
    expect(firings(first)).toEqual({ quarters: 96, stunden: 24 });
  });
});

describe('a simulation', () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  let url = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it("doesn't contact the sources or the destination, and leaves no state behind", async () => {
    const scratch = await mkdtemp(join(tmpdir(), 'sluice-test-'));
    onTestFinished(() => rm(scratch, { recursive: true, force: true }));
    const state = join(scratch, 'state');
    const report = await simulated({
      from: '2026-06-15',
      days: 1,
      faults: 1,
      scratch,
      config: {
        state,
        destinations: { main: { ...destination, url: `${url}/api/1.0` } },
        sources: { api: { connector: 'simple_rest' } },
        jobs: { hourly: { ...jobs.stunden, source: 'api', query: { endpoint_url: `${url}/rows` } } },
      },
    });
    expect(report.runs.runs).toBe(24);
    expect(connections).toBe(0);
    expect(await readdir(scratch)).toEqual([]);
  });
});
