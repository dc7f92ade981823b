import { describe, expect, it, onTestFinished } from 'vitest';
import type { AlertChannel, Alerts } from '../../../src/config/alerts.ts';
import type { Config, Job, Login, Source as Source_ } from '../../../src/config/config.ts';
import { AlertLoop } from '../../../src/daemon/alerting/alert-loop.ts';
import type { SluiceEvents } from '../../../src/daemon/events.ts';
import { Monitoring } from '../../../src/daemon/monitoring.ts';
import { Systemd } from '../../../src/daemon/process/systemd.ts';
import { dayOf } from '../../../src/delivery/quota.ts';
import { Events } from '../../../src/lib/events.ts';
import { quietLog } from '../../../src/lib/log.ts';
import { registerSecret } from '../../../src/lib/redact.ts';
import { identityOf } from '../../../src/oauth/identity.ts';
import type { Store } from '../../../src/state/store.ts';
import { openReceiver, type Receiver, secret } from '../../alerts/receiver.ts';
import { noon, SteppingClock } from '../../clocks.ts';
import { makeFolder, until } from '../../journey/process.ts';
import { atRest, cleanUp, newStore, oweText, Population, spool } from '../../state/fixtures.ts';
import { configOf, destinationOf, jobOf, openService, overdue, payloadFacts, Source, startDaemon } from '../rig.ts';

const hour = 3_600_000;
const place = 'http://127.0.0.1:1/api/1.0';

function alertsOf(channels: readonly AlertChannel[], more: Partial<Alerts> = {}): Alerts {
  return {
    channels: new Map(channels.map((channel) => [channel.name, channel])),
    rules: [],
    firstFailure: true,
    afterFailures: 3,
    remindMs: 24 * hour,
    recovery: true,
    settleMs: 30_000,
    unsentAfterMs: 900_000,
    quotaLeft: 0.1,
    ...more,
  };
}

const webhook = ({ url }: Receiver, name = 'ops'): AlertChannel => ({
  name,
  type: 'webhook',
  url,
  secret,
  timeoutMs: 5_000,
});

interface Given {
  readonly names?: readonly string[];
  readonly alerts?: Partial<Alerts>;
  readonly requestsPerDay?: number;
  readonly ticking?: () => boolean;
  readonly channels?: (receiver: Receiver) => readonly AlertChannel[];
}

/** An alert loop that uses a store and a clock that the test advances. */
async function setUp({
  names = ['orders'],
  alerts,
  requestsPerDay = 1_000_000,
  ticking = () => true,
  channels,
}: Given = {}) {
  onTestFinished(cleanUp);
  const clock = new SteppingClock(noon, { manual: true });
  const store = await newStore({ clock });
  const receiver = await openReceiver();
  const destination = destinationOf(place, { requestsPerDay });
  const source = new Source();
  const jobs = names.map((name) => jobOf({ name, destination, instance: `i-${name}`, source }));
  const given = alertsOf(channels?.(receiver) ?? [webhook(receiver)], alerts);
  const config: Config = { ...configOf(await makeFolder(), jobs), alerts: given };
  const events = new Events<SluiceEvents>();
  const heard: { name: string; facts: object }[] = [];
  events.listen((name, facts) => heard.push({ name, facts }));
  const alarm = new AlertLoop({
    runtime: { store, events, clock, log: quietLog },
    config: () => config,
    liveness: async () => ({ ticking: ticking(), message: 'the scheduler has not run for 200 s' }),
  });
  onTestFinished(() => alarm.stop());
  alarm.start();
  /** Advances time until the condition is true. */
  const passUntil = (what: string, isSo: () => boolean, step = 20_000) =>
    until(what, async () => {
      await atRest(store);
      clock.advance(step);
      return isSo();
    });
  const told = (count: number, step = 20_000) => passUntil(`${count} alerts`, () => receiver.got.length >= count, step);
  const count = (name: string) => heard.filter((one) => one.name === name).length;
  return { clock, store, receiver, config, events, alarm, heard, told, passUntil, count };
}

async function fail(store: Store, job: string, message = 'connection refused', code = 'DB_UNREACHABLE'): Promise<void> {
  const run = await store.runs.begin({ job, origin: 'schedule' });
  await store.runs.finish(run, { state: 'failed', problem: { code, message } });
}

async function succeed(store: Store, job: string): Promise<void> {
  const run = await store.runs.begin({ job, origin: 'schedule' });
  await store.runs.finish(run, { state: 'unchanged' });
}

/**
 * Does this for each job, in short transactions. A long one would keep the alert loop's own writes waiting
 * for longer than a process waits for a server.
 */
async function inChunks(
  store: Store,
  jobs: readonly string[],
  act: (store: Store, job: string) => Promise<void>,
): Promise<void> {
  for (let begin = 0; begin < jobs.length; begin += 10) {
    await store.transaction(async (parts) => {
      for (const job of jobs.slice(begin, begin + 10)) await act(parts as Store, job);
    });
  }
}

/** The job's instance shows current data. */
async function publish(store: Store, job: string, now: number): Promise<void> {
  const { owed } = await oweText(store, { instance: `i-${job}`, text: String(now), asOf: now, job });
  const row = owed.state === 'owed' ? await store.outbox.attempt(owed.id) : undefined;
  await store.outbox.delivered(row!);
}

async function holdBack(store: Store, job: string, asOf: number): Promise<void> {
  const run = await store.runs.begin({ job, origin: 'schedule' });
  const payload = spool(store, { run, text: 'few rows', asOf });
  const goes = {
    destination: { name: 'main', url: place },
    instance: `i-${job}`,
    mediaType: 'text/csv',
    always: false,
  };
  await store.quarantine.put({ run, job, payload, ...goes }, { findings: '[]', message: 'only 3 rows' });
}

describe("the daemon's alert loop", () => {
  it('reports a thousand jobs that fail for the same reason in one message, and their recovery in another', async () => {
    const names = Array.from({ length: 1000 }, (_, i) => `job${i}`);
    const { store, receiver, told, events, passUntil } = await setUp({
      names,
      alerts: { afterFailures: 0, staleAfterMs: false },
    });
    await inChunks(store, names, fail);
    events.emit('config.reloaded', { file: '', jobs: 1000 });
    await told(1);
    const data = (JSON.parse(receiver.got[0]!.text) as { data: { title: string; text: string; open: number } }).data;
    expect(data).toMatchObject({ title: '1000 jobs failed', open: 1000 });
    expect(data.text).toContain('- job0: run ');
    expect(data.text).toContain('- and 990 more');
    await inChunks(store, names, succeed);
    await told(2);
    await passUntil('a day to pass', () => true, 12 * hour);
    expect(receiver.titles()).toEqual(['1000 jobs failed', '1000 jobs recovered']);
  });

  it('reports the first failure, further failures and the recovery', async () => {
    const { store, receiver, told } = await setUp({ alerts: { staleAfterMs: false } });
    await fail(store, 'orders');
    await told(1);
    await fail(store, 'orders');
    await fail(store, 'orders');
    await told(2);
    await succeed(store, 'orders');
    await told(3);
    expect(receiver.titles()).toEqual(['orders failed', 'orders keeps failing', 'orders recovered']);
  });

  it('reports stale data even if nothing runs, measured from the last successful publication', async () => {
    const { store, receiver, clock, told, passUntil } = await setUp({ alerts: { staleAfterMs: 2 * hour } });
    await publish(store, 'orders', clock.now());
    await passUntil('90 minutes to pass', () => true, 1.5 * hour);
    expect(receiver.got).toEqual([]);
    await told(1);
    expect(receiver.titles()).toEqual(['orders shows old data']);
    expect(receiver.got[0]?.text).toMatch(/dashboard shows data as of 2026-06-15 16:00:00Z, 2 h \d\d min old/);
    await publish(store, 'orders', clock.now());
    await told(2);
    expect(receiver.titles()[1]).toBe('orders shows current data again');
  });

  it("reports a job that hasn't published anything after three firings and an hour", async () => {
    const { receiver, told, clock } = await setUp();
    const began = clock.now();
    await told(1, 60_000);
    expect(receiver.titles()).toEqual(['orders shows old data']);
    expect(clock.now() - began).toBeGreaterThan(2 * hour);
    expect(receiver.got[0]?.text).toContain('no data has been delivered since the job was added');
  });

  it('reports a payload that a guard quarantined, and one that the service refused', async () => {
    const { store, receiver, told, clock } = await setUp({ alerts: { staleAfterMs: false } });
    const { owed } = await oweText(store, { instance: 'i-orders', text: 'x', asOf: clock.now(), job: 'orders' });
    await store.outbox.markDead(owed.state === 'owed' ? owed.id : 0, { code: 'UPLOAD_REFUSED', message: 'not csv' });
    await told(1);
    expect(receiver.titles()).toEqual(['orders: the service permanently rejected a payload']);
    expect(receiver.got[0]?.text).toContain('not csv [UPLOAD_REFUSED]');
    expect(receiver.got[0]?.text).toMatch(/fix +fix the cause; then sluice dead send/);
    await publish(store, 'orders', clock.now());
    await told(2);
    expect(receiver.titles()[1]).toBe('orders: no dead payloads');
    await holdBack(store, 'orders', clock.now());
    await told(3);
    expect(receiver.titles()[2]).toBe('orders: a payload is quarantined');
    expect(receiver.got[2]?.text).toMatch(/only 3 rows.*fix +sluice quarantine show/);
  });

  it('reports only once that a destination refuses the key, no matter how many jobs wait', async () => {
    const names = ['a', 'b', 'c'];
    const { store, receiver, told, clock } = await setUp({ names, alerts: { staleAfterMs: false } });
    for (const job of names) {
      const { owed } = await oweText(store, { instance: `i-${job}`, text: job, asOf: clock.now(), job });
      const trouble = { code: 'LOGIN_NEEDED', message: 'the service returned 401' };
      await store.outbox.note(owed.state === 'owed' ? owed.id : 0, trouble);
    }
    await told(1);
    expect(receiver.titles()).toEqual(['main refuses the credentials']);
    expect(receiver.got[0]?.text).toContain('the service returned 401; 3 jobs have unsent payloads');
  });

  it("reports only once that a destination doesn't respond, no matter how many jobs wait, and once that it's back", async () => {
    const names = ['a', 'b', 'c'];
    const { store, receiver, told, clock, passUntil } = await setUp({ names, alerts: { staleAfterMs: false } });
    const ids: number[] = [];
    for (const job of names) {
      const { owed } = await oweText(store, { instance: `i-${job}`, text: job, asOf: clock.now(), job });
      if (owed.state !== 'owed') throw new Error('nothing is owed');
      ids.push(owed.id);
      await store.outbox.note(owed.id, { code: 'DELIVERY_NO_ANSWER', message: 'connection refused' });
    }
    await passUntil('ten minutes to pass', () => true, 600_000);
    expect(receiver.got).toEqual([]);
    await told(1);
    expect(receiver.titles()).toEqual(['main: payloads are not being delivered']);
    expect(receiver.got[0]?.text).toContain('connection refused; 3 jobs have unsent payloads');
    for (const id of ids) await store.outbox.delivered((await store.outbox.attempt(id))!);
    await told(2);
    expect(receiver.titles()[1]).toBe('main accepts payloads again');
  });

  it('reports once that a login needs a user, instead of each failed job, and warns a week before it expires', async () => {
    const { store, receiver, told, config, clock } = await setUp({
      names: ['a', 'b'],
      alerts: { staleAfterMs: false },
    });
    const login = {
      name: 'crm',
      grant: 'authorization_code',
      description: { refresh: 'none' },
      scopes: [],
      redirectUri: 'http://127.0.0.1:1/',
      clientId: 'app',
    } as unknown as Login;
    const jobs = config.jobs as Map<string, Job>;
    const source = { ...jobs.get('a')!.extract!.source, login };
    for (const [name, job] of jobs) jobs.set(name, { ...job, extract: { ...job.extract!, source } });
    (config.sources as Map<string, Source_>).set('made', source);
    for (const job of jobs.keys()) await fail(store, job, 'no one has logged in', 'LOGIN_NEEDED');
    await told(1);
    expect(receiver.titles()).toEqual(['crm needs a login now']);
    expect(receiver.got[0]?.text).toContain('no one has logged in; used by made');
    expect(receiver.got[0]?.text).toMatch(/fix +sluice login made/);
    for (const job of jobs.keys()) await succeed(store, job);
    const kept = { name: 'crm', identity: identityOf(login), encrypted: '', key_id: '', who: null, scopes: '' };
    await store.logins.keep({ ...kept, expires_at: clock.now() + 30 * 24 * hour }, { fresh: true });
    await told(2);
    expect(receiver.titles()[1]).toBe('crm is logged in');
    await told(3, 6 * hour);
    expect(receiver.titles()[2]).toBe('crm needs a login');
    expect(receiver.got[2]?.text).toContain('and is not renewed automatically');
  });

  it('reports that the daily requests are running short, and later that they are exhausted', async () => {
    const { store, receiver, told, clock } = await setUp({ requestsPerDay: 1000, alerts: { staleAfterMs: false } });
    const day = dayOf(clock.now());
    for (let n = 0; n < 950; n++) await store.quota.charge('account', day);
    await told(1);
    for (let n = 0; n < 50; n++) await store.quota.charge('account', day);
    await told(2);
    expect(receiver.titles()).toEqual([
      'main: the daily allowance is running out',
      'main: the daily allowance is used up',
    ]);
    expect(receiver.got[1]?.text).toContain('the allowance resets at 00:00 EDT');
  });

  it('reports that the scheduler has stopped', async () => {
    let ticking = true;
    const { receiver, told, passUntil } = await setUp({ ticking: () => ticking, alerts: { staleAfterMs: false } });
    await passUntil('a minute to pass', () => true, 60_000);
    ticking = false;
    await told(1);
    expect(receiver.titles()).toEqual(['the scheduler has stopped']);
    expect(receiver.got[0]?.text).toContain('the scheduler has not run for 200 s');
  });

  it("retries a channel that rejects a message, shows the failure, and doesn't delay other channels", async () => {
    const other = await openReceiver();
    const { store, receiver, told, passUntil, heard, count } = await setUp({
      alerts: { staleAfterMs: false },
      channels: (receiver) => [webhook(receiver), webhook(other, 'spare')],
    });
    receiver.answer(503);
    await fail(store, 'orders');
    await told(3);
    expect(other.titles()).toEqual(['orders failed']);
    expect(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    const unsent = heard.find(({ name }) => name === 'alert.unsent')?.facts;
    expect(unsent).toMatchObject({ channel: 'ops', attempt: 1, problem: 'HTTP 503: not now' });
    const records = await store.alerts.channels();
    expect(records.find(({ channel }) => channel === 'ops')).toMatchObject({
      waiting: 1,
      problem: 'HTTP 503: not now',
    });
    receiver.answer(200);
    await passUntil('the alert to be accepted', () => count('alert.sent') === 2);
    expect((await store.alerts.waiting()).length).toBe(0);
  });

  it('gives up on a message after a day, with a limited number of attempts', async () => {
    const { store, receiver, passUntil, count } = await setUp({ alerts: { staleAfterMs: false, remindMs: 48 * hour } });
    receiver.answer(500);
    await fail(store, 'orders');
    await passUntil('the alert to be given up', () => count('alert.given_up') === 1, 600_000);
    expect(receiver.got.length).toBeLessThan(40);
    expect(await store.alerts.waiting()).toEqual([]);
  });

  it('sends a heartbeat while the scheduler runs, and after each success of the listed jobs', async () => {
    let ticking = true;
    const { receiver, events, passUntil, clock } = await setUp({
      ticking: () => ticking,
      alerts: { staleAfterMs: false },
      channels: ({ url }) => [
        { name: 'alive', type: 'heartbeat', url, jobs: [], everyMs: 300_000, timeoutMs: 5_000 },
        {
          name: 'orders',
          type: 'heartbeat',
          url: `${url}&job=orders`,
          jobs: ['orders'],
          everyMs: 300_000,
          timeoutMs: 5_000,
        },
      ],
    });
    const beats = (path: string) =>
      receiver.got.filter((got) => got.path.endsWith(path) && got.method === 'GET').length;
    await passUntil('two heartbeats', () => beats('for=me') >= 2);
    ticking = false;
    await passUntil('the alert loop to notice', () => true, 60_000);
    const before = beats('for=me');
    for (let n = 0; n < 20; n++) await passUntil('time to pass', () => true, 60_000);
    expect(beats('for=me') - before).toBeLessThanOrEqual(1);
    expect(beats('job=orders')).toBe(0);
    events.emit('payload.delivered', { ...payloadFacts, attempts: 1, milliseconds: 1 });
    events.emit('payload.delivered', { ...payloadFacts, job: 'other', attempts: 1, milliseconds: 1 });
    await until("the job's heartbeat", () => beats('job=orders') === 1);
    expect(clock.now()).toBeGreaterThan(0);
  });

  it("doesn't report disabled or muted jobs, and uses a job's own channels", async () => {
    const other = await openReceiver();
    const { store, receiver, told, config } = await setUp({
      names: ['quiet', 'off', 'own', 'loud'],
      alerts: { staleAfterMs: false },
      channels: (receiver) => [webhook(receiver), webhook(other, 'spare')],
    });
    const jobs = config.jobs as Map<string, Job>;
    jobs.set('quiet', { ...jobs.get('quiet')!, alerts: false });
    jobs.set('off', { ...jobs.get('off')!, enabled: false });
    jobs.set('own', { ...jobs.get('own')!, alerts: { to: ['spare'] } });
    for (const name of jobs.keys()) await fail(store, name, `${name} broke`);
    await told(1);
    await until('the other channel to get its alerts', () => other.got.length === 2);
    expect(receiver.titles()).toEqual(['loud failed']);
    expect(other.titles().sort()).toEqual(['loud failed', 'own failed']);
  });

  it('never leaks a secret into a message or the state', async () => {
    registerSecret('hunter-of-secrets');
    const { store, receiver, told } = await setUp({ alerts: { staleAfterMs: false } });
    await fail(store, 'orders', 'no entry for hunter-of-secrets');
    await told(1);
    expect(receiver.got[0]?.text).toContain('no entry for [redacted]');
    expect(JSON.stringify([await store.alerts.all(), await store.alerts.messages(10)])).not.toContain('hunter');
  });

  it('reports nothing twice if several processes check the same state', async () => {
    const { store, receiver, told, clock, config, passUntil } = await setUp({ alerts: { staleAfterMs: false } });
    const people = new Population();
    for (const name of ['one', 'two']) {
      const own = await newStore({ folder: store.folder, clock, processes: people.member(name) });
      const runtime = { store: own, events: new Events<SluiceEvents>(), clock, log: quietLog };
      const other = new AlertLoop({ runtime, config: () => config, liveness: async () => undefined });
      onTestFinished(() => other.stop());
      other.start();
    }
    await fail(store, 'orders');
    await told(1);
    for (let n = 0; n < 10; n++) await passUntil('an hour to pass', () => true, hour);
    expect(receiver.titles()).toEqual(['orders failed']);
  });
});

describe('a running daemon', () => {
  it('also reports failures to a channel that a config reload added', async () => {
    const [service, receiver, folder] = await Promise.all([openService(), openReceiver(), makeFolder()]);
    const source = new Source();
    source.says = () => Promise.reject(new Error('the shelves are empty'));
    const job = jobOf({
      name: 'orders',
      destination: destinationOf(service.url),
      instance: await service.instance(),
      source,
    });
    const quiet = configOf(folder, [job]);
    const { daemon, runtime, hear } = await startDaemon(quiet, { before: overdue(job) });
    const monitoring = await Monitoring.open({
      daemon,
      runtime,
      log: quietLog,
      systemd: new Systemd({ env: {}, log: quietLog }),
    });
    onTestFinished(() => monitoring.close());
    onTestFinished(() => monitoring.stopping());
    await monitoring.started();
    await hear('run.finished');
    await monitoring.reload(async () => {
      await daemon.adopt({ ...quiet, alerts: alertsOf([webhook(receiver)], { settleMs: 1 }) });
      return undefined;
    });
    await receiver.receives(1);
    expect(receiver.titles()).toEqual(['orders failed']);
    expect(receiver.got[0]?.text).toContain('the shelves are empty');
  });
});
