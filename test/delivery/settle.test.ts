import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Job } from '../../src/config/config.ts';
import { settle } from '../../src/delivery/settle.ts';
import { verdictOf } from '../../src/delivery/verdict.ts';
import type { DraftPayload } from '../../src/pipeline/payload.ts';
import { draftOf, spool } from '../state/fixtures.ts';
import { deliver, deliverHere, heard, open, stage, store } from './deliver-rig.ts';
import { commitText, jobFor } from './fixtures.ts';

deliverHere();

/** Settles a run with `text`. Returns what happened to its draft, and the run's state at that moment. */
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
  const watermark = { reading: 'r', text: `read to ${text}` };
  const result = await settle(gateway, { job, run, payload, watermark });
  return { state: result.state, seen };
}

it("a result is sealed before it's settled, and only if it must be kept", async () => {
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

it('a result that the instance already shows is sealed if another payload is owed to the instance', async () => {
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

/** The contents of all payload files, and the events since the last call. */
function left() {
  const files = readdirSync(store.payloads.root, { recursive: true, withFileTypes: true });
  const texts = files.filter((one) => one.isFile()).map((one) => readFileSync(join(one.parentPath, one.name), 'utf8'));
  return { texts: texts.sort(), events: heard.events.splice(0).map(({ name }) => name.replace('payload.', '')) };
}

it('settling a result leaves only the files that are still needed, and emits an event for each change', async () => {
  const way = open();
  const few: Partial<Job> = { guards: { rows: { minimum: 2 } } };
  await settled(way, { text: 'a' });
  expect(left()).toEqual({ texts: ['a'], events: ['owed'] });
  await settled(way, { text: 'b' });
  expect(left()).toEqual({ texts: ['b'], events: ['owed', 'superseded'] });
  await settled(way, { text: 'old', asOf: Date.now() - 60_000 });
  expect(left()).toEqual({ texts: ['b'], events: ['superseded'] });
  await settled(way, { text: 'few', more: few });
  expect(left()).toEqual({ texts: ['b', 'few'], events: ['quarantined'] });
  await settled(way, { text: 'fewer', more: few });
  expect(left()).toEqual({ texts: ['b', 'fewer'], events: ['quarantined', 'superseded'] });
  await settled(way, { text: '', rows: 0 });
  expect(left()).toEqual({ texts: ['b', 'fewer'], events: ['refused'] });
  await deliver(way.gateway);
  expect(left().texts).toEqual(['fewer']);
  await settled(way, { text: 'b' });
  expect(left()).toEqual({ texts: [], events: ['unchanged', 'superseded'] });
  await settled(way, { text: 'b' });
  expect(left()).toEqual({ texts: [], events: ['unchanged'] });
  await settled(way, { text: 'c' });
  await settled(way, { text: 'b' });
  expect(left()).toEqual({ texts: [], events: ['owed', 'unchanged', 'superseded'] });
});

it('a job that always sends would also send a result that the instance already shows', async () => {
  const { destination, gateway } = open();
  const job = jobFor(destination, 'i');
  await commitText(gateway, { job, text: 'a' });
  await deliver(gateway);
  const known = { store, key: { url: destination.url, instance: 'i' } };
  const payload = spool(store, { run: 'dry', text: 'a', asOf: Date.now() });
  expect(await verdictOf({ job, payload }, known)).toEqual({ state: 'unchanged' });
  expect(await verdictOf({ job: { ...job, always: true }, payload }, known)).toEqual({ state: 'owed' });
});

it("a result is sent with its format's media type, and moves the watermark once it's owed", async () => {
  const way = open();
  const extract = { format: { mediaType: 'text/csv; charset=utf-8' } } as Job['extract'];
  await settled(way, { text: '', rows: 0 });
  expect(await store.watermarks.find('job-i', 'r')).toBeUndefined();
  await settled(way, { text: 'a', more: { extract } });
  expect(await store.watermarks.find('job-i', 'r')).toBe('read to a');
  await deliver(way.gateway);
  expect(stage.seen[0]?.headers['content-type']).toBe('text/csv; charset=utf-8');
});
