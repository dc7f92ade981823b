import { readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { composeRuntime } from '../../../src/daemon/compose.ts';
import { jobRowsFrom } from '../../../src/daemon/run/job-rows.ts';
import { syncJobs } from '../../../src/daemon/run/sync-jobs.ts';
import csv from '../../../src/formats/all/csv.ts';
import xml from '../../../src/formats/all/xml.ts';
import { batchText } from '../../../src/sdk/batch.ts';
import { defineConnector } from '../../../src/sdk/connector.ts';
import type { JobRows } from '../../../src/sdk/job-rows.ts';
import { option, withDefaults } from '../../../src/sdk/option.ts';
import { recover } from '../../../src/state/recover.ts';
import type { Store } from '../../../src/state/store.ts';
import { noon, SteppingClock } from '../../clocks.ts';
import { makeFolder } from '../../journey/process.ts';
import { describeWithServer } from '../../servers/describe.ts';
import { openTwo } from '../../state/blob-suite.ts';
import { cleanUp, damage, newFolder, newStore, oweText, place, spool } from '../../state/fixtures.ts';
import { configOf, destinationOf, jobOf, openService, Source } from '../rig.ts';

afterEach(cleanUp);

const hour = 3_600_000;
const key = { url: place.url, instance: 'i' };

async function owe(store: Store, text: string, { instance = 'i', asOf = noon } = {}) {
  const rows = text.split('\n').length - 2;
  const { owed, payload } = await oweText(store, { job: 'accounts', instance, text, asOf, rows });
  if (owed.state !== 'owed') throw new Error(owed.state);
  return { id: owed.id, path: payload.path };
}

const deliver = async (store: Store, id: number) => store.outbox.delivered((await store.outbox.attempt(id))!);

const read = (store: Store | undefined, maxAgeMs?: number, folder = newFolder()) =>
  jobRowsFrom(store)('accounts', { maxAgeMs, folder });

async function textOf({ columns, batches }: JobRows) {
  const rows: (string | null)[][] = [];
  for await (const batch of batches) rows.push(...batchText(batch));
  return { names: columns.map(({ name }) => name), rows };
}

describe("a job's last rows", () => {
  it('are those of its newest payload that was delivered or is owed', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    await expect(read(undefined)).rejects.toMatchObject({ code: 'JOB_ROWS_NONE', next: 'sluice sync accounts' });
    await expect(read(store)).rejects.toMatchObject({ code: 'JOB_ROWS_NONE', family: 'job' });
    await oweText(store, { job: 'other', instance: 'k', text: 'id\n9\n', asOf: noon });
    await expect(read(store)).rejects.toMatchObject({ code: 'JOB_ROWS_NONE' });
    const first = await owe(store, 'id,name\n1,"a, b"\n2,\n');
    expect(await textOf(await read(store))).toEqual({
      names: ['id', 'name'],
      rows: [
        ['1', 'a, b'],
        ['2', null],
      ],
    });
    await deliver(store, first.id);
    const second = await owe(store, 'id\n3\n', { asOf: noon + 1 });
    expect((await textOf(await read(store))).rows).toEqual([['3']]);
    await store.outbox.markDead(second.id, { code: 'X_Y', message: 'refused' });
    expect((await textOf(await read(store))).rows).toHaveLength(2);
  });

  it('are as old as their extract, or as the last one that found the same rows', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    await deliver(store, (await owe(store, 'id\n1\n', { asOf: clock.now() })).id);
    const since = clock.now();
    clock.advance(25 * hour);
    await expect(read(store, 24 * hour)).rejects.toMatchObject({
      code: 'JOB_ROWS_OLD',
      message: 'The last rows of job accounts are too old',
      seen: expect.stringMatching(/^1 row, read 25 h 00 min ago/),
      allowed: 'at most 24 h 00 min',
      next: 'sluice sync accounts',
    });
    expect((await read(store)).asOf).toBe(since);
    await store.receipts.recheck(key, { job: 'accounts', asOf: clock.now() });
    expect((await read(store, 24 * hour)).asOf).toBe(clock.now());
  });

  it('are not too old while their payload waits for the service, if the source has not changed since', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    await owe(store, 'id\n1\n', { asOf: clock.now() });
    clock.advance(25 * hour);
    await store.receipts.recheck(key, { job: 'another', asOf: clock.now() });
    await expect(read(store, 24 * hour)).rejects.toMatchObject({ code: 'JOB_ROWS_OLD' });
    await store.receipts.recheck(key, { job: 'accounts', asOf: clock.now() });
    expect((await read(store, 24 * hour)).asOf).toBe(clock.now());
    await store.receipts.recheck(key, { job: 'accounts', asOf: clock.now() - hour });
    expect((await read(store)).asOf).toBe(clock.now());
  });

  it('are read in the format that they were written in, from the target that they were sent to', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const write = async (text: string, format: string, formatOptions: object, nth: number) => {
      const run = await store.runs.begin({ job: 'accounts', origin: 'schedule' });
      const payload = { ...spool(store, { run, text, asOf: noon + nth }), format };
      const to = { destination: place, instance: `i${nth}`, mediaType: 'x', always: false };
      await store.outbox.enqueue({ run, job: 'accounts', ...to, payload, formatOptions: { ...formatOptions } });
    };
    await write('id;name\n1;-\n', 'csv', withDefaults(csv.options, { delimiter: ';', null_text: '-' }), 0);
    expect(await textOf(await read(store))).toEqual({ names: ['id', 'name'], rows: [['1', null]] });
    const tags = withDefaults(xml.options, { root: 'all', row: 'one' });
    await write('<all><one><id>12345678901234567890.10</id></one></all>', 'xml', tags, 1);
    expect(await textOf(await read(store))).toEqual({ names: ['id'], rows: [['12345678901234567890.10']] });
    await write('[{"id":12345678901234567890.10}]', 'json', {}, 2);
    expect((await textOf(await read(store))).rows).toEqual([['12345678901234567890.10']]);
  });

  it('are never a part of them: a damaged or missing file is an error', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    store.keepRowsOf(['accounts']);
    const { path } = await owe(store, 'id\n1\n2\n');
    expect(await store.goodPayloads.lacksRows('accounts')).toBe(false);
    await damage(store, path, 'id\n1\n');
    await expect(read(store)).rejects.toMatchObject({
      code: 'JOB_ROWS_LOST',
      seen: path,
      message: expect.stringMatching(/damaged/),
    });
    rmSync(path);
    await expect(read(store)).rejects.toMatchObject({
      code: 'JOB_ROWS_LOST',
      message: expect.stringMatching(/missing/),
    });
    expect(await store.goodPayloads.lacksRows('accounts')).toBe(true);
    expect(await store.goodPayloads.lacksRows('other')).toBe(false);
  });

  it('stay the same while a run reads them, even if their file is deleted', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const { path } = await owe(store, 'id\n1\n2\n');
    const folder = newFolder();
    const rows = await read(store, undefined, folder);
    rmSync(path);
    writeFileSync(path, 'id\n');
    expect((await textOf(rows)).rows).toEqual([['1'], ['2']]);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it('are kept as long as another job reads them, whatever else is kept', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    store.keepRowsOf(['accounts']);
    for (const nth of [1, 2]) {
      const { id } = await owe(store, `id\n${nth}\n`, { asOf: clock.now() });
      await deliver(store, id);
      await store.payloads.releaseFormer((await store.outbox.find(id))!);
      clock.advance(400 * 24 * hour);
    }
    const files = () => store.payloads.folders().flatMap((folder) => readdirSync(folder)).length;
    expect(await store.payloads.forget(1_000_000)).toEqual({ payloads: 0, bytes: 0 });
    await recover(store);
    expect(files()).toBe(1);
    expect((await textOf(await read(store))).rows).toEqual([['2']]);
    store.keepRowsOf([]);
    expect(await store.payloads.forget(1_000_000)).toMatchObject({ payloads: 1 });
    expect(files()).toBe(0);
  });

  it('are also kept while newer rows are owed, because the service may reject those', async () => {
    const clock = new SteppingClock();
    const store = await newStore({ clock });
    store.keepRowsOf(['accounts']);
    await deliver(store, (await owe(store, 'id\n1\n', { asOf: clock.now() })).id);
    clock.advance(400 * 24 * hour);
    const { id } = await owe(store, 'id\n2\n', { asOf: clock.now() });
    expect(await store.payloads.forget(1_000_000)).toEqual({ payloads: 0, bytes: 0 });
    await recover(store);
    await store.outbox.markDead(id, { code: 'X_Y', message: 'refused' });
    expect((await textOf(await read(store))).rows).toEqual([['1']]);
  });

  it('are never a part of them: a payload that reads as fewer rows is an error', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const run = await store.runs.begin({ job: 'accounts', origin: 'schedule' });
    // Readers take such a first line for the declaration of a delimiter.
    const payload = { ...spool(store, { run, text: 'sep=;\n1\n', asOf: noon }), rows: 2 };
    const to = { destination: place, instance: 'i', mediaType: 'x', always: false };
    const formatOptions = withDefaults(csv.options, { header: false });
    await store.outbox.enqueue({ run, job: 'accounts', ...to, payload, formatOptions });
    await expect(textOf(await read(store))).rejects.toMatchObject({
      ...{ code: 'JOB_ROWS_LOST', seen: '1 row', allowed: '2 rows' },
    });
  });
});

describeWithServer({ servers: 'PostgreSQL' }, "a job's last rows in a fleet", (server) => {
  it('are fetched from the machine that wrote them', async () => {
    const { one, other } = await openTwo(server());
    await owe(one, 'id\n1\n');
    rmSync(one.folder, { recursive: true });
    expect((await textOf(await read(other))).rows).toEqual([['1']]);
    truncateSync((await other.goodPayloads.ofJob('accounts'))!.row.path, 3);
    expect((await textOf(await read(other))).rows).toEqual([['1']]);
  });
});

/** A connector of a user that reads another job's rows. */
const reader = defineConnector({
  id: 'reader',
  title: 'Reader',
  summary: 'Reads the rows of another job.',
  source: {},
  query: { job: option.text({ about: 'The job.', required: true }) },
  readsJobs: ({ job }) => [{ job, columns: ['value'], option: ['job'] }],
  check: async () => 'fine',
  extract: async ({ query, rowsOf }) => {
    const { columns, batches } = await rowsOf!(query.job);
    return { columns, batches };
  },
});

async function twoJobs() {
  const service = await openService();
  const destination = destinationOf(service.url);
  const source = new Source();
  const instance = await service.instance();
  const accounts = jobOf({ name: 'accounts', destination, instance: await service.instance(), source });
  const base = jobOf({ name: 'orders', destination, instance, source });
  const extract = {
    ...base.extract!,
    source: { name: 'r', connector: reader, options: {} },
    query: { job: 'accounts' },
  };
  const orders = { ...base, extract };
  const folder = await makeFolder();
  const signal = new AbortController().signal;
  const open = (config = configOf(folder, [orders, accounts])) => composeRuntime({ config });
  const sync = async (jobs = [orders, accounts]) => {
    const config = configOf(folder, [orders, accounts]);
    const runtime = await open(config);
    const outcomes = await syncJobs({ runtime, config, jobs, signal, patienceMs: 0 }).finally(() => runtime.close());
    return outcomes.map(({ job, state, problem }) => [job, problem?.code ?? state]);
  };
  return { source, accounts, orders, sync, open, shown: () => service.data(instance) };
}

describe('a job that reads another job', () => {
  it('fails if the other job has no rows yet, and runs after it in a sync', async () => {
    const { source, orders, sync, shown } = await twoJobs();
    source.says = async () => 'one';
    expect(await sync([orders])).toEqual([['orders', 'JOB_ROWS_NONE']]);
    expect(await sync()).toEqual([
      ['orders', 'delivered'],
      ['accounts', 'delivered'],
    ]);
    expect(await shown()).toBe('value\none\n');
    source.says = () => Promise.reject(new Error('down'));
    expect(await sync()).toEqual([
      ['orders', 'unchanged'],
      ['accounts', 'CONNECTOR_THREW'],
    ]);
  });

  it('can read it again after a run without changes if its file or its record is gone', async () => {
    const { accounts, orders, sync, open, shown } = await twoJobs();
    expect(await sync()).toMatchObject([['orders', 'delivered'], {}]);
    expect(await sync([accounts])).toEqual([['accounts', 'unchanged']]);
    const runtime = await open();
    rmSync((await runtime.store.goodPayloads.ofJob('accounts'))!.row.path);
    await runtime.close();
    expect(await sync([orders])).toEqual([['orders', 'JOB_ROWS_LOST']]);
    expect(await sync([accounts])).toEqual([['accounts', 'delivered']]);
    expect(await sync([orders])).toEqual([['orders', 'unchanged']]);
    expect(await shown()).toBe('value\nhello\n');
  });
});
