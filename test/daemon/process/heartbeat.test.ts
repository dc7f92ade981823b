import { describe, expect, it, onTestFinished } from 'vitest';
import type { Ticking } from '../../../src/daemon/firing/scheduler.ts';
import { Heartbeat, readHeartbeat } from '../../../src/daemon/process/heartbeat.ts';
import { reportHealth } from '../../../src/daemon/report/report-health.ts';
import { openStore } from '../../../src/state/store.ts';
import { SteppingClock } from '../../clocks.ts';
import { makeFolder } from '../../journey/process.ts';

async function setUp(state: { ticking: Ticking }) {
  const clock = new SteppingClock();
  const store = await openStore(await makeFolder(), { clock });
  onTestFinished(() => store.close());
  return { clock, store, pulse: new Heartbeat({ store, clock, ticking: () => state.ticking }) };
}

const well: Ticking = { silence: 20_000, overdue: 0, scheduled: 3 };

describe('the heartbeat', () => {
  it('detects a stopped timer', async () => {
    const state = { ticking: well };
    const { pulse } = await setUp(state);
    expect(pulse.check()).toMatchObject({ ticking: true });
    state.ticking = { ...well, silence: 200_000 };
    expect(pulse.check()).toEqual({ ticking: false, message: 'the scheduler has not run for 200 s' });
  });

  it("detects a firing that isn't handled, but ignores one that the wall clock jumped over", async () => {
    const state = { ticking: { ...well, overdue: 86_400_000 } };
    const { pulse, clock } = await setUp(state);
    expect(pulse.check().ticking).toBe(true);
    clock.advance(60_000);
    expect(pulse.check().ticking).toBe(true);
    clock.advance(60_000);
    expect(pulse.check()).toEqual({ ticking: false, message: 'a firing is overdue by 86400 s' });
    state.ticking = well;
    expect(pulse.check().ticking).toBe(true);
  });

  it('recognizes a suspended process, and checks its schedules at the next heartbeat', async () => {
    const state = { ticking: well };
    const { store, clock } = await setUp(state);
    const said: unknown[] = [];
    const pulse = new Heartbeat({ store, clock, ticking: () => state.ticking, onChange: (beat) => said.push(beat) });
    pulse.start();
    onTestFinished(() => pulse.stop());
    clock.advance(3_600_000);
    state.ticking = { ...well, silence: 3_600_000, overdue: 3_000_000 };
    expect(pulse.check()).toEqual({ ticking: true, message: 'the process was suspended and has just resumed' });
    await pulse.write();
    expect(said).toEqual([]);
    // Its schedules don't continue.
    clock.advance(10_000);
    await pulse.write();
    expect(said).toEqual([{ ticking: false, message: 'the scheduler has not run for 3600 s' }]);
  });

  it('reports once that the scheduler has stopped, and once that it runs again', async () => {
    const state = { ticking: well };
    const { store, clock } = await setUp(state);
    const said: unknown[] = [];
    const pulse = new Heartbeat({ store, clock, ticking: () => state.ticking, onChange: (beat) => said.push(beat) });
    await pulse.write();
    state.ticking = { ...well, silence: 200_000 };
    await pulse.write();
    await pulse.write();
    state.ticking = well;
    await pulse.write();
    expect(said).toEqual([
      { ticking: false, message: 'the scheduler has not run for 200 s' },
      { ticking: true, message: 'the schedules are running' },
    ]);
  });

  it("can be read by other processes, for which the holder's heartbeat counts for 30 seconds", async () => {
    const { pulse, clock, store } = await setUp({ ticking: well });
    const given = { owner: store.processes.self, clock };
    expect((await readHeartbeat(store, given)).ticking).toBe(false);
    await pulse.write();
    expect(await readHeartbeat(store, given)).toMatchObject({ ticking: true });
    expect((await readHeartbeat(store, { ...given, owner: 'another process' })).ticking).toBe(false);
    clock.advance(40_000);
    expect(await readHeartbeat(store, given)).toMatchObject({
      ticking: false,
      message: expect.stringContaining('no heartbeat from the daemon for 40 s'),
    });
  });

  it("determines a state folder's health: no daemon, a hanging daemon, a healthy daemon", async () => {
    const { pulse, clock, store } = await setUp({ ticking: well });
    expect(await reportHealth(store, clock)).toMatchObject({
      ok: false,
      checks: [{ ok: true }, { message: expect.stringContaining('no daemon') }],
    });
    const lease = await store.leases.take('daemon');
    expect(await reportHealth(store, clock)).toMatchObject({ ok: false });
    await pulse.write();
    expect(await reportHealth(store, clock)).toMatchObject({ ok: true });
    clock.advance(40_000);
    expect(await reportHealth(store, clock)).toMatchObject({ ok: false });
    await lease?.release();
  });
});
