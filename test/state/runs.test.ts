import { afterEach, describe, expect, it } from 'vitest';
import { runDetail } from '../../src/cli/output/run-detail.ts';
import { SteppingClock } from '../clocks.ts';
import { cleanUp, newFolder, newStore, oweText, Population, place, spool } from './fixtures.ts';

afterEach(cleanUp);

async function setUp() {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const begin = (job: string, origin: 'schedule' | 'person' = 'schedule') => store.runs.begin({ job, origin });
  const fail = async (job: string, origin?: 'person') => {
    clock.advance(1000);
    const run = await begin(job, origin);
    await store.runs.finish(run, { state: 'failed', problem: { code: 'DB_UNREACHABLE', message: 'no' } });
    return run;
  };
  const end = async (job: string, state: 'unchanged' | 'refreshed' | 'superseded') => {
    await store.runs.finish(await begin(job), { state });
  };
  return { clock, store, begin, fail, end };
}

describe('runs', () => {
  it('have a duration measured by a monotonic clock', async () => {
    const { clock, store, begin } = await setUp();
    const run = await begin('orders');
    clock.advance(2_000);
    clock.wall += 3_600_000;
    await store.runs.finish(run, { state: 'superseded' });
    const ended = (await store.runs.find(run))!;
    expect(ended.ended_at! - ended.started_at).toBe(3_602_000);
    expect(ended.took_ms).toBe(2_000);
    expect(runDetail(ended)).toContain('took 2.0 s');
  });

  it('have no duration if the machine was restarted during the run', async () => {
    const folder = newFolder();
    const processes = { ...new Population().member('before'), sharesBoot: () => false };
    const before = await newStore({ folder, clock: new SteppingClock(), processes });
    const run = await before.runs.begin({ job: 'orders', origin: 'schedule' });
    await before.runs.finish(run, { state: 'superseded' });
    expect((await before.runs.find(run))!.took_ms).toBeNull();
    expect(runDetail((await before.runs.find(run))!)).toMatch(/began .*, ended 20/);
  });

  it('that failed count as failing since their first attempt', async () => {
    const { store, clock, begin } = await setUp();
    const since = clock.now();
    const run = await begin('orders');
    await store.retries.plan(run, { code: 'DB_UNREACHABLE', message: 'no' });
    clock.advance(60_000);
    await store.retries.begin(run);
    await store.runs.finish(run, { state: 'failed', problem: { code: 'DB_UNREACHABLE', message: 'no' } });
    expect(await store.runs.streaks()).toMatchObject([{ job: 'orders', failures: 1, since }]);
  });

  it('that wait for a retry fail once a later run of the same job waits for a retry', async () => {
    const { store, clock, begin } = await setUp();
    const why = { code: 'DB_UNREACHABLE', message: 'no' };
    const plan = async (run: string) => {
      const [now, job] = [clock.now(), 'orders'];
      const row = { job, run, since: now, fired_at: now, next_at: now, attempt: 1, waits: 1, until: now };
      expect(await store.retries.plan(run, why, { ...row, logical_at: null, facts: null })).toBe(true);
      return run;
    };
    const earlier = await plan(await begin('orders'));
    const later = await plan(await begin('orders'));
    expect(await store.retries.all()).toMatchObject([{ run: later }]);
    expect(await store.runs.find(earlier)).toMatchObject({ state: 'failed', code: 'DB_UNREACHABLE' });
    expect(await store.runs.find(later)).toMatchObject({ state: 'retrying' });
  });

  it('that failed consecutively are counted since the last successful read of the source', async () => {
    const { store, fail, end, clock } = await setUp();
    await fail('orders');
    await end('orders', 'unchanged');
    const since = clock.now() + 1000;
    await fail('orders');
    const last = await fail('orders', 'person');
    await fail('stock');
    await end('stock', 'superseded');
    const streaks = await store.runs.streaks();
    const of = { job: 'orders', failures: 2, firings: 1, since };
    expect(streaks).toMatchObject([{ ...of, last: { id: last, code: 'DB_UNREACHABLE' } }]);
  });

  it("that were stopped or whose payload is dead don't count as failed, but killed runs do from the second one on", async () => {
    const { store, begin, fail } = await setUp();
    const stopped = await begin('stopped');
    await store.runs.finish(stopped, { state: 'interrupted', problem: { code: 'RUN_STOPPED', message: '' } });
    const kill = async (job: string) => {
      const problem = { code: 'RUN_INTERRUPTED', message: '' };
      await store.runs.finish(await begin(job), { state: 'interrupted', problem });
    };
    await kill('killed');
    await fail('failed');
    await kill('failed');
    const { owed } = await oweText(store, { instance: 'i', text: 'x', asOf: 1, job: 'dead' });
    await store.outbox.markDead(owed.state === 'owed' ? owed.id : 0, { code: 'UPLOAD_REFUSED', message: '' });
    const failures = async () => (await store.runs.streaks()).map((streak) => [streak.job, streak.failures]).sort();
    expect(await failures()).toEqual([['failed', 2]]);
    await kill('killed');
    expect(await failures()).toEqual([
      ['failed', 2],
      ['killed', 2],
    ]);
  });

  it("that were canceled by newer firings don't count as failed until there are three in a row", async () => {
    const { store, begin, end, fail } = await setUp();
    const cancel = async () => {
      const problem = { code: 'RUN_CANCELLED', message: 'a newer firing took its place' };
      await store.runs.finish(await begin('slow'), { state: 'interrupted', problem });
    };
    for (let run = 0; run < 2; run++) await cancel();
    expect(await store.runs.streaks()).toEqual([]);
    await cancel();
    expect(await store.runs.streaks()).toMatchObject([{ failures: 3, last: { code: 'RUN_CANCELLED' } }]);
    await end('slow', 'unchanged');
    await cancel();
    await fail('slow');
    expect(await store.runs.streaks()).toMatchObject([{ failures: 2, last: { code: 'DB_UNREACHABLE' } }]);
  });

  it("that were stopped for different reasons don't count as failed until there are enough with the same reason", async () => {
    const { store, begin } = await setUp();
    const stop = async (code: string) =>
      store.runs.finish(await begin('orders'), { state: 'interrupted', problem: { code, message: '' } });
    for (const code of ['RUN_CANCELLED', 'RUN_INTERRUPTED', 'RUN_CANCELLED', 'DISK_STALLED']) await stop(code);
    expect(await store.runs.streaks()).toEqual([]);
    await stop('DISK_STALLED');
    expect(await store.runs.streaks()).toMatchObject([{ job: 'orders', failures: 5, last: { code: 'DISK_STALLED' } }]);
  });

  it("that failed count as failing since the earliest attempt, even if that attempt's run ended last", async () => {
    const { store, clock, begin, fail } = await setUp();
    const since = clock.now();
    const retried = await begin('orders');
    await store.retries.plan(retried, { code: 'DB_UNREACHABLE', message: 'no' });
    await fail('orders');
    clock.advance(60_000);
    await store.retries.begin(retried);
    await store.runs.finish(retried, { state: 'failed', problem: { code: 'DB_UNREACHABLE', message: 'no' } });
    expect(await store.runs.streaks()).toMatchObject([{ failures: 2, since, last: { id: retried } }]);
  });

  it("are listed by job: each job's newest run, or its newest run in a given state", async () => {
    const { store, fail, end } = await setUp();
    await end('orders', 'refreshed');
    const failed = await fail('orders');
    await end('stock', 'refreshed');
    const lasts = new Map((await store.runs.lasts()).map((run) => [run.job, run]));
    expect([lasts.size, lasts.get('orders')?.id, lasts.get('stock')?.state]).toEqual([2, failed, 'refreshed']);
    const refreshed = await store.runs.lasts(['refreshed']);
    expect(refreshed.map(({ job }) => job).sort()).toEqual(['orders', 'stock']);
  });
});

describe('a run of a process that was suspended and considered dead', () => {
  async function twoProcesses() {
    const [folder, clock, people] = [newFolder(), new SteppingClock(), new Population()];
    const open = (self: string) => newStore({ clock, folder, processes: people.member(self) });
    const [paused, other] = [await open('paused'), await open('other')];
    await paused.leases.take('job:orders');
    const run = await paused.runs.begin({ job: 'orders', origin: 'schedule' });
    const asOf = clock.now();
    const payload = spool(paused, { run, text: 'a', asOf });
    const owing = { run, job: 'orders', destination: place, instance: 'i', payload, mediaType: 'x', always: false };
    people.dead.add('paused');
    return { paused, other, run, owing };
  }

  it("is interrupted when another process takes over its job's lease, and can no longer settle its result", async () => {
    const { paused, other, run, owing } = await twoProcesses();
    const lease = await other.leases.take('job:orders');
    expect(lease?.from).toBe('paused');
    const elsewhere = await paused.runs.begin({ job: 'stock', origin: 'schedule' });
    await other.runs.interruptOf('paused', 'orders');
    expect(await other.runs.find(elsewhere)).toMatchObject({ state: 'running' });
    const lost = { code: 'RUN_LOST' };
    await expect(paused.outbox.enqueue(owing)).rejects.toMatchObject(lost);
    await expect(paused.outbox.settleIfShown(owing)).rejects.toMatchObject(lost);
    const verdict = { findings: '[]', message: 'too few rows' };
    await expect(paused.quarantine.put(owing, verdict)).rejects.toMatchObject(lost);
    await paused.runs.finish(run, { state: 'unchanged' });
    expect(await other.runs.find(run)).toMatchObject({ state: 'interrupted', code: 'RUN_INTERRUPTED' });
    expect(await other.outbox.inState('owed', 'quarantined', 'superseded')).toEqual([]);
  });

  it('keeps its result if the result was owed before the job was taken over', async () => {
    const { paused, other, run, owing } = await twoProcesses();
    expect(await paused.outbox.enqueue(owing)).toMatchObject({ state: 'owed' });
    await other.leases.take('job:orders');
    await other.runs.interruptOf('paused', 'orders');
    expect(await other.runs.find(run)).toMatchObject({ state: 'owed' });
  });

  it("can't be settled by another process, even if it was not interrupted", async () => {
    const { other, owing } = await twoProcesses();
    await expect(other.outbox.enqueue(owing)).rejects.toMatchObject({ code: 'RUN_LOST' });
  });
});

describe('receipts', () => {
  it('are renewed by a check of an unchanged source, unless a payload is still owed or the instance may show other data', async () => {
    const { store, clock } = await setUp();
    const key = { url: 'http://127.0.0.1:1/api/1.0', instance: 'i' };
    const asOf = clock.now();
    const { owed } = await oweText(store, { instance: 'i', text: 'x', asOf });
    await store.receipts.recheck(key, { job: 'orders', asOf: asOf + 1 });
    expect(await store.receipts.find(key)).toBeUndefined();
    await store.outbox.delivered((await store.outbox.attempt(owed.state === 'owed' ? owed.id : 0))!);
    clock.advance(60_000);
    await store.receipts.recheck(key, { job: 'orders', asOf: clock.now() });
    expect((await store.receipts.find(key))?.as_of).toBe(clock.now());
    await store.receipts.recheck(key, { job: 'orders', asOf: asOf + 1 });
    expect((await store.receipts.find(key))?.as_of).toBe(clock.now());
    clock.advance(60_000);
    await oweText(store, { instance: 'i', text: 'y', asOf: clock.now() });
    clock.advance(60_000);
    await store.receipts.recheck(key, { job: 'orders', asOf: clock.now() });
    expect((await store.receipts.find(key))?.as_of).toBe(asOf + 60_000);
    for (const row of await store.outbox.inState('owed')) await store.outbox.supersede(row);
    await store.receipts.distrust(key);
    await store.receipts.recheck(key, { job: 'orders', asOf: clock.now() });
    expect((await store.receipts.find(key))?.as_of).toBe(asOf + 60_000);
  });
});
