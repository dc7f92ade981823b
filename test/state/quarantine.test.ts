import { existsSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { recover } from '../../src/state/recover.ts';
import type { Store } from '../../src/state/store.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { stateFor } from './engines.ts';
import { cleanUp, isStored, newFolder, newStore, oweText, place, spool } from './fixtures.ts';

afterEach(cleanUp);

const by = { who: 'ada@desk', why: 'looked at it' };
const instance = 'i1';
const key = { url: place.url, instance };
const keep = { payloads: 2, milliseconds: 86_400_000 };
const hour = 3_600_000;

/** A payload that a guard has quarantined, with its extract's watermark. */
async function holdBack(store: Store, { text, asOf }: { text: string; asOf: number }) {
  const run = await store.runs.begin({ job: 'job', origin: 'schedule' });
  const payload = spool(store, { run, text, asOf });
  const put = await store.quarantine.put(
    {
      run,
      job: 'job',
      destination: place,
      instance,
      payload,
      mediaType: 'text/csv',
      always: false,
      watermark: { reading: 'r', text: `read to ${text}` },
    },
    { findings: '[]', message: 'too few rows' },
  );
  return { run, payload, ...put };
}

async function deliver(store: Store, text: string, asOf: number) {
  const made = await oweText(store, { instance, text, asOf, job: 'job' });
  if (made.owed.state !== 'owed') throw new Error(made.owed.state);
  const row = (await store.outbox.attempt(made.owed.id))!;
  await store.outbox.delivered(row);
  await store.payloads.releaseFormer(row);
  return made;
}

/** Makes the files look an hour old. */
function age(...paths: readonly string[]): void {
  for (const path of paths) utimesSync(path, (noon - hour) / 1000, (noon - hour) / 1000);
}

describe('a dead payload', () => {
  it.each([
    ["isn't owed again over newer data", 'dead', false],
    ['is owed again if its own attempt has no known outcome, so the instance may show anything', 'owed', true],
  ])('%s, even if a wrong clock made it look newer', async (_, state, isTried) => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    await deliver(store, 'shown', noon);
    clock.wall = noon - hour;
    const { owed } = await oweText(store, { instance, text: 'older', asOf: noon - hour, job: 'job' });
    if (owed.state !== 'owed') throw new Error(owed.state);
    if (isTried) await store.outbox.attempt(owed.id);
    await store.outbox.markDead(owed.id, { code: 'X', message: 'refused' });
    clock.wall = noon + hour;
    expect(await store.outbox.requeue(owed.id)).toBe(isTried);
    expect(await store.outbox.find(owed.id)).toMatchObject({ state });
  });
});

describe('a quarantined payload', () => {
  it('is rejected if its file is missing, and the run stays unchanged', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const run = await store.runs.begin({ job: 'job', origin: 'schedule' });
    const payload = spool(store, { run, text: 'a', asOf: noon });
    rmSync(payload.path);
    const owing = { run, job: 'job', destination: place, instance, payload, mediaType: 'text/csv', always: false };
    const put = store.quarantine.put(owing, { findings: '[]', message: 'too few rows' });
    await expect(put).rejects.toMatchObject({ code: 'PAYLOAD_DAMAGED' });
    expect(await store.runs.find(run)).toMatchObject({ state: 'running' });
  });

  it("doesn't advance the watermark until it's approved, and then advances it to the end of its extract", async () => {
    const store = await newStore({ clock: new SteppingClock() });
    await store.watermarks.set({ job: 'job', run: 'before', reading: 'r', text: 'start' });
    const { id, run } = await holdBack(store, { text: 'a', asOf: noon });
    expect(await store.watermarks.find('job', 'r')).toBe('start');
    expect(await store.quarantine.approve(id, by)).toMatchObject({ row: { state: 'owed' } });
    expect(await store.watermarks.find('job', 'r')).toBe('read to a');
    expect(await store.runs.find(run)).toMatchObject({ state: 'owed' });
    await store.outbox.markDead(id, { code: 'X', message: 'refused' });
    expect(await store.watermarks.find('job', 'r')).toBe('start');
    expect(await store.audit.history({ job: 'job', limit: 9 })).toMatchObject([{ action: 'approve', run, ...by }]);
  });

  it("doesn't advance the watermark if it's discarded, and can be approved or discarded only once", async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const { id, run } = await holdBack(store, { text: 'a', asOf: noon });
    expect(await store.quarantine.discard(id, by)).toMatchObject({ row: { state: 'discarded' } });
    expect(await store.watermarks.find('job', 'r')).toBeUndefined();
    expect(await store.quarantine.approve(id, by)).toBeUndefined();
    expect(await store.quarantine.discard(id, by)).toBeUndefined();
    expect(await store.runs.find(run)).toMatchObject({ state: 'discarded' });
    expect(await store.audit.history({ limit: 9 })).toHaveLength(1);
  });

  it("doesn't affect the owed payload, and supersedes the previously quarantined one", async () => {
    const store = await newStore({ clock: new SteppingClock() });
    await oweText(store, { instance, text: 'owed', asOf: noon - 3, job: 'job' });
    const first = await holdBack(store, { text: 'a', asOf: noon - 2 });
    const second = await holdBack(store, { text: 'b', asOf: noon - 1 });
    expect(second.superseded.map(({ id }) => id)).toEqual([first.id]);
    expect(await store.outbox.inState('owed', 'quarantined')).toMatchObject([{ state: 'owed' }, { id: second.id }]);
    const decided = await store.quarantine.approve(second.id, by);
    expect(decided?.superseded).toMatchObject([{ sha256: expect.any(String), state: 'owed' }]);
    expect(await store.outbox.inState('owed')).toMatchObject([{ id: second.id }]);
  });

  it("is superseded by newer good data, and then can't be approved", async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const { id, run } = await holdBack(store, { text: 'a', asOf: noon - 2 });
    await deliver(store, 'newer', noon - 1);
    expect(await store.outbox.find(id)).toMatchObject({ state: 'superseded' });
    expect(await store.quarantine.approve(id, by)).toBeUndefined();
    expect(await store.runs.find(run)).toMatchObject({ state: 'quarantined', message: 'too few rows' });
  });

  it("whose extract started before the shown data's extract can't be approved over that data", async () => {
    const store = await newStore({ clock: new SteppingClock() });
    await deliver(store, 'shown', noon - 1);
    const { id } = await holdBack(store, { text: 'older', asOf: noon - 2 });
    expect(await store.quarantine.approve(id, by)).toBeUndefined();
    expect(await store.outbox.inState('owed')).toEqual([]);
    expect(await store.outbox.find(id)).toMatchObject({ state: 'quarantined' });
  });

  it('passes its guards again only if a user has approved these bytes for this instance', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const { id, payload } = await holdBack(store, { text: 'a', asOf: noon - 2 });
    const approved = (more: object = {}, sha256 = payload.sha256) =>
      store.quarantine.hasApproved({ ...key, ...more }, sha256);
    expect(await approved(), 'no one has decided yet').toBe(false);
    await store.quarantine.approve(id, by);
    expect(await approved()).toBe(true);
    const others = [{ instance: 'i2' }, { clientId: 'c' }, { url: 'http://127.0.0.1:2/api/1.0' }];
    for (const other of others) expect(await approved(other)).toBe(false);
    expect(await approved({}, 'f'.repeat(64))).toBe(false);
    await store.outbox.delivered((await store.outbox.attempt(id))!);
    expect(await approved()).toBe(true);
    const second = await holdBack(store, { text: 'b', asOf: noon - 1 });
    await store.quarantine.discard(second.id, by);
    expect(await approved({}, second.payload.sha256)).toBe(false);
  });

  it('survives restarts, cleanups and history pruning', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const { id, run, payload } = await holdBack(store, { text: 'a', asOf: noon });
    age(payload.path);
    await recover(store);
    await store.runs.prune(0);
    expect(await isStored(store, payload.path)).toBe(true);
    expect(await store.runs.find(run)).toBeDefined();
    expect(await store.quarantine.all()).toMatchObject([{ id, state: 'quarantined' }]);
  });
});

describe('delivered payloads', () => {
  it('can be restored, and serve as the reference after any number of runs without changes', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock, keep });
    const paths: string[] = [];
    for (const text of ['jan', 'feb', 'mar']) {
      clock.advance(hour);
      paths.push((await deliver(store, text, clock.now())).payload.path);
    }
    for (let run = 0; run < 20; run++) {
      const id = await store.runs.begin({ job: 'job', origin: 'schedule' });
      await store.runs.finish(id, { state: 'unchanged' });
    }
    await store.runs.prune(10);
    age(...paths.slice(1));
    await recover(store);
    expect(await Promise.all(paths.map((path) => isStored(store, path)))).toEqual([false, true, true]);
    expect(await store.goodPayloads.last(key)).toMatchObject({ path: paths[2] });
    expect(await store.goodPayloads.former(key)).toMatchObject([{ path: paths[1] }]);
  });

  it('are kept up to the configured number, across deliveries and cleanups', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock, keep });
    const paths = [];
    for (const n of [1, 2, 3]) paths.push((await deliver(store, `text ${n}`, noon - 10 + n)).payload.path);
    expect(paths.map((path) => existsSync(path))).toEqual([false, true, true]);
    age(paths[1]!, paths[2]!);
    expect(await store.payloads.sweep()).toEqual([]);
    clock.advance(keep.milliseconds + 1);
    expect(await store.payloads.sweep()).toHaveLength(2);
  });

  it('are restored in a separate run, which supersedes waiting payloads, puts the job on hold, and makes it reread everything', async () => {
    const store = await newStore({ clock: new SteppingClock(), keep });
    const first = await deliver(store, 'first', noon - 9);
    await deliver(store, 'wrong', noon - 8);
    await store.watermarks.set({ job: 'renamed', run: 'x', reading: 'r', text: 'far' });
    const held = await holdBack(store, { text: 'held', asOf: noon - 7 });
    const [former] = await store.goodPayloads.former(key);
    expect(former).toMatchObject({ run: first.run });
    const { row, superseded } = await store.goodPayloads.putBack(former!, { job: 'renamed', by });
    expect(superseded).toMatchObject([{ id: held.id }]);
    expect(await store.outbox.find(held.id), 'it must not replace what was restored').toMatchObject({
      state: 'superseded',
    });
    expect(row).toMatchObject({ state: 'owed', path: first.payload.path, as_of: noon - 9, attempts: 0, always: 1 });
    expect(row).toMatchObject({ last_attempt_at: null, next_attempt_at: null, unanswered_at: null });
    expect(row.run).not.toBe(first.run);
    expect(row.job).toBe('renamed');
    expect(await store.holds.find('renamed')).toMatchObject(by);
    expect(await store.watermarks.find('renamed', 'r')).toBeUndefined();
    expect(await store.goodPayloads.former(key)).toEqual([]);

    expect(await store.holds.release('renamed', by)).toBe(true);
    expect(await store.holds.release('renamed', by)).toBe(false);
    const actions = (await store.audit.history({ limit: 9 })).map(({ action }) => action);
    expect(actions).toEqual(['resume', 'rollback']);
  });

  it('that were restored are found after the state folder was moved', async () => {
    const folder = newFolder();
    const store = await newStore({ clock: new SteppingClock(), folder, keep });
    await deliver(store, 'first', noon - 9);
    await deliver(store, 'wrong', noon - 8);
    const [former] = await store.goodPayloads.former(key);
    const { row } = await store.goodPayloads.putBack(former!, { job: 'job', by });
    await store.close();
    const moved = join(newFolder(), 'moved');
    renameSync(folder, moved);
    const again = await newStore({ clock: new SteppingClock(), folder: moved, keep, ...stateFor(folder) });
    expect((await again.outbox.find(row.id))?.path).toBe(row.path.replace(folder, moved));
  });

  it("of one client aren't compared with another client's payloads", async () => {
    const store = await newStore({ clock: new SteppingClock(), keep });
    const own = await deliver(store, 'own', noon - 9);
    expect(await store.goodPayloads.last(key)).toMatchObject({ run: own.run });
    expect(await store.goodPayloads.last({ ...key, clientId: 'c' })).toBeUndefined();
  });
});
