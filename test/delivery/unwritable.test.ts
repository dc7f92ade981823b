import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { useDatabase } from '../../src/state/engine/database.ts';
import { SteppingClock } from '../clocks.ts';
import { cleanUp, newStore, Population } from '../state/fixtures.ts';
import {
  answer,
  closeStages,
  commitText,
  deliverOwed,
  destinationAt,
  jobFor,
  listener,
  openGateway,
  openStage,
  readBody,
  take,
} from './fixtures.ts';

afterEach(async () => {
  await closeStages();
  await cleanUp();
});

/** An owed payload, and a disk that can be made to reject writes. */
async function owing(clock = systemClock) {
  const population = new Population();
  const store = await newStore({ clock, processes: population.member('mine') });
  const stage = await openStage();
  const heard = listener();
  const destination = destinationAt(stage.url);
  const gateway = openGateway({ store, destinations: [destination], clock, emit: heard.emit });
  await commitText(gateway, { job: jobFor(destination, 'orders'), text: 'rows' });
  const deliver = (patienceMs = 0) =>
    deliverOwed({
      gateway,
      priority: 'schedule',
      signal: AbortSignal.timeout(60_000),
      until: clock.now() + patienceMs,
    });
  const { db, close } = useDatabase(join(store.folder, 'sluice.db'));
  const freeze = (isFrozen: boolean) => sql.raw(`pragma query_only = ${isFrozen ? 1 : 0}`).execute(db);
  return { store, stage, heard, deliver, freeze, close, population };
}

describe('a disk that rejects writes', () => {
  it("between a request and its response leaves the payload owed, with a message, and doesn't hold a lock forever", async () => {
    const { stage, heard, deliver, freeze, close } = await owing();
    stage.script.push(async (request, response, seen) => {
      await readBody(request, seen);
      await freeze(true);
      answer(200, { data: {} })(request, response, seen);
    });
    expect(await deliver()).toMatchObject([{ state: 'waiting_retry', problem: { code: 'STATE_UNREADABLE' } }]);
    expect(heard.events).toContainEqual(
      expect.objectContaining({
        name: 'payload.waiting',
        facts: expect.objectContaining({ code: 'STATE_UNREADABLE', until: expect.any(Number) }),
      }),
    );
    await freeze(false);
    expect(await deliver()).toMatchObject([{ state: 'delivered' }]);
    expect(stage.seen.map(({ body }) => body)).toEqual(['rows', 'rows']);
    await close();
  });

  it('makes a delivery that can wait continue once the disk works again', async () => {
    const { stage, deliver, freeze, close } = await owing();
    stage.script.push(async (request, response, seen) => {
      await readBody(request, seen);
      await freeze(true);
      answer(200, { data: {} })(request, response, seen);
      setTimeout(() => void freeze(false), 2_000);
    });
    expect(await deliver(50_000)).toMatchObject([{ state: 'delivered' }]);
    await close();
  });
});

it('a delivery waits, with a message, for another process that sends to the same instance, but not forever', async () => {
  const { store, stage, heard, deliver, close, population } = await owing(new SteppingClock());
  stage.otherwise = take;
  const other = await newStore({
    clock: systemClock,
    folder: store.folder,
    processes: population.member('["host","boot-1","space",4711,"1"]'),
  });
  const lease = await other.leases.take(`instance:${JSON.stringify([stage.url, '', 'orders'])}`);
  const [result] = await deliver();
  expect(result).toMatchObject({ state: 'waiting_retry', problem: { code: 'INSTANCE_BUSY' } });
  expect(result).toMatchObject({ problem: { seen: expect.stringContaining('process 4711') } });
  expect(heard.names()).toContain('payload.waiting');
  expect(stage.seen).toHaveLength(0);
  await lease?.release();
  expect(await deliver()).toMatchObject([{ state: 'delivered' }]);
  await close();
});
