import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { Console } from '../../src/console/console.ts';
import { ConditionScanner } from '../../src/daemon/alerting/condition-scanner.ts';
import { conditionKinds } from '../../src/daemon/conditions/condition.ts';
import { readConditions } from '../../src/daemon/conditions/read-conditions.ts';
import { saveRecord, saveRejection } from '../../src/daemon/config/config-record.ts';
import { examineFullness } from '../../src/daemon/doctor/fullness.ts';
import type { SluiceEvents } from '../../src/daemon/events.ts';
import { explainJobs } from '../../src/daemon/explain/explain.ts';
import { Gauges } from '../../src/daemon/monitor/gauges.ts';
import { Readiness } from '../../src/daemon/monitor/readiness.ts';
import { reportPlan } from '../../src/daemon/plan/report-plan.ts';
import { Heartbeat } from '../../src/daemon/process/heartbeat.ts';
import { reportStatus } from '../../src/daemon/report/report-status.ts';
import { dayOf, untilMidnight } from '../../src/delivery/quota.ts';
import { Events } from '../../src/lib/events.ts';
import { Problem } from '../../src/lib/problem.ts';
import type { Lease } from '../../src/state/processes/leases.ts';
import { SteppingClock } from '../clocks.ts';
import { parseExposition } from '../daemon/monitor/exposition.ts';
import { configOf, destinationOf, jobOf, Source } from '../daemon/rig.ts';
import fc, { runsOf } from '../property.ts';
import { cleanUp, newStore, oweText, spool } from '../state/fixtures.ts';

const names = ['orders', 'stock', 'returns'] as const;
const url = 'http://127.0.0.1:1/api/1.0';
const note = { file: '/nowhere/sluice.yaml', sha256: '0', faults: [], leftOut: [], shown: '' };
const fault = new Problem({ code: 'CONFIG_WRONG_VALUE', family: 'config', message: 'not a number' });

const job = fc.constantFrom(...names);
const step = fc.oneof(
  fc.record({
    what: fc.constantFrom(
      'fail',
      'retry',
      'stop',
      'succeed',
      'publish',
      'kill',
      'quarantine',
      'hold',
      'block',
      'leave out',
    ),
    job,
  }),
  fc.record({
    what: fc.constant('owe'),
    job,
    code: fc.constantFrom('UNREACHABLE', 'LOGIN_NEEDED', 'QUOTA_SPENT', 'RATE_LIMITED'),
  }),
  fc.record({ what: fc.constant('owe'), job: fc.constant('gone'), code: fc.constant('UNREACHABLE') }),
  fc.record({ what: fc.constant('wait'), hours: fc.constantFrom(0.3, 2, 5) }),
  fc.record({
    what: fc.constantFrom(
      'refuse a reload',
      'break a channel',
      'stop the daemon',
      'start the daemon',
      'fill the disk',
      'use up the day',
      'have others use the day',
    ),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** A store with a random history, and the user interfaces that read it. */
async function newWorld() {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const destination = destinationOf(url, { whenShort: 'throttle' });
  const jobs = names.map((name) => jobOf({ name, instance: name, source: new Source(), destination }));
  const ops = { name: 'ops', type: 'slack', url: 'http://127.0.0.1:1', timeoutMs: 1_000 } as const;
  const alerts = {
    channels: new Map([['ops', ops]]),
    rules: [],
    firstFailure: true,
    afterFailures: 3,
    remindMs: 86_400_000,
    recovery: true,
    settleMs: 0,
    unsentAfterMs: 900_000,
    quotaLeft: 0.1,
  };
  let config: Config = { ...configOf('/nowhere', jobs), alerts };
  const pulse = new Heartbeat({ store, clock, ticking: () => ({ silence: 0, overdue: 0, scheduled: 3 }) });
  const end = async (name: string, more: object) =>
    store.runs.finish(await store.runs.begin({ job: name, origin: 'schedule' }), more as never);
  let lease: Lease | undefined;
  let texts = 0;
  const owe = async (name: string) =>
    (await oweText(store, { instance: name, text: `id\n${++texts}\n`, asOf: clock.now(), job: name })).owed;
  const acts: Record<string, (one: Step & { job: string; code: string; hours: number }) => Promise<unknown>> = {
    fail: ({ job: name }) => end(name, { state: 'failed', problem: { code: 'DB_UNREACHABLE', message: 'refused' } }),
    async retry({ job: name }) {
      if ((await store.retries.find(name)) !== undefined) return;
      const run = await store.runs.begin({ job: name, origin: 'schedule' });
      const now = Math.round(clock.now());
      const waits = { fired_at: now, logical_at: null, attempt: 1, waits: 1, since: now };
      const row = { job: name, run, ...waits, next_at: now + 60_000, until: now + 3_600_000, facts: null };
      await store.retries.plan(run, { code: 'DB_UNREACHABLE', message: 'refused' }, row);
    },
    stop: ({ job: name }) => end(name, { state: 'interrupted', problem: { code: 'STOPPED', message: 'told to stop' } }),
    succeed: ({ job: name }) => end(name, { state: 'unchanged' }),
    async publish({ job: name }) {
      const owed = await owe(name);
      const row = owed.state === 'owed' ? await store.outbox.attempt(owed.id) : undefined;
      if (row !== undefined) await store.outbox.delivered(row);
    },
    async kill({ job: name }) {
      const owed = await owe(name);
      if (owed.state === 'owed') await store.outbox.markDead(owed.id, { code: 'DELIVERY_REFUSED', message: 'no' });
    },
    async quarantine({ job: name }) {
      const run = await store.runs.begin({ job: name, origin: 'schedule' });
      const payload = spool(store, { run, text: `few ${++texts}`, asOf: clock.now() });
      const goes = { destination: { name: 'main', url }, instance: name, mediaType: 'text/csv', always: false };
      await store.quarantine.put({ run, job: name, payload, ...goes }, { findings: '[]', message: 'only 3 rows' });
    },
    hold: ({ job: name }) => store.holds.set(name, { who: 'ann', why: 'rollback' }),
    block: ({ job: name }) => store.holds.set(name, { who: 'sluice', why: 'two of its runs blocked the process' }),
    async 'leave out'({ job: name }) {
      const left = config.jobs.get(name);
      if (left === undefined) return;
      config = {
        ...config,
        jobs: new Map([...config.jobs].filter(([one]) => one !== name)),
        leftOut: new Map([...(config.leftOut ?? []), [name, [fault]]]),
      };
    },
    async owe({ job: name, code }) {
      const owed = await owe(name);
      if (owed.state === 'owed') await store.outbox.postpone(owed.id, { code, message: 'said so', free: false });
    },
    wait: async ({ hours }) => clock.advance(hours * 3_600_000),
    'refuse a reload': () => saveRejection(note, { store, clock }, [fault]),
    'break a channel': () => store.alerts.beaten('ops', { problem: 'HTTP 500' }),
    async 'fill the disk'() {
      config = { ...config, disk: { limitBytes: 10_000_000_000, freeBytes: Number.MAX_SAFE_INTEGER } };
    },
    'use up the day': () => {
      const now = clock.now();
      return store.quota.close(destination.account, dayOf(now), now + untilMidnight(now));
    },
    'have others use the day': () =>
      store.quota.reconcile(destination.account, dayOf(clock.now()), { reported: 990, allowance: undefined }),
    async 'stop the daemon'() {
      await lease?.release();
      lease = undefined;
    },
    async 'start the daemon'() {
      lease ??= await store.leases.take('daemon');
      await saveRecord(note, { store, clock });
    },
  };
  await acts['start the daemon']!({} as never);
  return { store, clock, pulse, config: () => config, play: (one: Step) => acts[one.what]!(one as never) };
}

/** What every user interface reports, taken from its output and not from its input. */
async function surfacesOf({ store, clock, pulse, config }: Awaited<ReturnType<typeof newWorld>>) {
  if ((await store.leases.holder('daemon')) !== undefined) await pulse.write();
  const status = await reportStatus(config(), store, clock);
  const page = (await new Console({ config, store, clock, version: '1' }).answer(new URL('http://monitor/')))!.text;
  const conditions = () => readConditions(config(), store, { clock });
  const events = new Events<SluiceEvents>();
  const around = { unwritable: () => store.unwritable(), jobs: () => config().jobs.size };
  const ready = await new Readiness({ events, heartbeat: pulse, conditions, ...around }).ready();
  const registry = new Registry();
  const ticking = () => ({ silence: 0, overdue: 0, scheduled: 3 });
  await new Gauges({ registry, store, clock, config, ticking, heartbeat: pulse, conditions }).read();
  const metric = parseExposition(await registry.metrics()).find(({ name }) => name === 'sluice_conditions')!;
  const explained = await explainJobs([...config().jobs.values()], { config: config(), store, clock });
  const { alerts } = config();
  const look = await new ConditionScanner().scan({
    config: config(),
    alerts: alerts!,
    store,
    clock,
    liveness: undefined,
  });
  const told = new Set(look.conditions.map(({ subject }) => subject));
  const plan = await reportPlan({ config: config(), store, now: clock.now() });
  const inFolder = { ...config(), state: store.folder };
  const fullness = examineFullness(inFolder, await store.outbox.inState('owed', 'quarantined', 'dead', 'delivered'));
  return { status, page, ready, metric, explained, told, plan, fullness };
}

const bad = /^(failing|quarantined|dead|credentials refused|needs a login|on hold|late)/;

it('all user interfaces agree on whether anything is wrong and which jobs are affected, after any history', async () => {
  await fc.assert(
    fc
      .asyncProperty(fc.array(step, { maxLength: 8 }), async (history) => {
        const world = await newWorld();
        for (const one of history) await world.play(one);
        const { status, page, ready, metric, explained, told, plan, fullness } = await surfacesOf(world);
        const { conditions, jobs, left_out } = status;
        const errors = new Set(conditions.flatMap((one) => (one.level === 'error' ? one.jobs : [])));
        const warned = new Set(conditions.flatMap((one) => one.jobs));

        expect(left_out).toEqual([...(world.config().leftOut ?? new Map()).keys()]);
        const count = jobs.length + left_out.length;
        const title = /<h1[^>]*>([^<]*)</.exec(page)![1];
        if (conditions.length === 0) expect(title).toBe(`All ${count} jobs healthy`);
        else expect(title).not.toBe(`All ${count} jobs healthy`);
        const rows = [...page.matchAll(/<tr><td><a href="\/jobs\/(\w+)">[^✖◔✔○]*([✖◔✔○])/g)];
        expect(
          rows
            .filter(([, , sign]) => sign === '✖')
            .map(([, name]) => name)
            .sort(),
        ).toEqual([...errors].sort());

        const shown = metric.samples.filter(({ value }) => value > 0);
        for (const kind of conditionKinds) {
          const told = shown.filter(({ labels }) => labels.kind === kind).reduce((sum, { value }) => sum + value, 0);
          expect(told, kind).toBe(conditions.filter((one) => one.kind === kind).length);
        }
        const unready = ['left_out', 'reload_refused', 'credentials'];
        expect(ready.every(({ ok }) => ok)).toBe(
          !conditions.some(({ kind, level }) => unready.includes(kind) || (kind === 'disk' && level === 'error')),
        );

        expect(fullness.some(({ ok }) => !ok)).toBe(conditions.some(({ kind }) => kind === 'disk'));
        const quota = conditions.filter(({ kind }) => kind === 'quota');
        const [account] = plan.accounts;
        const isShort = account!.spent_until !== undefined || account!.throttled.length > 0;
        if (isShort) expect(quota, "plan says that the day's allowance doesn't suffice").not.toEqual([]);
        const isWanted = account!.worst.wanted > 0;
        if (quota.some(({ level }) => level === 'error') && isWanted) expect(plan.fits).toBe(false);

        const subjects = (some: typeof conditions) => some.map(({ subject }) => subject);
        const ofJobs = conditions.filter(
          ({ subject, kind }) => subject.startsWith('job:') && !['left_out', 'retrying'].includes(kind),
        );
        expect([...told]).toEqual(expect.arrayContaining(subjects(ofJobs)));
        expect(subjects([...conditions])).toEqual(expect.arrayContaining([...told]));

        for (const { job: name, verdict } of explained) {
          if (/^up to date/.test(verdict)) expect(warned, `${name}: ${verdict}`).not.toContain(name);
          if (bad.test(verdict)) expect(errors, `${name}: ${verdict}`).toContain(name);
        }
      })
      .afterEach(cleanUp),
    {
      numRuns: runsOf(40),
      examples: [
        // Found by chance: both happen in the same millisecond.
        [
          [
            { what: 'publish', job: 'orders' },
            { what: 'kill', job: 'orders' },
          ],
        ],
      ],
    },
  );
});
