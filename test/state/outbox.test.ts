import {
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { forgetSecrets, registerSecret } from '../../src/lib/redact.ts';
import { dueAt } from '../../src/state/outbox/attempts.ts';
import { recover } from '../../src/state/recover.ts';
import type { Store } from '../../src/state/store.ts';
import { noon, SteppingClock } from '../clocks.ts';
import fc, { runsOf } from '../property.ts';
import { stateFor } from './engines.ts';
import { cleanUp, damage, isStored, newFolder, newStore, oweText, Population, place, spool } from './fixtures.ts';

afterEach(cleanUp);

async function deliver(store: Store, id: number): Promise<void> {
  const row = await store.outbox.attempt(id);
  if (row === undefined) throw new Error(`payload ${id} is not owed`);
  await store.outbox.delivered(row);
}

function idOf(owed: { owed: { state: string; id?: number } }): number {
  if (owed.owed.id === undefined) throw new Error(`nothing was recorded: ${owed.owed.state}`);
  return owed.owed.id;
}

describe('the outbox', () => {
  it('lets a newer payload supersede an older one only for the same instance', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const old = await oweText(store, { instance: 'i', text: 'a', asOf: noon - 20 });
    const client = await oweText(store, { instance: 'i', text: 'a', asOf: noon - 20, clientId: 'c' });
    const other = await oweText(store, { instance: 'k', text: 'a', asOf: noon - 20 });
    const young = await oweText(store, { instance: 'i', text: 'b', asOf: noon - 10 });
    expect((await store.outbox.inState('owed')).map(({ id }) => id)).toEqual([client, other, young].map(idOf));
    expect(await store.outbox.find(idOf(old))).toMatchObject({ state: 'superseded' });
    expect(await store.runs.find(old.run)).toMatchObject({ state: 'superseded' });
  });

  it('attempts, retries and moves only owed payloads, and revives only dead ones', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const old = idOf(await oweText(store, { instance: 'i', text: 'a', asOf: noon - 20 }));
    await store.outbox.attempt(old);
    const young = idOf(await oweText(store, { instance: 'i', text: 'b', asOf: noon - 10 }));
    await store.outbox.postpone(old, { code: 'X_Y', message: 'busy', waitMs: 5, free: false });
    const superseded = { state: 'superseded', code: null, next_attempt_at: null, attempts: 1, url: place.url };
    expect(await store.outbox.find(old)).toMatchObject({ ...superseded, unanswered_at: expect.any(Number) });
    expect(await store.outbox.attempt(old)).toBeUndefined();
    expect(await store.outbox.note(old, { code: 'X_Y', message: 'busy' })).toBe(false);
    expect(await store.outbox.readdress(old, 'http://127.0.0.1:2/api/1.0')).toMatchObject(superseded);
    expect(await store.outbox.find(old)).toMatchObject(superseded);
    for (const id of [old, young]) expect(await store.outbox.requeue(id)).toBe(false);
    expect((await store.outbox.inState('owed')).map(({ id }) => id)).toEqual([young]);
  });

  it('lets the later of two payloads whose extracts started at the same time supersede the other', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    await deliver(store, idOf(await oweText(store, { instance: 'i', text: 'a', asOf: noon })));
    const later = await oweText(store, { instance: 'i', text: 'b', asOf: noon });
    expect(later.owed.state).toBe('owed');
    await store.outbox.markDead(idOf(later), { code: 'X_Y', message: 'no' });
    expect(await store.outbox.requeue(idOf(later))).toBe(true);
  });

  it('settles a result before it has a file only if the instance already shows it', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const first = await oweText(store, { instance: 'i', text: 'a', asOf: noon - 30 });
    const again = async (text: string, more: { asOf?: number; always?: boolean } = {}) => {
      const run = await store.runs.begin({ job: 'job-i', origin: 'schedule' });
      const { path, ...payload } = spool(store, { run, text, asOf: more.asOf ?? noon - 20 });
      rmSync(path);
      const owing = { run, job: 'job-i', destination: place, instance: 'i', mediaType: 'text/csv' };
      const watermark = { reading: 'r', text };
      const passed = await store.outbox.settleIfShown({ ...owing, always: more.always ?? false, payload, watermark });
      return { passed, state: (await store.runs.find(run))?.state };
    };
    expect(await again('a'), 'it is unknown what it shows').toEqual({ passed: false, state: 'running' });
    await deliver(store, idOf(first));
    expect(await again('a')).toEqual({ passed: true, state: 'unchanged' });
    expect(await store.watermarks.find('job-i', 'r')).toBe('a');
    expect((await store.receipts.all())[0]).toMatchObject({ as_of: noon - 20, certain: 1 });
    expect(await again('b')).toEqual({ passed: false, state: 'running' });
    expect(await again('a', { always: true })).toEqual({ passed: false, state: 'running' });
    expect(await again('a', { asOf: noon - 25 }), 'older than what is known').toEqual({
      passed: false,
      state: 'running',
    });
    await oweText(store, { instance: 'i', text: 'b', asOf: noon - 10 });
    expect(await again('a', { asOf: noon - 5 }), 'other data is owed').toEqual({ passed: false, state: 'running' });
  });

  it('immediately supersedes a result whose extract started earlier but ended later', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const young = await oweText(store, { instance: 'i', text: 'young', asOf: noon - 10 });
    expect((await oweText(store, { instance: 'i', text: 'old', asOf: noon - 20 })).owed.state).toBe('superseded');
    await deliver(store, idOf(young));
    const late = await oweText(store, { instance: 'i', text: 'old', asOf: noon - 20, always: true });
    expect(late.owed.state).toBe('superseded');
    expect(await store.outbox.find(idOf(late))).toMatchObject({ settled_at: expect.any(Number) });
    expect(await store.runs.find(late.run)).toMatchObject({ state: 'superseded' });
  });

  it('never sends data older than a payload whose request got no response, even if that payload is dead', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    await deliver(store, idOf(await oweText(store, { instance: 'shown', text: 'first', asOf: noon - 30 })));
    for (const instance of ['new', 'shown']) {
      const young = await oweText(store, { instance, text: 'young', asOf: noon - 10 });
      await store.outbox.attempt(idOf(young));
      await store.outbox.markDead(idOf(young), { code: 'X_Y', message: 'gone' });
      expect((await oweText(store, { instance, text: 'old', asOf: noon - 20 })).owed.state).toBe('superseded');
    }
  });

  it('never sends data older than a payload that was tried, even if an earlier payload is accepted afterwards', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const row = await store.outbox.attempt(idOf(await oweText(store, { instance: 'i', text: 'a', asOf: noon - 30 })));
    const young = await oweText(store, { instance: 'i', text: 'young', asOf: noon - 10 });
    await store.outbox.attempt(idOf(young));
    await store.outbox.markDead(idOf(young), { code: 'X_Y', message: 'gone' });
    await store.outbox.delivered(row!);
    expect((await oweText(store, { instance: 'i', text: 'old', asOf: noon - 20 })).owed.state).toBe('superseded');
  });

  it('sends the same bytes again if an older request without a response may have been processed in the meantime', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    const old = await oweText(store, { instance: 'i', text: 'old', asOf: noon - 20 });
    await store.outbox.attempt(idOf(old));
    await store.outbox.postpone(idOf(old), { code: 'DELIVERY_NO_ANSWER', message: 'x', waitMs: 1, free: false });
    await deliver(store, idOf(await oweText(store, { instance: 'i', text: 'new', asOf: noon - 10 })));
    expect((await oweText(store, { instance: 'i', text: 'new', asOf: noon - 5 })).owed.state).toBe('unchanged');
    clock.advance(11 * 60_000);
    const again = await oweText(store, { instance: 'i', text: 'new', asOf: noon });
    expect(again.owed.state).toBe('owed');
    await deliver(store, idOf(again));
    expect((await oweText(store, { instance: 'i', text: 'new', asOf: noon + 1 })).owed.state).toBe('unchanged');
  });

  it("isn't blocked by data whose timestamp comes from a clock that was ahead", async () => {
    const clock = new SteppingClock(noon + 400 * 86_400_000);
    const store = await newStore({ clock });
    await deliver(store, idOf(await oweText(store, { instance: 'i', text: 'a', asOf: clock.now() })));
    await oweText(store, { instance: 'k', text: 'a', asOf: clock.now() });
    clock.wall = noon;
    expect((await oweText(store, { instance: 'i', text: 'b', asOf: noon - 5 })).owed.state).toBe('owed');
    expect((await oweText(store, { instance: 'k', text: 'b', asOf: noon - 5 })).owed.state).toBe('owed');
    expect((await oweText(store, { instance: 'i', text: 'c', asOf: noon - 9 })).owed.state).toBe('superseded');
  });

  it("doesn't owe bytes that the instance already shows, unless the job always sends", async () => {
    const store = await newStore({ clock: new SteppingClock() });
    await deliver(store, idOf(await oweText(store, { instance: 'i', text: 'a', asOf: noon - 30 })));
    const again = await oweText(store, { instance: 'i', text: 'a', asOf: noon - 20 });
    expect(again.owed.state).toBe('unchanged');
    expect(await store.runs.find(again.run)).toMatchObject({ state: 'unchanged', requests: 0 });
    expect((await oweText(store, { instance: 'i', text: 'a', asOf: noon - 10, always: true })).owed.state).toBe('owed');
  });

  it('owes the same bytes again if their format is different', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    await deliver(store, idOf(await oweText(store, { instance: 'i', text: '[]', asOf: noon - 30 })));
    const run = await store.runs.begin({ job: 'job-i', origin: 'schedule' });
    const payload = { ...spool(store, { run, text: '[]', asOf: noon - 20 }), format: 'json' as const };
    const owing = { run, job: 'job-i', destination: place, instance: 'i', mediaType: 'x', always: false, payload };
    expect(await store.outbox.settleIfShown(owing)).toBe(false);
    expect((await store.outbox.enqueue(owing)).state).toBe('owed');
  });

  it('records why a payload waits, reports each reason once, and counts no attempt that crashed before', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const id = idOf(await oweText(store, { instance: 'i', text: 'a', asOf: noon }));
    await store.outbox.attempt(id);
    const reported: boolean[] = [];
    for (const code of ['A', 'A', 'B']) reported.push(await store.outbox.note(id, { code, message: 'busy' }));
    expect(reported).toEqual([true, false, true]);
    expect(await store.outbox.find(id)).toMatchObject({ code: 'B', attempts: 0 });
  });

  it('settles an owed payload once if the instance turns out to show its bytes', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const { run, ...owed } = await oweText(store, { instance: 'i', text: 'a', asOf: noon });
    const row = await store.outbox.find(idOf(owed));
    expect(await store.outbox.unchanged(row!)).toBe(true);
    expect(await store.runs.find(run)).toMatchObject({ state: 'unchanged' });
    expect(await store.outbox.unchanged(row!)).toBe(false);
  });

  it('stores no secrets from messages of the service or from errors', async () => {
    registerSecret('s3cr3t-key');
    const store = await newStore({ clock: new SteppingClock() });
    const id = idOf(await oweText(store, { instance: 'i', text: 'a', asOf: noon }));
    const said = (code: string) => ({ code, message: `no s3cr3t-key (${code})` });
    const kept = async () => (await store.outbox.find(id))?.message;
    await store.outbox.note(id, said('A'));
    expect(await kept()).toBe('no [redacted] (A)');
    await store.outbox.postpone(id, { ...said('B'), free: true });
    expect(await kept()).toBe('no [redacted] (B)');
    await store.outbox.markDead(id, said('C'));
    expect(await kept()).toBe('no [redacted] (C)');
    forgetSecrets();
  });

  it('supersedes the owed payload if the data changes back to what the instance shows', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    await deliver(store, idOf(await oweText(store, { instance: 'i', text: 'a', asOf: noon - 30 })));
    const flip = await oweText(store, { instance: 'i', text: 'b', asOf: noon - 20 });
    expect((await oweText(store, { instance: 'i', text: 'a', asOf: noon - 10 })).owed.state).toBe('unchanged');
    expect(await store.outbox.find(idOf(flip))).toMatchObject({ state: 'superseded' });
    const late = await oweText(store, { instance: 'i', text: 'c', asOf: noon - 15 });
    expect(late.owed.state, 'older than the extract that found it unchanged').toBe('superseded');
  });

  it('sends earlier bytes again if a later request got no response', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    await deliver(store, idOf(await oweText(store, { instance: 'i', text: 'a', asOf: noon - 30 })));
    await store.outbox.attempt(idOf(await oweText(store, { instance: 'i', text: 'b', asOf: noon - 20 })));
    expect((await oweText(store, { instance: 'i', text: 'a', asOf: noon - 10 })).owed.state).toBe('owed');
  });

  it('counts a payload as delivered even if a newer one superseded it during the upload', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const old = await oweText(store, { instance: 'i', text: 'a', asOf: noon - 30 });
    const row = await store.outbox.attempt(idOf(old));
    const young = await oweText(store, { instance: 'i', text: 'b', asOf: noon - 20 });
    if (row !== undefined) await store.outbox.delivered(row);
    expect(await store.outbox.find(idOf(old))).toMatchObject({ state: 'delivered' });
    expect((await store.outbox.inState('owed')).map(({ id }) => id)).toEqual([idOf(young)]);
    expect(await store.receipts.find({ url: place.url, instance: 'i' })).toMatchObject({
      certain: 1,
      as_of: noon - 30,
    });
  });

  it('counts a payload as delivered even if another process marked it as dead during the upload', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const { run, ...owed } = await oweText(store, { instance: 'i', text: 'a', asOf: noon - 30 });
    const row = await store.outbox.attempt(idOf(owed));
    await store.outbox.markDead(idOf(owed), { code: 'X_Y', message: 'no' });
    await store.outbox.delivered(row!);
    expect(await store.outbox.find(idOf(owed))).toMatchObject({ state: 'delivered', code: null, message: null });
    expect(await store.runs.find(run)).toMatchObject({ state: 'delivered' });
  });

  it("rejects a payload whose file is missing or truncated, and doesn't change the run", async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const run = await store.runs.begin({ job: 'j', origin: 'person' });
    const payload = spool(store, { run, text: 'abc', asOf: noon });
    truncateSync(payload.path, 1);
    const owing = { run, job: 'j', destination: place, instance: 'i', payload, mediaType: 'text/csv', always: false };
    await expect(store.outbox.enqueue(owing)).rejects.toMatchObject({ code: 'PAYLOAD_DAMAGED' });
    rmSync(payload.path);
    await expect(store.outbox.enqueue(owing)).rejects.toMatchObject({ code: 'PAYLOAD_DAMAGED' });
    expect(await store.runs.find(run)).toMatchObject({ state: 'running' });
  });

  it('requeues a dead payload, unless newer data has arrived since', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const { run, ...owed } = await oweText(store, { instance: 'i', text: 'a', asOf: noon - 30 });
    const first = idOf(owed);
    const busy = { code: 'X_Y', message: 'busy', waitMs: 9, free: false };
    await store.outbox.attempt(first);
    await store.outbox.postpone(first, { ...busy, blamed: true });
    for (let crash = 0; crash < 2; crash++) await store.outbox.attempt(first);
    await store.outbox.postpone(first, busy);
    await store.outbox.markDead(first, { code: 'X_Y', message: 'refused' });
    expect(await store.outbox.find(first)).toMatchObject({ faults: 1, crashes: 1, code: 'X_Y', message: 'refused' });
    expect(await store.outbox.requeue(first)).toBe(true);
    const fresh = { state: 'owed', attempts: 0, crashes: 0, faults: 0, next_attempt_at: null };
    expect(await store.outbox.find(first)).toMatchObject({ ...fresh, settled_at: null, code: null, message: null });
    expect(await store.runs.find(run)).toMatchObject({ state: 'owed' });
    await deliver(store, idOf(await oweText(store, { instance: 'i', text: 'b', asOf: noon - 20 })));
    expect(await store.outbox.requeue(first)).toBe(false);
  });

  it('lets a newer payload wait since the one that it supersedes was enqueued', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    const since = clock.now();
    for (const text of ['a', 'b', 'c']) {
      const id = idOf(await oweText(store, { instance: 'i', text, asOf: clock.now() }));
      expect(await store.outbox.find(id)).toMatchObject({ owed_at: clock.now(), waiting_since: since });
      clock.advance(1000);
    }
  });

  it('counts the crashed attempts since the last one that failed', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const { run, ...owed } = await oweText(store, { instance: 'i', text: 'a', asOf: noon });
    const id = idOf(owed);
    for (let crash = 0; crash < 3; crash++) await store.outbox.attempt(id);
    expect(await store.outbox.find(id)).toMatchObject({ attempts: 1, crashes: 2 });
    await store.outbox.postpone(id, { code: 'X_Y', message: 'busy', free: false });
    await store.outbox.attempt(id);
    expect(await store.outbox.find(id)).toMatchObject({ attempts: 2, crashes: 0 });
    expect(await store.runs.find(run)).toMatchObject({ requests: 4 });
  });

  it('keeps the newer of two payloads that meet at a new URL, even though neither was sent', async () => {
    const elsewhere = { name: 'main', url: 'http://127.0.0.1:2/api/1.0' };
    const states = async (here: number, there: number) => {
      const store = await newStore({ clock: new SteppingClock() });
      const moving = idOf(await oweText(store, { instance: 'i', text: 'here', asOf: here }));
      const run = await store.runs.begin({ job: 'job-i', origin: 'schedule' });
      const payload = spool(store, { run, text: 'there', asOf: there });
      const owing = {
        run,
        job: 'job-i',
        destination: elsewhere,
        instance: 'i',
        mediaType: 'x',
        always: false,
        payload,
      };
      await store.outbox.enqueue(owing);
      const moved = await store.outbox.readdress(moving, elsewhere.url);
      return [moved?.state, (await store.outbox.ofRun(run))?.state];
    };
    expect(await states(noon - 20, noon - 10)).toEqual(['superseded', 'owed']);
    expect(await states(noon - 10, noon - 20)).toEqual(['owed', 'superseded']);
  });

  it("doesn't wait longer if the clock was set back", async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    const id = idOf(await oweText(store, { instance: 'i', text: 'a', asOf: noon - 30 }));
    await store.outbox.attempt(id);
    await store.outbox.postpone(id, { code: 'X_Y', message: 'busy', waitMs: 5_000, free: false });
    const row = await store.outbox.find(id);
    if (row === undefined) throw new Error('lost');
    expect(dueAt(row, clock.now())).toBe(noon + 5_000);
    expect(dueAt(row, clock.now() - 86_400_000)).toBe(0);
    expect(row.attempts).toBe(1);
    await store.outbox.attempt(id);
    await store.outbox.postpone(id, { code: 'X_Y', message: 'quota', free: true });
    expect(await store.outbox.find(id)).toMatchObject({ attempts: 1, next_attempt_at: null });
  });
});

describe('receipts', () => {
  it('show whether a destination has accepted a payload since a time, and ignore times in the future', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    const at = clock.now();
    const accept = async (name: string, text: string) => {
      const run = await store.runs.begin({ job: 'j', origin: 'schedule' });
      const payload = spool(store, { run, text, asOf: clock.now() });
      const destination = { ...place, name };
      const owing = { run, job: 'j', destination, instance: 'i', payload, mediaType: 'text/csv', always: false };
      const owed = await store.outbox.enqueue(owing);
      await deliver(store, idOf({ owed: { state: owed.state, ...('row' in owed ? owed.row : {}) } }));
    };
    await accept('other', 'a');
    await accept('main', 'b');
    expect(await store.receipts.tookAfter(['main'], at - 1)).toBe(true);
    expect(await store.receipts.tookAfter(['main'], at)).toBe(false);
    expect(await store.receipts.tookAfter(['other'], at - 1), 'whose data was replaced').toBe(false);
    clock.wall = at - 2000;
    expect(await store.receipts.tookAfter(['main'], at - 1)).toBe(false);
  });
});

describe('payload files', () => {
  it('are deleted if nothing needs them, and kept while their payload is owed or dead', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const { payload, ...rest } = await oweText(store, { instance: 'i', text: 'a', asOf: noon });
    await store.payloads.release(payload.path);
    expect(existsSync(payload.path)).toBe(true);
    await store.outbox.markDead(idOf(rest), { code: 'X_Y', message: 'no' });
    await store.payloads.release(payload.path);
    expect(existsSync(payload.path)).toBe(true);
    await store.outbox.requeue(idOf(rest));
    await deliver(store, idOf(rest));
    await store.payloads.release(payload.path);
    expect(existsSync(payload.path)).toBe(false);
    expect(existsSync(join(payload.path, '..'))).toBe(false);
  });

  it("are deleted if they're orphaned, but never while an active run or a payload needs them", async () => {
    const folder = newFolder();
    const people = new Population();
    const clock = new SteppingClock(Date.now());
    const dying = await newStore({ clock, folder, processes: people.member('dying') });
    const store = await newStore({ clock, folder, processes: people.member('living') });
    const orphanRun = await dying.runs.begin({ job: 'orphan', origin: 'schedule' });
    const orphan = spool(dying, { run: orphanRun, text: 'orphan', asOf: 1 });
    const owed = await oweText(store, { instance: 'i', text: 'owed', asOf: 1 });
    const slow = await store.runs.begin({ job: 'slow', origin: 'schedule' });
    const almost = spool(store, { run: slow, text: 'almost owed', asOf: 1 });
    const dayAgo = new Date(clock.now() - 86_400_000);
    for (const path of [orphan.path, owed.payload.path, almost.path]) utimesSync(path, dayAgo, dayAgo);
    const fresh = join(store.payloads.root, 'fresh.tmp');
    writeFileSync(fresh, 'half');

    expect((await recover(store)).swept, 'no process has died yet').toEqual([]);
    people.dead.add('dying');
    expect((await recover(store)).swept).toEqual([orphan.path]);
    await store.runs.finish(slow, { state: 'failed' });
    const { swept, interrupted } = await recover(store);
    expect(swept).toEqual([almost.path]);
    expect(interrupted).toEqual([]);
    expect(await isStored(store, owed.payload.path)).toBe(true);
    expect(existsSync(fresh)).toBe(true);
  });

  it('are found after their folder was moved, even if another process sees it at another path', async () => {
    const clock = new SteppingClock();
    const folder = newFolder();
    const store = await newStore({ clock, folder });
    const owed = await oweText(store, { instance: 'i', text: 'the only copy', asOf: 1 });
    const elsewhere = join(newFolder(), 'link');
    symlinkSync(folder, elsewhere);
    const other = await newStore({ clock, folder: elsewhere, ...stateFor(folder) });
    expect(await other.outbox.inState('owed')).toMatchObject([{ path: owed.payload.path.replace(folder, elsewhere) }]);
    await store.close();
    await other.close();

    const moved = join(newFolder(), 'moved');
    renameSync(folder, moved);
    const path = owed.payload.path.replace(folder, moved);
    utimesSync(path, 1, 1);
    const again = await newStore({ clock, folder: moved, ...stateFor(folder) });
    expect(await recover(again)).toMatchObject({ damaged: [], swept: [] });
    expect(await again.outbox.inState('owed')).toMatchObject([{ path }]);
    await again.blobs.ensureHere(path);
    expect(readFileSync(path, 'utf8')).toBe('the only copy');
    await deliver(again, idOf(owed));
    await again.payloads.release(path);
    expect(existsSync(path)).toBe(false);
  });

  it("that are damaged make their payload dead at startup, and don't affect other payloads", async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const cut = await oweText(store, { instance: 'a', text: 'abc', asOf: noon });
    const gone = await oweText(store, { instance: 'b', text: 'abc', asOf: noon });
    const whole = await oweText(store, { instance: 'c', text: 'abc', asOf: noon });
    await damage(store, cut.payload.path, 'ab');
    await store.blobs.drop(gone.payload.path);
    expect((await recover(store)).damaged.map(({ id }) => id)).toEqual([idOf(cut), idOf(gone)]);
    expect(await store.outbox.find(idOf(cut))).toMatchObject({ state: 'dead', code: 'PAYLOAD_DAMAGED' });
    expect((await store.outbox.inState('owed')).map(({ id }) => id)).toEqual([idOf(whole)]);
    expect(await store.runs.find(gone.run)).toMatchObject({ state: 'dead', code: 'PAYLOAD_DAMAGED' });
  });
});

/** The outbox's guarantees, in short: the newest data arrives, and nothing is lost. */
interface Model {
  /** Content and age of the service's data. */
  held: { text: string; asOf: number } | undefined;
  offered: number;
  ids: Set<number>;
}

describe('any history of runs, crashes and responses', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('owe' as const), text: fc.constantFrom('a', 'b', 'c'), age: fc.nat(50) }),
    fc.record({ kind: fc.constant('send' as const), fate: fc.constantFrom('arrived', 'lost', 'silent', 'refused') }),
    fc.record({ kind: fc.constant('tick' as const) }),
    fc.record({ kind: fc.constant('restart' as const) }),
  );

  it('loses no data, never returns to older data, and ends with the newest data', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const clock = new SteppingClock();
        const folder = newFolder();
        let store = await newStore({ clock, folder });
        const model: Model = { held: undefined, offered: -1, ids: new Set() };
        const arrive = (row: { path: string; as_of: number }, text: string) => {
          expect(row.as_of).toBeGreaterThanOrEqual(model.held?.asOf ?? 0);
          model.held = { text, asOf: row.as_of };
        };
        const texts = new Map<string, string>();
        for (const now of steps) {
          if (now.kind === 'tick') clock.advance(7);
          if (now.kind === 'restart') {
            await store.close();
            store = await newStore({ clock, folder });
            await recover(store);
          }
          if (now.kind === 'owe') {
            const asOf = clock.now() - now.age;
            const { owed, payload } = await oweText(store, { instance: 'i', text: now.text, asOf });
            texts.set(payload.path, now.text);
            if (owed.state === 'unchanged') expect(model.held?.text).toBe(now.text);
            if (owed.state !== 'unchanged') model.ids.add(owed.id);
            if (owed.state === 'unchanged' && model.held) model.held = { text: now.text, asOf };
            model.offered = Math.max(model.offered, asOf);
          }
          if (now.kind === 'send') {
            const [first] = await store.outbox.inState('owed');
            const row = first && (await store.outbox.attempt(first.id));
            if (row === undefined) continue;
            if (now.fate === 'arrived' || now.fate === 'silent') arrive(row, texts.get(row.path) ?? '');
            if (now.fate === 'arrived') await store.outbox.delivered(row);
            if (now.fate === 'lost')
              await store.outbox.postpone(row.id, { code: 'X_Y', message: 'lost', waitMs: 5, free: false });
            if (now.fate === 'refused') await store.outbox.markDead(row.id, { code: 'X_Y', message: 'refused' });
          }
          expect((await store.outbox.inState('owed')).length).toBeLessThanOrEqual(1);
          for (const id of model.ids) expect(await store.outbox.find(id)).toBeDefined();
        }
        for (const row of await store.outbox.inState('dead')) await store.outbox.requeue(row.id);
        for (const { id } of await store.outbox.inState('owed')) {
          const row = await store.outbox.attempt(id);
          if (row === undefined) continue;
          arrive(row, texts.get(row.path) ?? '');
          await store.outbox.delivered(row);
        }
        if (model.offered >= 0) expect(model.held?.asOf).toBe(model.offered);
        await store.close();
      }),
      { numRuns: runsOf(60) },
    );
  });
});
