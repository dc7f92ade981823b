import { afterEach, describe, expect, it } from 'vitest';
import { reportStatus } from '../../../src/daemon/report/report-status.ts';
import { noon, SteppingClock } from '../../clocks.ts';
import { cleanUp, newStore, oweText } from '../../state/fixtures.ts';
import { configOf, destinationOf, jobOf, Source } from '../rig.ts';

afterEach(cleanUp);

/** A job with an owed payload, and its status after `trouble` happened. */
async function statusAfter(trouble: { code: string; waitMs?: number } | undefined, requestsPerDay = 100) {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const destination = destinationOf('http://127.0.0.1:1/api/1.0', { requestsPerDay });
  const job = jobOf({ name: 'orders', instance: 'a', source: new Source(), destination });
  const { owed } = await oweText(store, { instance: 'a', text: 'id\n1\n', asOf: noon, job: 'orders' });
  if (trouble !== undefined && owed.state === 'owed') {
    await store.outbox.postpone(owed.id, { ...trouble, message: 'said so', free: false });
  }
  const read = async () => (await reportStatus(configOf('/nowhere', [job]), store, clock)).jobs[0]!;
  return { clock, read };
}

it("a job whose runs are canceled by newer firings isn't shown only as running", async () => {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const destination = destinationOf('http://127.0.0.1:1/api/1.0');
  const job = jobOf({ name: 'orders', instance: 'a', source: new Source(), destination });
  const read = async () => (await reportStatus(configOf('/nowhere', [job]), store, clock)).jobs[0]!.state;
  await store.leases.take('job:orders');
  expect(await read()).toBe('running');
  for (let stopped = 0; stopped < 3; stopped++) {
    const run = await store.runs.begin({ job: 'orders', origin: 'schedule' });
    const problem = { code: 'RUN_CANCELLED', message: 'a newer firing took its place' };
    await store.runs.finish(run, { state: 'interrupted', problem });
  }
  await store.runs.begin({ job: 'orders', origin: 'schedule' });
  expect(await read()).toBe('running, but runs never finish');
});

describe('the status of a job with an owed payload', () => {
  it("says that it's owed, if nothing is wrong", async () => {
    const { read } = await statusAfter(undefined);
    expect(await read()).toMatchObject({ state: 'owed', owed: [{ rows: 1 }] });
  });

  it('names the time of the next attempt while that is in the future', async () => {
    const { clock, read } = await statusAfter({ code: 'UNREACHABLE', waitMs: 90_000 });
    expect(await read()).toMatchObject({
      state: 'owed, next attempt 2026-06-15 16:01:30Z',
      waits_until: noon + 90_000,
    });
    clock.advance(90_000);
    expect(await read()).toMatchObject({ state: 'owed' });
  });

  it('names the midnight that it waits for, in New York time', async () => {
    const { read } = await statusAfter({ code: 'QUOTA_SPENT' }, 0);
    expect(await read()).toMatchObject({
      state: 'waiting for the daily allowance until 00:00 EDT',
      waits_until: Date.parse('2026-06-16T04:00Z'),
    });
  });

  it('says that a user is needed if the credentials were refused', async () => {
    const { read } = await statusAfter({ code: 'LOGIN_NEEDED' });
    expect(await read()).toMatchObject({ state: 'owed, credentials refused' });
  });
});
