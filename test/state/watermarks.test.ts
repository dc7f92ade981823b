import { afterEach, describe, expect, it } from 'vitest';
import type { Store } from '../../src/state/store.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { cleanUp, newFolder, newStore, place, spool } from './fixtures.ts';

afterEach(cleanUp);

/** A run whose payload is owed, and its watermark. */
async function owe(
  store: Store,
  { text, asOf, watermark, reading = 'r' }: { text: string; asOf: number; watermark?: string; reading?: string },
) {
  const run = await store.runs.begin({ job: 'j', origin: 'schedule' });
  const payload = spool(store, { run, text, asOf });
  const mark = watermark === undefined ? {} : { watermark: { reading, text: watermark } };
  const owing = { run, job: 'j', destination: place, instance: 'i', payload, mediaType: 'text/csv', always: false };
  return store.outbox.enqueue({ ...owing, ...mark });
}

const idOf = (owed: { row?: { id: number } }) => owed.row!.id;

describe('watermarks', () => {
  it('advance with the owed payload, and are durable', async () => {
    const folder = newFolder();
    const store = await newStore({ clock: new SteppingClock(), folder });
    expect(await store.watermarks.find('j', 'r')).toBeUndefined();
    await owe(store, { text: 'a', asOf: noon - 10, watermark: 'w1' });
    await owe(store, { text: 'b', asOf: noon - 9 });
    expect(await store.watermarks.find('j', 'r')).toBe('w1');
    await store.close();
    const again = await newStore({ clock: new SteppingClock(), folder });
    expect(await again.watermarks.find('j', 'r')).toBe('w1');
  });

  it('become invalid once the query changes', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    await owe(store, { text: 'a', asOf: noon - 10, watermark: 'w1' });
    expect(await store.watermarks.find('j', 'other')).toBeUndefined();
    await owe(store, { text: 'b', asOf: noon - 9, watermark: 'w2', reading: 'other' });
    expect(await store.watermarks.find('j', 'r')).toBeUndefined();
  });

  it("don't move if the payload isn't recorded, and never move back for an older extract", async () => {
    const store = await newStore({ clock: new SteppingClock() });
    await owe(store, { text: 'a', asOf: noon - 10, watermark: 'w1' });
    expect((await owe(store, { text: 'b', asOf: noon - 20, watermark: 'w0' })).state).toBe('superseded');
    expect(await store.watermarks.find('j', 'r')).toBe('w1');
    const missing = {
      sha256: 'f'.repeat(64),
      path: '/nowhere',
      bytes: 1,
      rows: 1,
      format: 'csv' as const,
      asOf: noon - 5,
    };
    const run = await store.runs.begin({ job: 'j', origin: 'schedule' });
    const owing = {
      run,
      job: 'j',
      destination: place,
      instance: 'i',
      payload: missing,
      mediaType: 'text/csv',
      always: false,
    };
    await expect(store.outbox.enqueue({ ...owing, watermark: { reading: 'r', text: 'w2' } })).rejects.toThrow();
    expect(await store.watermarks.find('j', 'r')).toBe('w1');
  });

  it('are rewound if the payload is dead, but not if a later run has advanced them', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const first = await owe(store, { text: 'a', asOf: noon - 10, watermark: 'w1' });
    const second = await owe(store, { text: 'b', asOf: noon - 9, watermark: 'w2' });
    await store.outbox.markDead(idOf(second as { row?: { id: number } }), { code: 'X_Y', message: 'gone' });
    expect(await store.watermarks.find('j', 'r')).toBe('w1');
    const third = await owe(store, { text: 'c', asOf: noon - 8, watermark: 'w3' });
    await store.outbox.markDead(idOf(first as { row?: { id: number } }), { code: 'X_Y', message: 'gone' });
    expect(await store.watermarks.find('j', 'r')).toBe('w3');
    await store.watermarks.forget('j');
    const fourth = await owe(store, { text: 'd', asOf: noon - 7, watermark: 'w4' });
    await store.outbox.markDead(idOf(fourth as { row?: { id: number } }), { code: 'X_Y', message: 'gone' });
    expect(await store.watermarks.find('j', 'r')).toBeUndefined();
    expect(third.state).toBe('owed');
  });
});
