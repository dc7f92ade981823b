import { expect, it } from 'vitest';
import type { Firing } from '../../../src/daemon/firing/firing.ts';
import { RunQueue } from '../../../src/daemon/firing/run-queue.ts';
import { destinationOf, jobOf, Source } from '../rig.ts';

/** A queue whose runs end when the test says so, and what ran in it. */
function openQueue() {
  const ran: number[] = [];
  const ends: (() => void)[] = [];
  const queue = new RunQueue({
    run: async ({ firing, begin, end }) => {
      begin();
      ran.push(firing.at);
      await new Promise<void>((resolve) => ends.push(resolve));
      end();
    },
    suspects: new Set(),
    stop: new AbortController().signal,
  });
  queue.setConcurrency(1);
  const job = jobOf({
    name: 'orders',
    destination: destinationOf('http://127.0.0.1:9'),
    instance: 'i',
    source: new Source(),
  });
  const firingAt = (at: number): Firing => ({ job, at, isCatchUp: false }) as Firing;
  const endAll = async (): Promise<void> => {
    for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
      end();
      await new Promise(setImmediate);
    }
    await queue.idle();
  };
  return { queue, ran, firingAt, endAll };
}

it('a firing that fires again just before its former run has ended runs after it', async () => {
  const { queue, ran, firingAt, endAll } = openQueue();
  expect(queue.offer(firingAt(1)).state).toBe('queued');
  await expect.poll(() => ran).toEqual([1]);
  expect(queue.offer(firingAt(1)).state).toBe('skipped');
  expect(queue.offer(firingAt(1), true).state).toBe('waiting');
  await endAll();
  expect(ran).toEqual([1, 1]);
});

it('a later firing is skipped while a run is running', async () => {
  const { queue, ran, firingAt, endAll } = openQueue();
  queue.offer(firingAt(1));
  await expect.poll(() => ran).toEqual([1]);
  expect(queue.offer(firingAt(2), true).state).toBe('skipped');
  await endAll();
  expect(ran).toEqual([1]);
});
