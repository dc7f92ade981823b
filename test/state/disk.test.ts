import { existsSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Disk } from '../../src/state/disk.ts';
import { bytesIn, diskUsageIn } from '../../src/state/disk-usage.ts';
import type { Forgotten } from '../../src/state/outbox/payload-files.ts';
import type { Store } from '../../src/state/store.ts';
import { SteppingClock } from '../clocks.ts';
import { cleanUp, newStore, oweText, place } from './fixtures.ts';

afterEach(cleanUp);

const keep = { payloads: 10, milliseconds: 86_400_000 };
const megabyte = 1_000_000;
const clock = new SteppingClock();

/** A store, and its folder's size without payloads. */
async function open(): Promise<{ store: Store; empty: number }> {
  const store = await newStore({ clock, keep });
  return { store, empty: bytesIn(store.folder) };
}

const payload = (letter: string, bytes = megabyte) => letter.repeat(bytes);

async function deliver(store: Store, given: { instance: string; text: string; asOf: number }) {
  const { owed, payload, run } = await oweText(store, given);
  if (owed.state !== 'owed') throw new Error(owed.state);
  const row = await store.outbox.attempt(owed.id);
  await store.outbox.delivered(row!);
  clock.advance(1000);
  return { ...payload, run };
}

function diskOf(store: Store, limits: { limitBytes: number; freeBytes?: number }) {
  const forgotten: Forgotten[] = [];
  return { disk: new Disk({ store, limits, forgot: (what) => forgotten.push(what) }), forgotten };
}

/** Writes as a run does: reserves space first. */
async function write(store: Store, disk: Disk, bytes: number, name = 'draft'): Promise<void> {
  await disk.claim(bytes);
  writeFileSync(join(store.payloads.folderOf('a-run'), name), Buffer.alloc(bytes));
}

describe('a state folder with a limit', () => {
  it('accepts writes up to the limit but no more, no matter how small the pieces are', async () => {
    const { store, empty } = await open();
    const limit = empty + 5 * megabyte;
    const { disk } = diskOf(store, { limitBytes: limit });
    let pieces = 0;
    const refused = async () => {
      for (; ; pieces++) await write(store, disk, 10_000, `piece-${pieces}`);
    };
    await expect(refused()).rejects.toMatchObject({ code: 'DISK_LIMIT', family: 'try_later' });
    const used = bytesIn(store.folder);
    expect(used).toBeLessThanOrEqual(limit + 100_000);
    expect(used).toBeGreaterThan(limit - megabyte);
    expect(pieces).toBeGreaterThan(400);
  });

  it('reports its usage by kind, its limit, and how to free space', async () => {
    const { store, empty } = await open();
    await oweText(store, { instance: 'i', text: payload('a', 3 * megabyte), asOf: 1 });
    const { disk } = diskOf(store, { limitBytes: empty + 3 * megabyte });
    await expect(disk.claim(megabyte)).rejects.toMatchObject({
      code: 'DISK_LIMIT',
      message: expect.stringContaining(store.folder),
      seen: expect.stringContaining('owed 3.00 MB in 1 file, history '),
      allowed: expect.stringContaining('disk.limit_megabytes'),
      next: expect.stringContaining('sluice sync'),
    });
  });

  it('deletes kept payloads to make space for a new one, oldest first, and reports that', async () => {
    const { store, empty } = await open();
    const first = await deliver(store, { instance: 'i', text: payload('a'), asOf: 1 });
    const second = await deliver(store, { instance: 'i', text: payload('b'), asOf: 2 });
    const third = await deliver(store, { instance: 'i', text: payload('c', 30 * megabyte), asOf: 3 });
    const { disk, forgotten } = diskOf(store, { limitBytes: empty + 33 * megabyte });
    await disk.claim(2 * megabyte);
    expect([first, second, third].map(({ path }) => existsSync(path))).toEqual([false, false, false]);
    expect(forgotten).toEqual([{ payloads: 3, bytes: 32 * megabyte }]);
  });

  it('keeps the payload that each instance shows if deleting older payloads frees enough space', async () => {
    const { store, empty } = await open();
    const rare = await deliver(store, { instance: 'rare', text: payload('r'), asOf: 1 });
    const old = await deliver(store, { instance: 'busy', text: payload('a', 20 * megabyte), asOf: 2 });
    const shown = await deliver(store, { instance: 'busy', text: payload('b'), asOf: 3 });
    const { disk, forgotten } = diskOf(store, { limitBytes: empty + 22 * megabyte });
    await disk.claim(megabyte);
    expect([rare, old, shown].map(({ path }) => existsSync(path))).toEqual([true, false, true]);
    expect(forgotten).toEqual([{ payloads: 1, bytes: 20 * megabyte }]);
  });

  it('keeps a restored payload that is shown at a new URL if deleting an older payload frees enough space', async () => {
    const { store } = await open();
    const restored = await deliver(store, { instance: 'i', text: payload('a'), asOf: 1 });
    const replaced = await deliver(store, { instance: 'i', text: payload('b'), asOf: 2 });
    const [former] = await store.goodPayloads.former({ url: place.url, instance: 'i' });
    const { row } = await store.goodPayloads.putBack(former!, { job: 'job-i', by: { who: 'a person', why: '' } });
    await store.outbox.readdress(row.id, 'http://127.0.0.1:2/api/1.0');
    await store.outbox.delivered((await store.outbox.attempt(row.id))!);
    expect(await store.payloads.forget(megabyte)).toEqual({ payloads: 1, bytes: megabyte });
    expect([restored, replaced].map(({ path }) => existsSync(path))).toEqual([true, false]);
  });

  it('never deletes owed, quarantined or dead payloads, or files that a restored payload shares with a kept one', async () => {
    const { store, empty } = await open();
    const by = { who: 'a person', why: '' };
    await deliver(store, { instance: 'back', text: payload('a'), asOf: 1 });
    await deliver(store, { instance: 'back', text: payload('b'), asOf: 2 });
    const [former] = await store.goodPayloads.former({ url: place.url, instance: 'back' });
    await store.goodPayloads.putBack(former!, { job: 'job-back', by });
    await oweText(store, { instance: 'owed', text: payload('o'), asOf: 1 });
    const dead = await oweText(store, { instance: 'dead', text: payload('d'), asOf: 1 });
    await store.outbox.markDead((dead.owed as { id: number }).id, { code: 'REFUSED', message: 'no' });
    const { disk } = diskOf(store, { limitBytes: empty + megabyte });
    await expect(disk.claim(megabyte)).rejects.toMatchObject({ code: 'DISK_LIMIT' });
    const waiting = await store.outbox.inState('owed', 'dead');
    expect(waiting.length).toBe(3);
    for (const { path } of waiting) expect(existsSync(path)).toBe(true);
  });

  it('has space again once a payload is deleted', async () => {
    const { store, empty } = await open();
    const { owed, payload: made } = await oweText(store, { instance: 'i', text: payload('a'), asOf: 1 });
    const { disk } = diskOf(store, { limitBytes: empty + 1.5 * megabyte });
    await expect(disk.claim(megabyte)).rejects.toMatchObject({ code: 'DISK_LIMIT' });
    await store.outbox.delivered((await store.outbox.find((owed as { id: number }).id))!);
    await store.payloads.forget(megabyte);
    await disk.claim(megabyte);
    expect(existsSync(made.path)).toBe(false);
  });

  it('leaves part of the disk free, whatever the limit', async () => {
    const { store } = await open();
    const { bavail, bsize } = statfsSync(store.folder);
    const { disk } = diskOf(store, { limitBytes: Number.MAX_SAFE_INTEGER, freeBytes: bavail * bsize * 2 });
    await expect(disk.claim(1)).rejects.toMatchObject({
      code: 'DISK_FULL',
      allowed: expect.stringContaining('disk.free_megabytes'),
    });
  });

  it('counts the writes of two processes, whichever of them reserves space', async () => {
    const { store, empty } = await open();
    const limits = { limitBytes: empty + 8 * megabyte };
    const [one, other] = [diskOf(store, limits).disk, diskOf(store, limits).disk];
    let written = 0;
    const fill = async () => {
      for (; ; written++) await write(store, written % 2 === 0 ? one : other, 50_000, `piece-${written}`);
    };
    await expect(fill()).rejects.toMatchObject({ code: 'DISK_LIMIT' });
    expect(bytesIn(store.folder)).toBeLessThanOrEqual(limits.limitBytes + 2 * megabyte);
  });
});

it("a state folder's usage is reported by kind of file", async () => {
  const { store } = await open();
  await deliver(store, { instance: 'i', text: payload('k', 10), asOf: 1 });
  await oweText(store, { instance: 'i', text: payload('o', 20), asOf: 2 });
  writeFileSync(join(store.payloads.folderOf('r'), 'x.part'), Buffer.alloc(30));
  writeFileSync(join(store.folder, 'before-1'), Buffer.alloc(40));
  writeFileSync(join(store.folder, 'login.key'), Buffer.alloc(50));
  const rows = await store.outbox.inState('owed', 'delivered');
  const held = diskUsageIn(store.folder, rows).filter(({ kind }) => kind !== 'history');
  expect(held).toEqual([
    { kind: 'other', files: 1, bytes: 50 },
    { kind: 'former', files: 1, bytes: 40 },
    { kind: 'spooling', files: 1, bytes: 30 },
    { kind: 'owed', files: 1, bytes: 20 },
    { kind: 'kept', files: 1, bytes: 10 },
  ]);
});
