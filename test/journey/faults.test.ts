import { beforeAll, describe, expect, it } from 'vitest';
import { withinOneDay } from '../delivery/one-day.ts';
import { type Fault, type FaultProxy, openFaultProxy } from './fault-proxy.ts';
import type { Home, JobResult } from './home.ts';
import { adminKey, type Ended, forSuite, makeWorld, until, type World } from './world.ts';

const older = 'id,name\n1,old\n';
/** More than the buffers of two sockets can hold, so that half of it is really in transit. */
const newer = `id,name\n${Array.from({ length: 150_000 }, (_, i) => `${i},new row number ${i}\n`).join('')}`;
const small = 'id,name\n1,new\n';

const scope = forSuite();
let world: World;
let proxy: FaultProxy;

beforeAll(async () => {
  world = await makeWorld({ scope, company: { requests_per_second: 1000 } });
  proxy = await openFaultProxy(world.url, scope);
});

interface Stage {
  readonly home: Home;
  /** The instance of the job with the fault. */
  readonly instance: string;
  /** The other job's instance, which must not be affected (invariant 7). */
  readonly beside: string;
  /** Writes the config, with these options of the first job's destination. */
  configure(destination?: object): Promise<string>;
}

interface Given {
  readonly text?: string;
  readonly destination?: object;
  readonly job?: object;
  readonly faults?: readonly Fault[];
  readonly always?: Fault;
  readonly target?: string;
  /** The fault affects the whole destination or its account, so the other job uses different ones. */
  readonly ownAccount?: boolean;
}

/** A job whose earlier rows were delivered and whose next uploads meet faults, and another job. */
async function stage({
  text = small,
  destination,
  job,
  faults = [],
  always,
  target,
  ownAccount = false,
}: Given): Promise<Stage> {
  const instance = target ?? (await world.instance('csv'));
  const beside = await world.instance('csv');
  const home = await world.home();
  await home.write('rows.csv', older);
  await home.write('beside.csv', older);
  const configure = (main: object = {}) =>
    home.config({
      keep: { payloads: 0 },
      destinations: {
        main: { url: proxy.url, api_key: adminKey, ...main },
        other: { url: proxy.url, api_key: adminKey, account: 'another' },
      },
      sources: { files: { connector: 'file' } },
      jobs: {
        rows: { source: 'files', query: 'rows.csv', format: 'csv', destination: 'main', target: instance, ...job },
        beside: {
          source: 'files',
          query: 'beside.csv',
          format: 'csv',
          destination: ownAccount ? 'other' : 'main',
          target: beside,
        },
      },
    });
  await configure();
  if (target === undefined) expect((await home.syncHere({ jobs: ['rows'] })).code).toBe(0);
  await configure(destination);
  await home.write('rows.csv', text);
  proxy.script(instance, ...faults);
  if (always !== undefined) proxy.always(instance, always);
  return { home, instance, beside, configure };
}

interface Seen extends Ended {
  readonly rows: JobResult;
  /** How often this sync uploaded for the job with the fault. */
  readonly sent: number;
}

/** Syncs both jobs once. Whatever happens to the first, the other must deliver its rows with one request. */
async function syncBoth({ home, instance, beside }: Stage, waitSeconds?: number): Promise<Seen> {
  const before = sentTo(instance);
  const { jobs, ...ended } = await home.syncHere({ waitSeconds });
  const [rows, other] = jobs;
  expect(other).toMatchObject({ job: 'beside', state: 'delivered', requests: 1 });
  expect(await world.data(beside)).toBe(older);
  return { ...ended, rows: rows!, sent: sentTo(instance) - before };
}

const sentTo = (instance: string) => proxy.met.filter((met) => met.instance === instance).length;

interface Passing {
  readonly what: string;
  readonly faults: readonly Fault[];
  readonly text?: string;
  readonly destination?: object;
  /**
   * If true, the instance already shows the new rows during the fault, which occurs after the service accepted them.
   */
  readonly taken?: true;
  readonly ownAccount?: true;
}

const passing: readonly Passing[] = [
  { what: '429 with Retry-After', faults: [{ answer: 429, headers: { 'retry-after': '1' } }], ownAccount: true },
  { what: '500, then 503', faults: [{ answer: 500 }, { answer: 503 }] },
  { what: '503 with Retry-After', faults: [{ answer: 503, headers: { 'retry-after': '1' } }], ownAccount: true },
  { what: 'a login page as the response', faults: [{ page: '<html>Please log in</html>' }] },
  { what: 'a connection reset before the body', faults: [{ reset: 'before the body' }], text: newer },
  { what: 'a connection reset after half the body', faults: [{ reset: 'after half of the body' }], text: newer },
  {
    what: 'a connection reset after the body, which never arrived',
    faults: [{ reset: 'after the body' }],
    text: newer,
  },
  { what: 'a lost response', faults: [{ answerIs: 'lost' }], text: newer, taken: true },
  { what: 'a truncated response', faults: [{ answerIs: 'cut' }], text: newer, taken: true },
  {
    what: 'a connection without any response',
    faults: [{ hole: true }],
    destination: { timeout_seconds: 1 },
    ownAccount: true,
  },
];

describe('an upload that encounters', () => {
  it.for(passing)(
    '$what is retried and arrives complete',
    async ({ faults, text = small, destination, taken, ownAccount = false }) => {
      const one = await stage({ text, faults, ownAccount, ...(destination === undefined ? {} : { destination }) });
      // First sync without retries: until the next sync, the instance shows complete data, old or new.
      const hasty = await syncBoth(one, 0);
      expect(hasty).toMatchObject({ code: 1, sent: 1, rows: { state: 'waiting_retry', requests: 1 } });
      expect(await world.data(one.instance)).toBe(taken ? text : older);
      await one.home.write('beside.csv', older);
      // A timeout that the fault exceeds could also interrupt a slow upload.
      await one.configure();
      const patient = await one.home.syncHere();
      expect(patient.code).toBe(0);
      expect(patient.jobs).toMatchObject([{ state: 'delivered' }, { state: 'unchanged' }]);
      expect(await world.data(one.instance)).toBe(text);
      expect(sentTo(one.instance)).toBe(1 + faults.length + 1);
      expect(one.home.state().outbox.filter(({ state }) => state === 'owed')).toEqual([]);
    },
  );

  it('several faults in a row is retried within one sync, and each attempt is counted', async () => {
    await withinOneDay();
    const faults: Fault[] = [
      { answer: 500 },
      { reset: 'after half of the body' },
      { answer: 429, headers: { 'retry-after': '1' } },
      { answerIs: 'lost' },
    ];
    const one = await stage({ text: newer, faults });
    const { code, rows, sent } = await syncBoth(one);
    expect({ code, sent, state: rows.state, requests: rows.requests }).toEqual({
      code: 0,
      sent: 5,
      state: 'delivered',
      requests: 5,
    });
    expect(await world.data(one.instance)).toBe(newer);
    expect(one.home.state().quota.reduce((sum, { used }) => sum + used, 0)).toBe(1 + 1 + 5);
  });
});

describe('an upload that cannot succeed', () => {
  it("stays owed, with the service's message, after all configured attempts fail", async () => {
    const one = await stage({
      destination: { attempts: 1 },
      always: { answer: 503, words: 'The service is under maintenance' },
      ownAccount: true,
    });
    const { code, rows, sent, stderr } = await syncBoth(one, 0);
    expect({ code, sent, stderr }).toEqual({ code: 1, sent: 1, stderr: '' });
    expect(rows).toMatchObject({ state: 'waiting_retry', requests: 1, problem: { code: 'DELIVERY_FAILED' } });
    expect(rows.problem!.message).toContain('The service is under maintenance');
    expect(rows.problem!.where).toMatchObject({ job: 'rows', destination: 'main' });
    expect(await world.data(one.instance)).toBe(older);
    const owed = one.home.state().outbox.filter(({ state }) => state === 'owed');
    expect(owed).toHaveLength(1);
    expect(one.home.payloads().some((name) => name.includes(owed[0]!.sha256))).toBe(true);

    proxy.always(one.instance, 'pass');
    expect((await one.home.syncHere()).jobs[0]).toMatchObject({ state: 'delivered' });
    expect(await world.data(one.instance)).toBe(small);
  });

  it('stays owed if the key is rejected (exit code 3), and is sent once the key is valid', async () => {
    const one = await stage({ faults: [{ answer: 401, words: 'Unknown key' }], ownAccount: true });
    const { code, rows, sent } = await syncBoth(one);
    expect({ code, sent }).toEqual({ code: 3, sent: 1 });
    const where = { job: 'rows', destination: 'main' };
    expect(rows).toMatchObject({ state: 'waiting_login', problem: { code: 'LOGIN_NEEDED', where } });
    expect(one.home.state().outbox.filter(({ state }) => state === 'owed')).toHaveLength(1);
    expect((await one.home.syncHere()).code).toBe(0);
    expect(await world.data(one.instance)).toBe(small);
  });

  it('is marked as dead at once if the target is unknown, and the error says how to fix that', async () => {
    const one = await stage({ target: 'f'.repeat(32) });
    const { code, rows, sent } = await syncBoth(one);
    expect({ code, sent }).toEqual({ code: 1, sent: 1 });
    expect(rows).toMatchObject({ state: 'dead', requests: 1, problem: { code: 'DELIVERY_NOT_FOUND' } });
    expect(rows.problem!.next).toMatch(/target's id/);
  });

  it("is marked as dead at once if the service rejects the rows, and the error includes the service's message", async () => {
    const one = await stage({ faults: [{ answer: 422, words: 'Row 7 has a date that is none' }] });
    const { code, rows, sent } = await syncBoth(one);
    expect({ code, sent, state: rows.state }).toEqual({ code: 1, sent: 1, state: 'dead' });
    expect(rows.problem!.message).toContain('Row 7 has a date that is none');
    expect(await world.data(one.instance)).toBe(older);
  });
});

describe('a payload that must not be sent', () => {
  it("is rejected before any request is sent if it's too large, and the error shows the limit", async () => {
    const one = await stage({ text: newer, destination: { upload_limit_bytes: 100_000 } });
    const { code, rows, sent } = await syncBoth(one);
    expect({ code, sent }).toEqual({ code: 1, sent: 0 });
    expect(rows).toMatchObject({
      state: 'failed',
      requests: 0,
      problem: { code: 'PAYLOAD_TOO_LARGE', allowed: '100,000 bytes' },
    });
    expect(rows.problem!.seen).toBe(`${newer.length.toLocaleString('en-US')} bytes, 150,000 rows`);
    expect(await world.data(one.instance)).toBe(older);
    expect(one.home.payloads()).toEqual([]);
  });

  it('is rejected if the source returned no rows, unless the job allows an empty result', async () => {
    const one = await stage({ text: 'id,name\n' });
    const { code, rows, sent } = await syncBoth(one);
    expect({ code, sent }).toEqual({ code: 1, sent: 0 });
    expect(rows).toMatchObject({ state: 'failed', rows: 0, problem: { code: 'EMPTY_REFUSED' } });
    expect(rows.problem!.next).toContain('allow_empty: true');
    expect(await world.data(one.instance)).toBe(older);
    expect(one.home.payloads()).toEqual([]);

    const allowed = await stage({ text: 'id,name\n', job: { allow_empty: true } });
    expect(await syncBoth(allowed)).toMatchObject({ code: 0, sent: 1, rows: { state: 'delivered', rows: 0 } });
    expect(await world.data(allowed.instance)).toBe('id,name\n');
  });
});

describe('a sync that is asked to stop', () => {
  it("exits even if the service doesn't respond, and leaves the payload to the next sync", async () => {
    const one = await stage({ faults: [{ hole: true }] });
    const sync = one.home.start(['sync', 'rows', '--json']);
    await until('the upload to start', () => sentTo(one.instance) === 2);
    sync.child.kill('SIGTERM');
    const ended = await sync.ended;
    expect(ended).toMatchObject({ code: 143, signal: null });
    // For a timer with a negative delay, Node prints a warning, on a line that isn't part of the output.
    expect(ended.stderr).not.toContain('Warning');
    expect(one.home.state().outbox.map(({ state, attempts }) => [state, attempts])).toContainEqual(['owed', 0]);
    expect((await one.home.sync({ args: ['rows'] })).code).toBe(0);
    expect(await world.data(one.instance)).toBe(small);
  });
});
