import { describe, expect, it, onTestFinished } from 'vitest';
import { explainInstance } from '../../../src/daemon/explain/explain.ts';
import { reportStatus } from '../../../src/daemon/report/report-status.ts';
import { dayOf } from '../../../src/delivery/quota.ts';
import type { Store } from '../../../src/state/store.ts';
import { SteppingClock } from '../../clocks.ts';
import { makeFolder } from '../../journey/process.ts';
import { cleanUp, newStore, oweText } from '../../state/fixtures.ts';
import { configOf, destinationOf, jobOf, Source } from '../rig.ts';

/** Jobs with a store that counts its queries. */
async function setUp(count: number) {
  onTestFinished(cleanUp);
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const destination = destinationOf('http://127.0.0.1:1/api/1.0', { requestsPerDay: 10 });
  const source = new Source();
  const jobs = Array.from({ length: count }, (_, i) =>
    jobOf({ name: `job${i}`, destination, instance: `i-job${i}`, source }),
  );
  let asked = 0;
  const counting = new Proxy(store, {
    get: (of, part) => watched(of[part as keyof Store], () => asked++),
  });
  return { clock, store, counting, config: configOf(await makeFolder(), jobs), asked: () => asked };
}

function watched<T>(part: T, onCall: () => void): T {
  if (typeof part !== 'object' || part === null) return part;
  return new Proxy(part, {
    get: (of, name) => {
      const member = of[name as keyof typeof of] as unknown;
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) => {
        onCall();
        return (member as (...given: unknown[]) => unknown).apply(of, given);
      };
    },
  });
}

describe("all jobs' status", () => {
  it('takes no more queries for three hundred jobs than for three', async () => {
    const [few, many] = [await setUp(3), await setUp(300)];
    expect((await reportStatus(few.config, few.counting, few.clock)).jobs).toHaveLength(3);
    expect((await reportStatus(many.config, many.counting, many.clock)).jobs).toHaveLength(300);
    expect(many.asked()).toBe(few.asked());
  });

  it('includes explanations only for jobs that write to the requested instance', async () => {
    const { counting, config, clock, asked } = await setUp(300);
    const found = await explainInstance('i-job7', { config, store: counting, clock });
    expect(found.map(({ job }) => job)).toEqual(['job7']);
    // The conditions are read only once, however many jobs there are.
    expect(asked()).toBeLessThan(30);
    expect(await explainInstance('nobody', { config, store: counting, clock })).toEqual([]);
  });

  it('says until when an owed payload waits for the quota, in New York time', async () => {
    const { store, config, clock } = await setUp(1);
    const { owed } = await oweText(store, { instance: 'i-job0', text: 'x', asOf: clock.now(), job: 'job0' });
    const id = owed.state === 'owed' ? owed.id : 0;
    await store.outbox.note(id, { code: 'QUOTA_SPENT', message: "Today's requests are used up" });
    const midnight = Date.UTC(2026, 5, 16, 4);
    // A note from the previous day delays nothing.
    expect((await reportStatus(config, store, clock)).jobs[0]).toMatchObject({ state: 'owed' });
    for (let n = 0; n < 10; n++) await store.quota.charge('account', dayOf(clock.now()));
    const { jobs } = await reportStatus(config, store, clock);
    expect(jobs[0]).toMatchObject({ state: 'waiting for the daily allowance until 00:00 EDT', waits_until: midnight });
    const [explained] = await explainInstance('i-job0', { config, store, clock });
    expect(explained?.verdict).toBe('waiting for the daily allowance until 00:00 EDT, but no daemon is running');
    await store.leases.take('daemon');
    const [followed] = await explainInstance('i-job0', { config, store, clock });
    expect(followed?.next).toEqual({ at: midnight, message: 'the daemon sends it' });
  });
});
