import { describe, expect, it, onTestFinished } from 'vitest';
import type { Job } from '../../../src/config/config.ts';
import { explainJob } from '../../../src/daemon/explain/explain.ts';
import { Heartbeat } from '../../../src/daemon/process/heartbeat.ts';
import { reportStatus } from '../../../src/daemon/report/report-status.ts';
import { scheduleKey } from '../../../src/schedule/schedule.ts';
import type { RunEnd } from '../../../src/state/runs/runs.ts';
import { noon, SteppingClock } from '../../clocks.ts';
import { makeFolder } from '../../journey/process.ts';
import { cleanUp, newStore, oweText } from '../../state/fixtures.ts';
import { configOf, destinationOf, jobOf, Source } from '../rig.ts';

const hour = 3_600_000;

/** An hourly job that ran at noon, a firing due an hour later, and a clock two hours after that. */
async function setUp({ ended = { state: 'unchanged' }, ...more }: { ended?: RunEnd } & Partial<Job> = {}) {
  onTestFinished(cleanUp);
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const destination = destinationOf('http://127.0.0.1:1/api/1.0');
  const job: Job = { ...jobOf({ name: 'orders', destination, instance: 'a', source: new Source() }), ...more };
  const config = configOf(await makeFolder(), [job]);
  const run = async () => store.runs.finish(await store.runs.begin({ job: 'orders', origin: 'schedule' }), ended);
  await run();
  await store.schedules.set({ job: 'orders', schedule: scheduleKey(job.schedule!), next_at: noon + hour });
  clock.advance(3 * hour);
  const given = { config, store, clock };
  return {
    clock,
    store,
    job,
    given,
    run,
    explain: () => explainJob(job, given),
    status: () => reportStatus(config, store, clock),
  };
}

describe("a state that isn't writable", () => {
  it('takes precedence over owed payloads, and explain says when the daemon continues', async () => {
    const { store, job, given } = await setUp();
    await store.leases.take('daemon');
    await oweText(store, { job: 'orders', instance: 'a', text: 'x', asOf: noon });
    const condition = {
      subject: 'state',
      kind: 'state',
      level: 'error',
      since: noon,
      what: 'the state is not writable: Disk full',
      jobs: ['orders'],
      code: 'STATE_FULL',
      fix: 'free some space',
    } as const;
    const { verdict, because, next, fix } = await explainJob(job, { ...given, conditions: [condition] });
    expect(verdict).toBe('the state is not writable');
    expect(because[0]).toEqual({ at: noon, message: condition.what, code: 'STATE_FULL' });
    expect(because[1]?.message).toBe('the payload is on disk, waiting to be sent; no data is lost');
    expect(next).toEqual({ message: 'the daemon continues once the state is writable again' });
    expect(fix).toBe('free some space');
  });
});

describe('a due firing', () => {
  it('makes the job late if no daemon is running, even if its last run was successful', async () => {
    const { explain } = await setUp();
    const { verdict, because, fix } = await explain();
    expect(verdict).toBe('late: no daemon is running');
    expect(because[0]).toEqual({ at: noon + hour, message: 'a run was due' });
    expect(fix).toBe('sluice run, or, for a single run, sluice sync orders');
  });

  it("doesn't make the job late if another process has run it since", async () => {
    const { run, explain } = await setUp();
    await run();
    expect((await explain()).verdict).toBe('up to date, nothing new in the source');
  });

  it('is explained by a stopped scheduler if the daemon is running, also in status', async () => {
    const { store, clock, explain, status } = await setUp();
    await store.leases.take('daemon');
    const ticking = { silence: 20_000, overdue: 0, scheduled: 1 };
    const pulse = new Heartbeat({ store, clock, ticking: () => ticking });
    await pulse.write();
    expect((await explain()).verdict).toBe('due, queued');
    expect((await status()).daemon?.stopped).toBeUndefined();
    clock.advance(5 * 60_000);
    const { verdict, because, fix } = await explain();
    expect(verdict).toBe('late: the schedules have stopped');
    expect(because[1]?.message).toContain('no heartbeat from the daemon for 300 s');
    expect(fix).toContain('restart the daemon');
    expect((await status()).daemon).toMatchObject({ stopped: 'no heartbeat from the daemon for 300 s' });
  });

  it("is ignored for a disabled job, which isn't called up to date", async () => {
    const { explain } = await setUp({ enabled: false });
    expect((await explain()).verdict).toBe('showing the last result: the job is disabled');
  });
});

it('explain still shows the last publication, marked as uncertain, if a later request got no response', async () => {
  const { store, clock, explain, status } = await setUp();
  const at = clock.now();
  const attempt = async (text: string) => {
    const { owed } = await oweText(store, { instance: 'a', text, asOf: clock.now(), job: 'orders' });
    return (await store.outbox.attempt(owed.state === 'owed' ? owed.id : 0))!;
  };
  await store.outbox.delivered(await attempt('id\n1\n'));
  expect(await explain()).toMatchObject({ shows_as_of: at });
  expect((await explain()).in_doubt).toBeUndefined();
  clock.advance(60_000);
  await attempt('id\n2\n');
  expect(await explain()).toMatchObject({ shows_as_of: at, in_doubt: true });
  expect((await status()).jobs[0]).toMatchObject({ last_delivered_at: at });
});

it("explain shows the fix from a failed run's error", async () => {
  const problem = { code: 'DB_QUERY_FAILED', message: 'no such column: nosuch', next: 'fix the query' };
  const { explain } = await setUp({ ended: { state: 'failed', problem } });
  expect(await explain()).toMatchObject({ verdict: 'failing', fix: 'fix the query; then sluice sync orders' });
});

it('explain suggests checking the connections if there is no better advice', async () => {
  const { explain } = await setUp({ ended: { state: 'failed', problem: { code: 'X', message: 'x' } } });
  expect((await explain()).fix).toBe('sluice check --connect; then sluice sync orders');
});

it('explain reports a job whose runs are always canceled by newer firings, and suggests a fix', async () => {
  const next = 'choose another overlap';
  const problem = { code: 'RUN_CANCELLED', message: 'A newer firing took the place of this run', next };
  const { store, run, explain } = await setUp({ ended: { state: 'interrupted', problem } });
  await store.leases.take('job:orders');
  expect((await explain()).verdict).toBe('running');
  await run();
  const { verdict, because, fix } = await explain();
  expect({ verdict, fix }).toEqual({ verdict: 'running, but runs never finish', fix: next });
  expect(because.at(-1)?.message).toMatch(/^each of the last 2 runs was canceled by a newer one/);
});

it("explain doesn't call a job up to date if its process died during a run", async () => {
  const { store, explain } = await setUp();
  await store.runs.begin({ job: 'orders', origin: 'schedule' });
  const { verdict, because } = await explain();
  expect(verdict).toBe('interrupted');
  expect(because[0]).toMatchObject({ code: 'RUN_INTERRUPTED' });
});
