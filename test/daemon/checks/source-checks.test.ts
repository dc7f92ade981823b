import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Config, Job } from '../../../src/config/config.ts';
import { readChecks } from '../../../src/daemon/checks/check-results.ts';
import { SourceChecks } from '../../../src/daemon/checks/source-checks.ts';
import type { SluiceEvents } from '../../../src/daemon/events.ts';
import { explainJob } from '../../../src/daemon/explain/explain.ts';
import { LoginBreaker } from '../../../src/daemon/login-holds/login-breaker.ts';
import { reportStatus } from '../../../src/daemon/report/report-status.ts';
import { Events } from '../../../src/lib/events.ts';
import { quietLog } from '../../../src/lib/log.ts';
import { Problem } from '../../../src/lib/problem.ts';
import { VirtualClock } from '../../../src/lib/virtual-clock.ts';
import { type Connector, defineConnector } from '../../../src/sdk/connector.ts';
import { noon } from '../../clocks.ts';
import { cleanUp, newStore } from '../../state/fixtures.ts';
import { configOf, destinationOf, jobOf, Source } from '../rig.ts';

afterEach(cleanUp);

const minute = 60_000;
const hour = 60 * minute;

/** Sources whose responses a test controls, and the virtual times of their checks. */
class Town {
  readonly clock = new VirtualClock(noon);
  readonly asked = new Map<string, number[]>();
  open = 0;
  most = 0;
  says: (source: string, signal: AbortSignal) => Promise<string> = async () => 'fine';

  connectorOf(source: string): Connector {
    return defineConnector({
      id: 'town',
      title: 'Town',
      summary: 'Made by a test.',
      source: {},
      query: {},
      check: async ({ signal }) => {
        this.asked.set(source, [...(this.asked.get(source) ?? []), (this.clock.now() - noon) / minute]);
        this.open++;
        this.most = Math.max(this.most, this.open);
        try {
          return await this.says(source, signal);
        } finally {
          this.open--;
        }
      },
      extract: () => Promise.reject(new Error('not here')),
    });
  }
}

/**
 * A store, and checks of these sources, which run until the test ends. Each source is read by a job of the same name.
 */
async function look(
  town: Town,
  sources: Readonly<Record<string, { checkEveryMs?: number }>>,
  { probe = false }: { probe?: boolean } = {},
) {
  const { clock } = town;
  const store = await newStore({ clock });
  const events = new Events<SluiceEvents>();
  const destination = destinationOf('http://127.0.0.1:1/api/1.0');
  const jobs = Object.entries(sources).map(([name, every]): Job => {
    const job = jobOf({ name, destination, instance: name, source: new Source(), cron: '0 0 1 1 *' });
    const source = { name, connector: town.connectorOf(name), options: {}, ...every };
    return { ...job, extract: { ...job.extract!, source } };
  });
  const known = jobs.map(({ name, extract }) => [name, extract!.source] as const);
  const config: Config = { ...configOf('/nowhere', jobs), sources: new Map(known) };
  const loginGate = new LoginBreaker({ store, clock, emit: events.emit, folder: '/nowhere' });
  const runtime = { store, events, clock, log: quietLog, loginGate };
  const checks = new SourceChecks({ runtime, config: () => config });
  checks.start({ probe });
  onTestFinished(() => checks.stop());
  /** Lets this much time pass. */
  const pass = (milliseconds: number) => clock.drive(clock.sleep(milliseconds));
  return { store, events, config, clock, pass };
}

const refuses = () =>
  Promise.reject(
    new Problem({ code: 'TOWN_SHUT', family: 'try_later', message: 'the gate is shut', next: 'knock louder' }),
  );

describe('source checks', () => {
  it('happen once per interval, and never if no interval is set', async () => {
    const town = new Town();
    const { pass } = await look(town, { daily: { checkEveryMs: 6 * hour }, often: {} });
    await pass(24 * hour + minute);
    expect(town.asked.get('daily')?.map((at) => Math.round(at / 60))).toEqual([0, 6, 12, 18, 24]);
    expect(town.asked.has('often')).toBe(false);
  });

  it('happen once at startup with a probe, and then every 15 minutes until the source responds', async () => {
    const town = new Town();
    town.says = refuses;
    const { pass, store } = await look(town, { often: {} }, { probe: true });
    await pass(40 * minute);
    expect(town.asked.get('often')).toHaveLength(3);
    expect((await readChecks(store)).get('often')?.trouble).toMatchObject({ since: noon, code: 'TOWN_SHUT' });
    town.says = async () => 'fine';
    await pass(10 * hour);
    expect(town.asked.get('often')).toHaveLength(4);
    expect((await readChecks(store)).get('often')?.trouble).toBeUndefined();
  });

  it('skip a refused login except for due attempts, and lift its hold once an attempt succeeds', async () => {
    const town = new Town();
    const refused = { code: 'TOWN_REFUSED', family: 'login', message: 'wrong password', isLoginRefused: true } as const;
    town.says = () => Promise.reject(new Problem(refused));
    const { pass, store } = await look(town, { often: { checkEveryMs: 30 * minute } }, { probe: true });
    await pass(28 * hour);
    expect(town.asked.get('often')?.map((at) => Math.floor(at / 60))).toEqual([0, 1, 5]);
    expect(await store.loginHolds.all()).toMatchObject([{ refusals: 3, place: 'source often' }]);
    town.says = async () => 'fine';
    await pass(3 * hour);
    expect(await store.loginHolds.all()).toEqual([]);
    expect(town.asked.get('often')?.length).toBeGreaterThan(4);
  });

  it('are skipped if a run has read the source since the last check', async () => {
    const town = new Town();
    const { pass, store } = await look(town, { daily: { checkEveryMs: 6 * hour } });
    await pass(5 * hour);
    const run = await store.runs.begin({ job: 'daily', origin: 'schedule' });
    await store.runs.finish(run, { state: 'unchanged', rows: 0, bytes: 0 });
    await pass(5 * hour);
    expect(town.asked.get('daily')).toHaveLength(1);
    await pass(1 * hour + 15 * minute);
    expect(town.asked.get('daily')).toHaveLength(2);
  });

  it("wait while a run of one of the source's jobs is active, and are canceled if such a run starts", async () => {
    const town = new Town();
    const { pass, store, events } = await look(town, { daily: { checkEveryMs: 1 * hour } });
    await pass(10 * minute);
    const lease = await store.leases.take('job:daily');
    await pass(3 * hour);
    expect(town.asked.get('daily')).toHaveLength(1);
    const under = Promise.withResolvers<AbortSignal>();
    town.says = (_, signal) => {
      under.resolve(signal);
      return new Promise<never>((__, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    await lease!.release();
    const passing = pass(10 * minute);
    const signal = await under.promise;
    const before = (await readChecks(store)).get('daily');
    events.emit('run.started', { job: 'daily', run: 'r', origin: 'schedule' });
    expect(signal.aborted).toBe(true);
    await store.runs.begin({ job: 'daily', origin: 'schedule' });
    town.says = async () => 'fine';
    await passing;
    expect((await readChecks(store)).get('daily')).toEqual(before);
  });

  it('run two at a time, no matter how many are due', async () => {
    const town = new Town();
    town.says = async () => {
      await town.clock.sleep(10_000);
      return 'fine';
    };
    const names = Array.from({ length: 9 }, (_, i) => `town${i}`);
    const { pass } = await look(town, Object.fromEntries(names.map((name) => [name, { checkEveryMs: hour }])));
    await pass(5 * minute);
    expect(town.asked.size).toBe(9);
    expect(town.most).toBe(2);
  });

  it("give up on a source that hasn't responded for a minute, even if it ignores the abort signal", async () => {
    const town = new Town();
    town.says = () => new Promise<never>(() => undefined);
    const { pass, store } = await look(town, { mute: { checkEveryMs: hour } });
    await pass(2 * minute);
    expect((await readChecks(store)).get('mute')?.trouble).toMatchObject({ code: 'CHECK_SILENT' });
  });

  it('are shown by status and explain before a run fails, until a run reads the source', async () => {
    const town = new Town();
    town.says = refuses;
    const { pass, clock, store, config } = await look(town, { yearly: { checkEveryMs: hour } });
    await pass(minute);
    const job = config.jobs.get('yearly')!;
    const { jobs } = await reportStatus(config, store, clock);
    expect(jobs[0]).toMatchObject({
      state: 'never ran',
      silent_source: { source: 'yearly', since: noon, message: 'the gate is shut' },
    });
    const story = await explainJob(job, { config, store, clock });
    expect(story.because[0]).toMatchObject({ message: expect.stringContaining('the gate is shut'), code: 'TOWN_SHUT' });
    expect(story.fix).toBe('knock louder');
    const run = await store.runs.begin({ job: 'yearly', origin: 'person' });
    await store.runs.finish(run, { state: 'unchanged', rows: 0, bytes: 0 });
    expect((await reportStatus(config, store, clock)).jobs[0]?.silent_source).toBeUndefined();
    expect(await explainJob(job, { config, store, clock })).toMatchObject({
      verdict: expect.not.stringContaining('fail'),
    });
  });
});
