import { afterEach, expect, it } from 'vitest';
import type { Job } from '../../../src/config/config.ts';
import { outputFingerprint, queryFingerprint } from '../../../src/daemon/config/fingerprints.ts';
import { findResumePoint } from '../../../src/daemon/run/keep-rows.ts';
import { findAddress } from '../../../src/delivery/address.ts';
import type { Manifest } from '../../../src/kept-rows/manifest.ts';
import type { Store } from '../../../src/state/store.ts';
import { SteppingClock } from '../../clocks.ts';
import { cleanUp, newStore, place, spool } from '../../state/fixtures.ts';
import { destinationOf, type JobGiven, jobOf, Source } from '../rig.ts';

afterEach(cleanUp);

const source = new Source();
const key = { url: place.url, instance: 'i' };
const address = { instance: 'i' };

function job(name: string, more: Partial<JobGiven> = {}): Job {
  return jobOf({ name, destination: destinationOf(place.url), instance: 'i', source, ...more });
}

/** The job keeps its rows. */
function keptRows(one: Job): Job {
  return { ...one, extract: { ...one.extract!, write: { disposition: 'merge', key: ['id'] } } };
}

/** Runs a job until its payload is owed. Returns the payload's ID. */
async function owe(
  store: Store,
  { job, text, clock }: { job: Job; text: string; clock: SteppingClock },
): Promise<number> {
  clock.advance(60_000);
  const run = await store.runs.begin({ job: job.name, origin: 'schedule' });
  const payload = spool(store, { run, text, asOf: clock.now() });
  const reading = queryFingerprint(job, address);
  const manifest: Manifest = { version: 1, columns: [], next: 0, rows: 1, segments: [] };
  const owed = await store.outbox.enqueue({
    ...{ run, job: job.name, destination: place, instance: 'i', payload, mediaType: 'text/csv', always: false },
    watermark: { reading, text },
    ...(job.extract?.write === undefined
      ? {}
      : { generation: { reading, shape: outputFingerprint(job, address), manifest } }),
  });
  if (owed.state !== 'owed') throw new Error(owed.state);
  return owed.row.id;
}

async function deliver(store: Store, id: number): Promise<void> {
  await store.outbox.delivered((await store.outbox.attempt(id))!);
}

async function placeOf(store: Store, one: Job) {
  const { watermark, keptRows } = await findResumePoint(store, {
    job: one,
    run: 'r',
    address: await findAddress(store, one),
  });
  return { watermark, ...(keptRows === undefined ? {} : { mustSend: keptRows.mustSend }) };
}

it('a checkpoint is valid while the instance shows, or will show, its data', async () => {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const [plain, kept] = [job('plain'), keptRows(job('plain'))];
  const id = await owe(store, { job: plain, text: 'a', clock });
  expect(await placeOf(store, plain)).toEqual({ watermark: 'a' });
  await store.outbox.attempt(id);
  expect(await placeOf(store, plain)).toEqual({ watermark: 'a' });
  await deliver(store, id);
  expect(await placeOf(store, plain)).toEqual({ watermark: 'a' });
  clock.advance(11 * 60_000);
  await deliver(store, await owe(store, { job: kept, text: 'b', clock }));
  expect(await placeOf(store, kept)).toEqual({ watermark: 'b', mustSend: false });
});

it('a checkpoint is invalid once another job has written to the instance', async () => {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  for (const one of [job('one'), keptRows(job('one'))]) {
    await deliver(store, await owe(store, { job: one, text: 'a', clock }));
    await deliver(store, await owe(store, { job: job('variant'), text: 'b', clock }));
    const isKept = one.extract?.write !== undefined;
    expect(await placeOf(store, one)).toEqual(isKept ? { watermark: 'a', mustSend: true } : { watermark: undefined });
  }
});

it('an accepted payload counts as shown even if an older one may still arrive, because a resend follows', async () => {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  for (const one of [job('one'), keptRows(job('one'))]) {
    const isKept = one.extract?.write !== undefined;
    const shown = isKept ? { watermark: 'sure', mustSend: false } : { watermark: 'sure' };
    const unsure = await owe(store, { job: one, text: `unsure ${isKept}`, clock });
    await store.outbox.attempt(unsure);
    await store.outbox.postpone(unsure, { code: 'DELIVERY_NO_ANSWER', message: 'none', free: false });
    await deliver(store, await owe(store, { job: one, text: 'sure', clock }));
    expect(await placeOf(store, one)).toEqual(shown);
    const [repeat] = await store.resends.all();
    expect(repeat!.row.sha256).toBe((await store.receipts.find(key))!.sha256);
    clock.advance(11 * 60_000);
    expect(await placeOf(store, one)).toEqual(shown);
    await store.resends.delivered((await store.resends.begin(repeat!))!);
    expect(await placeOf(store, one)).toEqual(shown);
    expect(await store.resends.all()).toEqual([]);
  }
});

it("rows that can't be sent again are re-read from the source", async () => {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const one = job('one');
  const unsure = await owe(store, { job: one, text: 'unsure', clock });
  await store.outbox.attempt(unsure);
  await store.outbox.postpone(unsure, { code: 'DELIVERY_NO_ANSWER', message: 'none', free: false });
  const sure = await owe(store, { job: one, text: 'sure', clock });
  await deliver(store, sure);
  await store.resends.giveUp((await store.outbox.find(sure))!);
  expect(await placeOf(store, one)).toEqual({ watermark: undefined });
});

it('a payload that took two attempts may arrive again after a newer one', async () => {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const one = job('one');
  const twice = await owe(store, { job: one, text: 'twice', clock });
  await store.outbox.attempt(twice);
  await store.outbox.postpone(twice, { code: 'DELIVERY_NO_ANSWER', message: 'none', free: false });
  await deliver(store, twice);
  expect(await store.resends.all(), 'the same bytes do no harm').toEqual([]);
  await deliver(store, await owe(store, { job: one, text: 'newer', clock }));
  expect(await store.resends.all()).toHaveLength(1);
});

it('rows superseded by a payload that is now dead must be sent, even if nothing has changed since', async () => {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const one = keptRows(job('one'));
  await deliver(store, await owe(store, { job: one, text: 'shown', clock }));
  await owe(store, { job: one, text: 'waiting', clock });
  const last = await owe(store, { job: one, text: 'damaged', clock });
  await store.outbox.markDead(last, { code: 'PAYLOAD_DAMAGED', message: 'gone' });
  expect(await placeOf(store, one)).toEqual({ watermark: 'waiting', mustSend: true });
});

it('rows owed to a renamed destination are re-read, because their payload will never be sent', async () => {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  await owe(store, { job: job('one'), text: 'owed', clock });
  const renamed = job('one', { destination: destinationOf(place.url, { name: 'production' }) });
  expect(queryFingerprint(renamed, address)).toBe(queryFingerprint(job('one'), address));
  expect(await placeOf(store, renamed)).toEqual({ watermark: undefined });
});

it("a checkpoint for a declared data source isn't valid for its replacement", async () => {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const declaration = { name: 'Orders', description: '', format: 'csv', shares: [] };
  const declared = (one: Job): Job => ({ ...one, target: { kind: 'datasource', declaration } });
  const target = { url: place.url, name: declaration.name };
  for (const one of [declared(job('plain')), declared(keptRows(job('kept')))]) {
    const isKept = one.extract?.write !== undefined;
    await store.targets.remember(target, { datasource: 'd', instance: 'i', format: 'csv' });
    await deliver(store, await owe(store, { job: one, text: one.name, clock }));
    expect(await placeOf(store, one)).toEqual({ watermark: one.name, ...(isKept ? { mustSend: false } : {}) });
    await store.targets.remember(target, { datasource: 'e', instance: 'k', format: 'csv' });
    expect(await placeOf(store, one)).toEqual(
      isKept ? { watermark: one.name, mustSend: true } : { watermark: undefined },
    );
  }
});
