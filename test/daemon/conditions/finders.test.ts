import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/config/config.ts';
import { findFailingChannels } from '../../../src/daemon/conditions/channels.ts';
import { findClockSet } from '../../../src/daemon/conditions/clock.ts';
import type { Condition, Snapshot } from '../../../src/daemon/conditions/condition.ts';
import { findConfigFaults } from '../../../src/daemon/conditions/config-faults.ts';
import { findFailures } from '../../../src/daemon/conditions/failures.ts';
import { headlineOf } from '../../../src/daemon/conditions/headline.ts';
import { loginConditions } from '../../../src/daemon/conditions/logins.ts';
import { QuotaShortages } from '../../../src/daemon/conditions/quota-short.ts';
import { findRefusedLogins } from '../../../src/daemon/conditions/refused-logins.ts';
import { findRejected } from '../../../src/daemon/conditions/rejected.ts';
import { findStopped } from '../../../src/daemon/conditions/scheduling.ts';
import { findSilentSources } from '../../../src/daemon/conditions/source-down.ts';
import { Staleness } from '../../../src/daemon/conditions/staleness.ts';
import { findStranded } from '../../../src/daemon/conditions/stranded.ts';
import type { Liveness } from '../../../src/daemon/process/heartbeat.ts';
import type { Overview } from '../../../src/daemon/report/overview.ts';
import { configOf, destinationOf, jobOf, Source } from '../rig.ts';

const now = Date.parse('2026-06-15T12:00:00Z');
const [minute, hour] = [60_000, 3_600_000];
const url = 'http://127.0.0.1:1/api/1.0';
const destination = destinationOf(url);

/** A job that reads the source `made`, or another one. */
function job(name: string, { source = 'made', login }: { source?: string; login?: string } = {}): Job {
  const made = jobOf({ name, destination, instance: name, source: new Source() });
  const own = { ...made.extract!.source, name: source, ...(login === undefined ? {} : { login: { name: login } }) };
  return { ...made, extract: { ...made.extract!, source: own as never } };
}

/** Two jobs about which nothing is known except what the test states. */
function snapshotOf(
  overview: object = {},
  { jobs = [job('orders'), job('stock')], ...more }: Partial<Snapshot> = {},
): Snapshot {
  const unknown = () => undefined;
  const nothing = { accounts: [], waiting: [], loginHolds: new Map(), waitingOf: () => [] };
  const times = ['lastRun', 'nextRun', 'nextFiring', 'nextAttempt', 'lastTakenAt', 'publishedAsOf'];
  const queries = ['throttle', 'silence', 'hold', ...times];
  const silent = Object.fromEntries(queries.map((name) => [name, unknown]));
  const all = { now, ...nothing, ...silent, ...overview } as unknown as Overview;
  return { config: configOf('/nowhere', jobs), overview: all, jobs, needy: [], ...more } as unknown as Snapshot;
}

const payload = (more: object) => ({
  ...{ job: 'orders', destination: 'main', url, state: 'owed', code: null, message: null, run: 'r1' },
  ...{ owed_at: now - hour, waiting_since: now - hour, last_attempt_at: null, settled_at: null, as_of: now - hour },
  ...more,
});

describe('the headline', () => {
  const about = (level: Condition['level'], ...jobs: string[]) => ({ level, jobs }) as unknown as Condition;
  it.each<[string, Condition[], string[]]>([
    ['All 2 jobs healthy', [], ['a', 'b']],
    ['The job is healthy', [], ['a', 'a']],
    ['The config has no jobs', [], []],
    ['1 of 2 jobs needs attention', [about('error', 'a'), about('error', 'a'), about('warning', 'b')], ['a', 'b']],
    ['2 of 2 jobs need attention', [about('error', 'a', 'b')], ['a', 'b']],
    ['1 of 2 jobs has a warning', [about('warning', 'a')], ['a', 'b']],
    ['2 of 2 jobs have warnings', [about('warning', 'a', 'b')], ['a', 'b']],
    ['All 2 jobs healthy; 1 other problem', [about('error')], ['a', 'b']],
    ['1 of 1 job needs attention; 2 other problems', [about('error', 'a'), about('error'), about('warning')], ['a']],
  ])('is %s', (line, conditions, names) => {
    expect(headlineOf(conditions, names)).toBe(line);
  });
});

describe('an owed payload', () => {
  const found = (...waiting: object[]) => findStranded(snapshotOf({ waiting }));

  it('is stranded if the config no longer has its destination, but delivered if only its job is gone', () => {
    expect(found(payload({}))).toEqual([]);
    expect(found(payload({ job: 'gone' }), payload({ job: 'gone', owed_at: now - 9 }))).toMatchObject([
      {
        kind: 'stranded',
        level: 'warning',
        since: now - hour,
        jobs: [],
        what: expect.stringContaining('has 2 unsent payloads'),
      },
    ]);
    expect(found(payload({ destination: 'former' }))).toMatchObject([
      { level: 'error', jobs: ['orders'], fix: expect.stringContaining('add destination former') },
    ]);
    expect(found(payload({ job: 'gone' }), payload({ job: 'gone', destination: 'former' }))).toHaveLength(2);
  });

  it("isn't stranded if its job was left out because of an error, or if it's no longer owed", () => {
    const snapshot = snapshotOf({ waiting: [payload({ job: 'returns' })] });
    const leftOut = new Map([['returns', []]]);
    expect(findStranded({ ...snapshot, config: { ...snapshot.config, leftOut } })).toEqual([]);
    expect(found(payload({ job: 'gone', state: 'dead' }), payload({ job: 'gone', state: 'quarantined' }))).toEqual([]);
  });
});

describe("payloads that a destination doesn't accept", () => {
  const found = (waiting: object[], more: object = {}) => findRejected(snapshotOf({ waiting, ...more }));
  const stuck = { code: 'DELIVERY_FAILED', message: 'The service failed' };

  it('are reported as an error if the destination has accepted nothing for 15 minutes', () => {
    const rows = [payload({ ...stuck, job: 'stock' }), payload({ ...stuck, waiting_since: now - minute })];
    const lastTakenAt = (since: number) => ({ lastTakenAt: (at: string) => (at === url ? now - since : undefined) });
    expect(found(rows)).toMatchObject([
      { subject: 'destination:main', kind: 'unsent', level: 'error', since: now - hour, jobs: ['stock', 'orders'] },
    ]);
    expect(found(rows, lastTakenAt(15 * minute))).toMatchObject([{ level: 'error', since: now - 15 * minute }]);
    expect(found(rows, lastTakenAt(15 * minute - 1))).toMatchObject([{ level: 'warning' }]);
    expect(found(rows, lastTakenAt(2 * hour))).toMatchObject([{ level: 'error', since: now - hour }]);
  });

  it('are reported once per destination and cause, but not if they only wait for their turn or for the daily allowance', () => {
    const refused = { code: 'LOGIN_NEEDED', message: 'The service refuses the credentials' };
    const rows = [
      payload({ ...refused, last_attempt_at: now - 5 }),
      payload({ ...refused, job: 'stock', last_attempt_at: now - 7 }),
      payload(stuck),
      payload({ code: 'QUOTA_SPENT', job: 'stock' }),
      payload({ job: 'stock' }),
      payload({ ...stuck, destination: 'former' }),
      payload({ ...stuck, state: 'dead' }),
    ];
    expect(found(rows).map(({ kind, level, jobs }) => [kind, level, jobs])).toEqual([
      ['credentials', 'error', ['orders', 'stock']],
      ['unsent', 'error', ['orders']],
    ]);
    expect(found(rows)[0]).toMatchObject({
      since: now - 7,
      what: expect.stringContaining('2 jobs have unsent payloads'),
    });
  });

  it('need a decision if they are quarantined, or if they are dead and as new as the published data', () => {
    const of = (state: string, as_of: number) => {
      const rows = [payload({ state, as_of, message: 'why', settled_at: now - 3 })];
      const waitingOf = (name: string) => (name === 'orders' ? rows : []);
      return found([], { waitingOf, publishedAsOf: () => now - 100 });
    };
    expect(of('dead', now - 100)).toMatchObject([{ kind: 'dead', level: 'error', jobs: ['orders'], since: now - 3 }]);
    expect(of('dead', now - 101)).toEqual([]);
    expect(of('quarantined', now - 101)).toMatchObject([{ kind: 'quarantined', since: now - hour, what: 'why' }]);
    expect(of('owed', now)).toEqual([]);
  });
});

describe("a source that didn't respond to its check", () => {
  const trouble = { since: now - minute, code: 'DB_UNREACHABLE', message: 'connection refused', at: now };
  const silence = () => trouble;

  it('causes a warning that names the first run that will fail', () => {
    const nextRun = ({ name }: Job) => now + (name === 'stock' ? minute : hour);
    expect(findSilentSources(snapshotOf({ silence, nextRun }))).toMatchObject([
      {
        ...{ subject: 'source:made', kind: 'source', level: 'warning', since: now - minute, jobs: ['orders', 'stock'] },
        ...{ code: 'DB_UNREACHABLE', fix: 'sluice check --connect' },
        what: 'the next run of stock at 2026-06-15 12:01:00Z will fail: connection refused',
      },
    ]);
    expect(findSilentSources(snapshotOf({ silence }))[0]!.what).toContain('the next run of orders, stock will fail');
    expect(findSilentSources(snapshotOf())).toEqual([]);
  });

  it('is reported as a refused login if the login was the cause', () => {
    const refused = { since: now - hour, code: 'DB_LOGIN', retry_at: null, place: 'db:1', account: 'etl' };
    const on = (code: string) => ({ silence: () => ({ ...trouble, code }), loginHolds: new Map([['made', refused]]) });
    for (const code of ['DB_LOGIN', 'LOGIN_ON_HOLD']) expect(findSilentSources(snapshotOf(on(code)))).toEqual([]);
    expect(findSilentSources(snapshotOf(on('DB_UNREACHABLE')))).toHaveLength(1);
    expect(findRefusedLogins(snapshotOf(on('DB_LOGIN')))).toMatchObject([
      { kind: 'login_refused', level: 'error', since: now - hour, jobs: ['orders', 'stock'], code: 'DB_LOGIN' },
    ]);
    const jobs = [job('orders', { source: 'shop', login: 'crm' })];
    const needing = { jobs, needy: [{ login: 'crm' }] as never };
    const ended = { silence: () => ({ ...trouble, code: 'LOGIN_ENDED' }) };
    expect(findSilentSources(snapshotOf(ended, needing))).toEqual([]);
    expect(findSilentSources(snapshotOf(ended, { jobs }))).toHaveLength(1);
    expect(findSilentSources(snapshotOf({ silence }, needing))).toHaveLength(1);
  });
});

describe('a job whose newest runs failed', () => {
  const streakOf = (code: string) => ({
    ...{ job: 'orders', failures: 2, firings: 2, since: now - hour },
    last: { id: 'r2', code, message: 'refused', next: null },
  });
  const found = (code: string | undefined, overview: object = {}, more: Partial<Snapshot> = {}) => {
    const streaks = async () => (code === undefined ? [] : [streakOf(code)]);
    return findFailures(snapshotOf(overview, { store: { runs: { streaks } } as never, ...more }), new Set(['stock']));
  };

  it('counts as failing, unless its login needs a user or was refused, which is reported instead', async () => {
    const jobs = [job('orders', { source: 'shop', login: 'crm' })];
    const needing = { jobs, needy: [{ login: 'crm' }] as never };
    const failed = [{ subject: 'job:orders', kind: 'failed', level: 'error', failures: 2, code: 'LOGIN_ENDED' }];
    expect(await found('LOGIN_ENDED', {}, { jobs })).toMatchObject(failed);
    expect(await found('LOGIN_ENDED', {}, needing)).toEqual([]);
    expect(await found('DB_UNREACHABLE', {}, needing)).toHaveLength(1);
    const refused = { since: now - hour, code: 'DB_LOGIN', retry_at: null, place: 'db:1', account: 'etl' };
    const on = { loginHolds: new Map([['made', refused]]) };
    for (const code of ['DB_LOGIN', 'LOGIN_ON_HOLD']) expect(await found(code, on)).toEqual([]);
    expect(await found('DB_UNREACHABLE', on)).toHaveLength(1);
  });

  it('counts as blocked if Sluice put it on hold, but not if a person did', async () => {
    const hold = (who: string) => ({ hold: () => ({ who, since: now - 5, why: 'it blocked the process' }) });
    expect(await found(undefined, hold('ada@desk'))).toEqual([]);
    expect((await found('X', hold('sluice'))).map(({ kind, jobs }) => [kind, jobs])).toEqual([
      ['blocked', ['orders']],
      ['blocked', ['stock']],
    ]);
  });

  it('causes a warning while its run is retried, and counts as failing after 15 minutes or if its data is stale', async () => {
    const retried = (since: number) => ({
      nextAttempt: () => ({ since, message: 'tries again soon' }),
      lastRun: () => ({ code: null, message: null, next: null }),
    });
    const kinds = async (since: number) =>
      (await found(undefined, retried(since))).map(({ kind, level, jobs }) => [jobs[0], kind, level]);
    const stale = ['stock', 'failed', 'error'];
    expect(await kinds(now - 15 * minute + 1)).toEqual([['orders', 'retrying', 'warning'], stale]);
    expect(await kinds(now - 15 * minute)).toEqual([['orders', 'failed', 'error'], stale]);
  });
});

it('a login that needs a user causes an error, or only a warning while its token is still valid', () => {
  const jobs = [job('orders', { source: 'shop', login: 'crm' }), job('stock')];
  const of = (more: object) => loginConditions(snapshotOf({}, { jobs, needy: [{ login: 'crm', ...more }] as never }));
  const sources = ['shop', 'depot', 'shop'];
  expect(of({ sources, state: 'refused', message: 'the vendor ended it' })).toMatchObject([
    { subject: 'login:crm', level: 'error', jobs: ['orders'], fix: 'sluice login shop' },
  ]);
  expect(of({ sources, state: 'refused', message: 'it ended' })[0]!.what).toBe('it ended; used by shop, depot');
  expect(of({ sources: [], state: 'needs a person' })).toMatchObject([
    { level: 'error', what: 'no one has logged in', fix: 'sluice login crm' },
  ]);
  expect(of({ sources: ['shop'], state: 'ends soon', expires_at: now + hour, message: 'x' })).toMatchObject([
    { level: 'warning', what: expect.stringContaining('the token expires at 2026-06-15 13:00:00Z') },
  ]);
});

it('a failing alert channel causes an error that contains the number of waiting messages', async () => {
  const channels = [
    { channel: 'ops', problem: 'HTTP 500', waiting: 2 },
    { channel: 'alive', problem: 'timeout', waiting: 0 },
    { channel: 'fine', waiting: 0 },
    { channel: 'former', problem: 'HTTP 404', waiting: 1 },
  ];
  const types = { ops: 'slack', alive: 'heartbeat', fine: 'slack' };
  const own = new Map(Object.entries(types).map(([name, type]) => [name, { name, type }]));
  const snapshot = snapshotOf({}, { store: { alerts: { channels: async () => channels } } as never });
  expect(await findFailingChannels(snapshot)).toEqual([]);
  const config = { ...snapshot.config, alerts: { channels: own } as never };
  expect(await findFailingChannels({ ...snapshot, config })).toMatchObject([
    {
      subject: 'channel:ops',
      level: 'error',
      what: 'the ops alert channel is failing: HTTP 500; 2 messages are waiting',
    },
    { subject: 'channel:alive', level: 'error', what: 'the alive heartbeat is failing: timeout' },
  ]);
});

it('a clock change causes a warning for an hour, whether the clock was set forward or back', async () => {
  const found = (at: number | undefined) => {
    const text = at === undefined ? undefined : JSON.stringify({ at, by: -600_000 });
    return findClockSet(snapshotOf({}, { store: { settings: { find: async () => text } } as never }));
  };
  for (const at of [now, now - hour + 1, now + hour - 1]) {
    expect(await found(at)).toMatchObject([{ kind: 'clock', level: 'warning', since: at, jobs: [] }]);
  }
  for (const at of [undefined, now - hour, now + hour]) expect(await found(at)).toEqual([]);
});

describe("schedules that don't fire", () => {
  const live = { ticking: true } as Liveness;
  const nextFiring = ({ name }: Job) => (name === 'orders' ? now - minute : now + 1);
  const owing = { waitingOf: (name: string) => (name === 'stock' ? [payload({ job: name })] : []) };

  it("are reported if the daemon's scheduler has stopped, in this process or another", () => {
    const stopped = { kind: 'scheduler', level: 'error', what: 'no schedule was checked', jobs: ['orders'] };
    const dead = { ticking: false, message: 'no schedule was checked' } as Liveness;
    expect(findStopped(snapshotOf({ nextFiring }), dead)).toMatchObject([stopped]);
    const daemon = { owner: 'x', takenAt: 0, stopped: 'no schedule was checked' };
    expect(findStopped(snapshotOf({ nextFiring, daemon }), undefined)).toMatchObject([stopped]);
    expect(findStopped(snapshotOf({ nextFiring, daemon }), live)).toEqual([]);
  });

  it('are reported as a missing daemon if something is due or owed', () => {
    expect(findStopped(snapshotOf(), undefined)).toEqual([]);
    expect(findStopped(snapshotOf({ nextFiring, ...owing }), live)).toEqual([]);
    expect(findStopped(snapshotOf({ nextFiring, ...owing }), undefined)).toMatchObject([
      { kind: 'daemon', level: 'error', since: now - hour, jobs: ['orders', 'stock'], fix: 'sluice run' },
    ]);
    expect(findStopped(snapshotOf({ nextFiring }), undefined)).toMatchObject([
      { since: now - minute, jobs: ['orders'], what: expect.stringMatching(/: 1 job is overdue$/) },
    ]);
    expect(findStopped(snapshotOf(owing), undefined)).toMatchObject([
      { jobs: ['stock'], what: expect.stringMatching(/: 1 job has payloads that are not being sent$/) },
    ]);
    const ran = { nextFiring, lastRun: () => ({ started_at: now - minute }) };
    expect(findStopped(snapshotOf(ran), undefined), 'a timer ran it').toEqual([]);
  });
});

describe('stale data', () => {
  const stateful = { alerts: { watched: async () => new Map() }, throttledJobs: { ends: async () => new Map() } };

  /** The job's condition if its newest data is from `published`. */
  async function found(cron: string, published: number, { staleness = new Staleness(), alerts = {} } = {}) {
    const jobs = [{ ...job('orders'), schedule: { cron, timezone: 'UTC' } }];
    const snapshot = snapshotOf({ publishedAsOf: () => published }, { jobs, store: stateful as never });
    return staleness.find({ ...snapshot, config: { ...snapshot.config, ...alerts } });
  }

  it('is reported after three missed firings, but not within the first hour', async () => {
    expect(await found('0 * * * *', now - 3 * hour)).toMatchObject([{ kind: 'stale', level: 'error', since: now }]);
    expect(await found('0 * * * *', now - 2 * hour)).toEqual([]);
    expect(await found('*/10 * * * *', now - hour - minute)).toMatchObject([{ since: now - minute }]);
    expect(await found('*/10 * * * *', now - hour + 1)).toEqual([]);
  });

  it('is no longer reported once there is newer data, or if the config disables it', async () => {
    const staleness = new Staleness();
    expect(await found('0 * * * *', now - 5 * hour, { staleness })).toHaveLength(1);
    expect(await found('0 * * * *', now - 2 * hour, { staleness })).toEqual([]);
    const never = { alerts: { staleAfterMs: false } };
    expect(await found('0 * * * *', now - 5 * hour, { alerts: never })).toEqual([]);
  });
});

it('a config error is reported once, either for its job or for the whole config', () => {
  const fault = (place: string, message = 'not a number') => ({ code: 'CONFIG_WRONG_VALUE', place, message });
  const own = fault('sluice.yaml:7');
  const of = (...faults: object[]) => {
    const taken = {
      file: 'sluice.yaml',
      at: now,
      faults: [own, ...faults],
      leftOut: [{ job: 'stock', faults: [own] }],
    };
    return findConfigFaults(snapshotOf({}, { taken: taken as never })).map(({ kind }) => kind);
  };
  expect(of()).toEqual(['left_out']);
  for (const other of [fault('sluice.yaml:9'), fault('sluice.yaml:7', 'too large')]) {
    expect(of(other)).toEqual(['left_out', 'config']);
  }
});

describe("an account's daily allowance", () => {
  const account = { destinations: ['main'], day: '2026-06-15', limit: 1000, others: 0, turns_at: now + 16 * hour };
  /** What is reported about an account for which nothing is planned for the rest of the day. */
  async function found(more: object, { reserve = 0, waiting = [] as object[] } = {}) {
    const own = { ...destination, reserveRequests: reserve };
    const jobs = [jobOf({ name: 'orders', destination: own, instance: 'i', source: new Source() })];
    const snapshot = snapshotOf({ accounts: [{ ...account, ...more }], waitingOf: () => waiting }, { jobs });
    return new QuotaShortages().find({ ...snapshot, config: { ...snapshot.config, jobs: new Map() } });
  }
  const levels = async (...given: Parameters<typeof found>) => (await found(...given)).map(({ level }) => level);

  it('causes an error if nothing is left for schedules, no matter which program used it', async () => {
    expect(await levels({ used: 1000 })).toEqual(['error']);
    expect(await levels({ used: 900 }, { reserve: 100 })).toEqual(['error']);
    const told = await found({ used: 3, spent_until: now + hour });
    expect(told).toMatchObject([
      { level: 'error', what: expect.stringContaining('the service reports that no requests are left') },
    ]);
    expect((await found({ used: 900 }, { reserve: 100 }))[0]!.what).toContain('100 are reserved for manual runs');
  });

  it('causes a warning if less than a tenth is left, or if a payload waits for it', async () => {
    expect(await levels({ used: 901 })).toEqual(['warning']);
    expect(await levels({ used: 900 })).toEqual([]);
    expect(await levels({ used: 811 }, { reserve: 100 })).toEqual(['warning']);
    const waiting = [payload({ code: 'QUOTA_SPENT' })];
    expect(await found({ used: 5 }, { waiting })).toMatchObject([{ level: 'warning', jobs: ['orders'] }]);
    expect(await levels({ used: 5 }, { waiting: [payload({ code: 'DELIVERY_FAILED' })] })).toEqual([]);
  });
});
