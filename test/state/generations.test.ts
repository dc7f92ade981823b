import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import type { Manifest } from '../../src/kept-rows/manifest.ts';
import type { Store } from '../../src/state/store.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { cleanUp, newStore, place, spool } from './fixtures.ts';

afterEach(cleanUp);

const by = { who: 'me', why: '' };
const reading = 'what is read';
let asOf = noon;

/** A file of rows that a run has written. */
function write(store: Store, run: string): string {
  mkdirSync(join(store.generations.root, run), { recursive: true });
  writeFileSync(join(store.generations.root, run, '1.rows'), 'rows');
  return `${run}/1.rows`;
}

/** Runs a job until its payload is owed. The generation consists of a file of its own and the named files. */
async function owe(
  store: Store,
  { files = [], instance = 'i' }: { files?: readonly string[]; instance?: string } = {},
) {
  const run = await store.runs.begin({ job: 'orders', origin: 'schedule' });
  const file = write(store, run);
  const segments = [...files, file].map((name) => ({ file: name, rows: 1, bytes: 4, crc: 0, asOf: 0 }));
  const manifest: Manifest = { version: 1, columns: [], next: 0, rows: 1, segments };
  asOf += 1;
  const payload = spool(store, { run, text: `rows of ${run}`, asOf });
  const owing = {
    ...{ run, job: 'orders', destination: place, instance, payload, mediaType: 'text/csv', always: false },
    watermark: { reading, text: run },
    generation: { reading, shape: 's', manifest },
  };
  return { run, file, owing };
}

const present = async (store: Store) => ({
  set: (await store.generations.find('orders', reading))?.run,
  watermark: await store.watermarks.find('orders', reading),
});

const there = (store: Store, ...files: string[]) => files.map((file) => existsSync(join(store.generations.root, file)));

it('the kept rows and the watermark advance with the owed payload, and are rewound if the payload is dead', async () => {
  const store = await newStore({ clock: new SteppingClock() });
  const first = await owe(store);
  await store.outbox.enqueue(first.owing);
  expect(await present(store)).toEqual({ set: first.run, watermark: first.run });
  expect(await store.generations.find('orders', 'another query')).toBeUndefined();
  const second = await owe(store, { files: [first.file] });
  const owed = await store.outbox.enqueue(second.owing);
  expect(await present(store)).toEqual({ set: second.run, watermark: second.run });
  await store.outbox.markDead('row' in owed ? owed.row.id : 0, { code: 'X', message: 'dead' });
  expect(await present(store)).toEqual({ set: first.run, watermark: first.run });
  await store.generations.prune();
  expect(there(store, first.file, second.file)).toEqual([true, true]);
  await store.outbox.requeue('row' in owed ? owed.row.id : 0);
  expect(await present(store)).toEqual({ set: second.run, watermark: second.run });
});

it("a dead first payload leaves no checkpoint, and a checkpoint that later runs have replaced isn't undone", async () => {
  const store = await newStore({ clock: new SteppingClock() });
  const first = await owe(store);
  const owed = await store.outbox.enqueue(first.owing);
  await store.outbox.markDead('row' in owed ? owed.row.id : 0, { code: 'X', message: 'dead' });
  expect(await present(store)).toEqual({ set: undefined, watermark: undefined });
  const second = await owe(store);
  await store.outbox.enqueue(second.owing);
  await store.generations.takeBack(first.run);
  expect(await present(store)).toEqual({ set: second.run, watermark: second.run });
});

it("a dead payload that is sent again doesn't rewind a checkpoint that a later run has advanced", async () => {
  const store = await newStore({ clock: new SteppingClock() });
  const first = await owe(store, { instance: 'former' });
  const owed = await store.outbox.enqueue(first.owing);
  const id = 'row' in owed ? owed.row.id : 0;
  await store.outbox.markDead(id, { code: 'X', message: 'dead' });
  const second = await owe(store, { instance: 'present' });
  await store.outbox.enqueue(second.owing);
  expect(await store.outbox.requeue(id)).toBe(true);
  expect(await present(store)).toEqual({ set: second.run, watermark: second.run });
});

it("after a rollback, the job continues from the restored payload's rows and watermark", async () => {
  const store = await newStore({ clock: new SteppingClock() });
  const [first, second] = [await owe(store), await owe(store)];
  for (const { owing } of [first, second]) {
    const owed = await store.outbox.enqueue(owing);
    await store.outbox.delivered((await store.outbox.attempt('row' in owed ? owed.row.id : 0))!);
  }
  expect(await present(store)).toEqual({ set: second.run, watermark: second.run });
  const [former] = await store.goodPayloads.former({ url: place.url, instance: 'i' });
  const { row } = await store.goodPayloads.putBack(former!, { job: 'orders', by });
  expect(await present(store)).toEqual({ set: row.run, watermark: first.run });
  const { manifest } = first.owing.generation;
  expect(await store.generations.find('orders', reading)).toMatchObject({ shape: 's', manifest });
  expect(await store.generations.ofRun(row.run), 'for a rollback to this one').toMatchObject({ watermark: first.run });
  await store.outbox.markDead(row.id, { code: 'X', message: 'dead' });
  expect(await present(store), 'there is nothing to return to').toEqual({ set: undefined, watermark: undefined });
});

it("kept rows without a watermark can be rolled back, and are deleted if the watermark is cleared, but not if it's set", async () => {
  const store = await newStore({ clock: new SteppingClock() });
  const [first, second] = [await owe(store), await owe(store)];
  for (const { watermark: _, ...owing } of [first.owing, second.owing]) {
    const owed = await store.outbox.enqueue(owing);
    await store.outbox.delivered((await store.outbox.attempt('row' in owed ? owed.row.id : 0))!);
  }
  const [former] = await store.goodPayloads.former({ url: place.url, instance: 'i' });
  const { row } = await store.goodPayloads.putBack(former!, { job: 'orders', by });
  const rolledBack = { set: row.run, watermark: undefined };
  expect(await present(store)).toEqual(rolledBack);
  expect(await store.watermarks.decide('orders', () => '9', by)).toBe('unknown');
  expect(await present(store)).toEqual(rolledBack);
  expect(await store.watermarks.decide('orders', undefined, by)).toBe('done');
  expect(await present(store)).toEqual({ set: undefined, watermark: undefined });
});

it("a quarantined generation is set aside, and becomes current once it's approved", async () => {
  const store = await newStore({ clock: new SteppingClock() });
  const first = await owe(store);
  await store.outbox.enqueue(first.owing);
  const held = await owe(store, { files: [first.file] });
  const verdict = { findings: '[]', message: 'too few' };
  const { id } = await store.quarantine.put(held.owing, verdict);
  expect(await present(store)).toEqual({ set: first.run, watermark: first.run });
  await store.generations.prune();
  expect(there(store, held.file)).toEqual([true]);
  await store.quarantine.approve(id, by);
  expect(await present(store)).toEqual({ set: held.run, watermark: held.run });

  const other = await owe(store, { files: [held.file] });
  const put = await store.quarantine.put(other.owing, verdict);
  await store.quarantine.discard(put.id, by);
  await store.generations.prune();
  expect(await present(store)).toEqual({ set: held.run, watermark: held.run });
  expect(there(store, first.file, held.file, other.file)).toEqual([true, true, false]);
});

it("files without a generation are deleted, but new files and active writers' files are kept", async () => {
  const clock = new SteppingClock();
  const store = await newStore({ clock });
  const kept = await owe(store);
  await store.outbox.enqueue(kept.owing);
  const living = write(store, await store.runs.begin({ job: 'orders', origin: 'person' }));
  const [orphan, young] = [write(store, 'dead'), write(store, 'young')];
  const held = write(store, 'held');
  const lease = await store.generations.hold('held');
  const hourAgo = noon / 1000 - 3600;
  for (const file of [kept.file, living, orphan, held])
    utimesSync(join(store.generations.root, file), hourAgo, hourAgo);
  utimesSync(join(store.generations.root, young), noon / 1000, noon / 1000);
  expect(await store.generations.sweep()).toEqual([join(store.generations.root, orphan)]);
  expect(there(store, kept.file, living, orphan, young, held)).toEqual([true, true, false, true, true]);
  await lease?.release();
  expect(await store.generations.sweep()).toHaveLength(1);
  expect(readdirSync(store.generations.root)).not.toContain('dead');
  await store.generations.leave('young');
  expect(there(store, young, kept.file)).toEqual([false, true]);
});

it('a job that no longer keeps its rows discards them with its next payload', async () => {
  const store = await newStore({ clock: new SteppingClock() });
  const first = await owe(store);
  await store.outbox.enqueue(first.owing);
  const { generation: _, ...plain } = (await owe(store)).owing;
  await store.outbox.enqueue(plain);
  expect(await present(store)).toEqual({ set: undefined, watermark: plain.run });
});

it('a backfilled range can be merged again if its payload is dead', async () => {
  const store = await newStore({ clock: new SteppingClock() });
  await store.outbox.enqueue((await owe(store)).owing);
  const staged = { id: 'range', columns: [], next: 0, segments: [] };
  const read = { job: 'orders', reading, lower: '1', upper: '9', chunk: '', reached: '9', begunAt: noon, staged };
  await store.backfills.set(read);
  const { owing } = await owe(store);
  const generation = { ...owing.generation, manifest: { ...owing.generation.manifest, filled: 'range' } };
  const owed = await store.outbox.enqueue({ ...owing, generation });
  const id = 'row' in owed ? owed.row.id : 0;
  expect(await store.backfills.find('orders')).toBeUndefined();
  await store.outbox.markDead(id, { code: 'X', message: 'dead' });
  expect(await store.backfills.find('orders')).toEqual(read);
  await store.outbox.requeue(id);
  expect(await store.backfills.find('orders')).toBeUndefined();
  expect(await present(store)).toMatchObject({ set: owing.run });
});

it("clearing the watermark also clears the kept rows and a backfill's progress", async () => {
  const store = await newStore({ clock: new SteppingClock() });
  const first = await owe(store);
  await store.outbox.enqueue(first.owing);
  const range = { job: 'orders', reading, lower: '1', upper: '9', chunk: '', reached: '1', begunAt: noon };
  await store.backfills.set(range);
  expect(await store.backfills.find('orders')).toEqual(range);
  expect(await store.watermarks.decide('orders', undefined, by)).toBe('done');
  expect(await present(store)).toEqual({ set: undefined, watermark: undefined });
  expect(await store.backfills.find('orders')).toBeUndefined();
});
