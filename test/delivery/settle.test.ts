import { expect, it } from 'vitest';
import type { Job } from '../../src/config/config.ts';
import { settle } from '../../src/delivery/settle.ts';
import type { DraftPayload } from '../../src/pipeline/payload.ts';
import { draftOf, spool } from '../state/fixtures.ts';
import { deliver, deliverHere, open, store } from './deliver-rig.ts';
import { jobFor } from './fixtures.ts';

deliverHere();

/** Settles a run with `text`; returns what happened to its draft, with the run's state at that moment. */
async function settled(
  { destination, gateway }: ReturnType<typeof open>,
  { text, more = {}, rows = 1, asOf = Date.now() }: { text: string; more?: Partial<Job>; rows?: number; asOf?: number },
) {
  const job = jobFor(destination, 'i', more);
  const run = await store.runs.begin({ job: job.name, origin: 'schedule' });
  const seen: string[] = [];
  const note = async (what: string) => {
    seen.push(`${what} while ${(await store.runs.find(run))?.state}`);
  };
  const draft = draftOf({ ...spool(store, { run, text, asOf }), rows });
  const payload: DraftPayload = {
    ...draft,
    seal: () => note('sealed').then(draft.seal),
    discard: () => note('discarded').then(draft.discard),
  };
  const result = await settle(gateway, { job, run, payload });
  return { state: result.state, seen };
}

it('a result is sealed before it is settled, and only if it must be kept', async () => {
  const way = open();
  const kept = (state: string) => ['sealed while running', `discarded while ${state}`];
  const now = Date.now();
  expect(await settled(way, { text: 'a' })).toEqual({ state: 'owed', seen: kept('owed') });
  expect(await settled(way, { text: 'old', asOf: now - 60_000 })).toEqual({
    state: 'superseded',
    seen: kept('superseded'),
  });
  await deliver(way.gateway);
  expect(await settled(way, { text: 'a' })).toEqual({ state: 'unchanged', seen: ['discarded while unchanged'] });
  expect(await settled(way, { text: '', rows: 0 })).toEqual({ state: 'failed', seen: ['discarded while failed'] });
  expect(await settled(way, { text: 'a', more: { always: true } })).toEqual({ state: 'owed', seen: kept('owed') });
  const few = await settled(way, { text: 'b', more: { guards: { rows: { minimum: 2 } } } });
  expect(few).toEqual({ state: 'quarantined', seen: kept('quarantined') });
});

it('a result that the instance shows already is sealed if another payload is owed to it', async () => {
  const way = open();
  await settled(way, { text: 'a' });
  await deliver(way.gateway);
  await settled(way, { text: 'b' });
  expect(await settled(way, { text: 'a' })).toMatchObject({
    state: 'unchanged',
    seen: [expect.any(String), expect.any(String)],
  });
});

it("a result that can't be settled is discarded", async () => {
  const way = open();
  const target = { kind: 'datasource', declaration: { name: 'not there' } } as unknown as Job['target'];
  const run = settled(way, { text: 'a', more: { target } });
  await expect(run).rejects.toMatchObject({ code: 'TARGET_NOT_APPLIED' });
});
