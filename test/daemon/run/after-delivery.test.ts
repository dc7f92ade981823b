import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import file from '../../../connectors/file/index.ts';
import type { Config, Job } from '../../../src/config/config.ts';
import { composeRuntime } from '../../../src/daemon/compose.ts';
import { readConditions } from '../../../src/daemon/conditions/read-conditions.ts';
import { actAfterDelivery } from '../../../src/daemon/run/after-delivery.ts';
import { runJob } from '../../../src/daemon/run/run-job.ts';
import { approve, discard, requeue, rollback } from '../../../src/delivery/decide.ts';
import csv from '../../../src/formats/all/csv.ts';
import type { Connector } from '../../../src/sdk/connector.ts';
import { withDefaults } from '../../../src/sdk/option.ts';
import { until } from '../../journey/process.ts';
import { clockAtHalfPast, configOf, type JobGiven, type Started, setUp, startDaemon } from '../rig.ts';

const hour = 3_600_000;
const by = { who: 'ada@desk', why: 'the numbers are right' };

/** An hourly job that moves the files that it has read. */
async function setUpFiles(more: Partial<JobGiven> = {}) {
  const { folder, job, ...rest } = await setUp(more);
  await mkdir(join(folder, 'in'));
  const query = { path: 'in/*.csv', files: 'changed', after_delivery: 'move', move_to: 'done/{name}' };
  const extract = {
    source: { name: 'files', connector: file as unknown as Connector, options: withDefaults(file.source, {}) },
    query: withDefaults(file.query, query),
    transforms: [],
    format: csv,
    formatOptions: withDefaults(csv.options, {}),
    stallTimeoutMs: 0,
    write: { disposition: 'append' as const, key: [] },
  };
  const names = async (inside = 'in') => (await readdir(join(folder, inside))).sort();
  const put = (name: string, content: string) => writeFile(join(folder, 'in', name), content);
  return { ...rest, folder, names, put, config: configOf(folder, [{ ...job, extract }]) };
}

/** Advances the clock by an hour and makes the daemon check it now. */
async function anHourLater({ daemon }: Started, config: Config, clock: { wall: number }): Promise<void> {
  clock.wall += hour;
  await daemon.adopt(config);
}

/** In a daemon, a receipt could move the files, too. */
async function runtimeWithoutDaemon(config: Config) {
  const runtime = await composeRuntime({ config, clock: clockAtHalfPast() });
  onTestFinished(() => runtime.close());
  return runtime;
}

it('a daemon moves files once the service has accepted their rows', async () => {
  const { config, names, put, service, instance } = await setUpFiles();
  await put('a.csv', 'x\n1\n');
  const clock = clockAtHalfPast();
  const started = await startDaemon(config, { clock });
  await anHourLater(started, config, clock);
  await started.hear('source.updated', { job: 'orders', source: 'files', actions: 1 });
  expect(await names()).toEqual(['done']);
  expect(await service.data(instance)).toBe('x\n1\n');
});

it('a run that delivers its payload itself also moves the files', async () => {
  const { config, names, put } = await setUpFiles();
  await put('a.csv', 'x\n1\n');
  const runtime = await runtimeWithoutDaemon(config);
  const job = config.jobs.get('orders')!;
  const signal = new AbortController().signal;
  const outcome = await runJob({ runtime, config, job, signal, origin: 'person', deliverUntil: runtime.clock.now() });
  expect(outcome).toMatchObject({ state: 'delivered' });
  expect(await names()).toEqual(['done']);
});

it('files of a quarantined payload are moved only after its approval, and never after it was discarded', async () => {
  const { config, names, put } = await setUpFiles({ guards: { rows: { minimum: 2 } } });
  const clock = clockAtHalfPast();
  const started = await startDaemon(config, { clock });
  const { store, gateway } = started.runtime;
  await put('a.csv', 'x\n1\n');
  await anHourLater(started, config, clock);
  await started.hear('payload.quarantined');
  const [discarded] = await store.quarantine.all();
  await discard(gateway, discarded!, by);
  await anHourLater(started, config, clock);
  await until('the same rows to be quarantined again', () => started.count('payload.quarantined') === 2);
  expect(await names()).toEqual(['a.csv']);
  await approve(gateway, (await store.quarantine.all())[1]!, by);
  await started.daemon.adopt(config);
  await started.hear('source.updated');
  expect(await names()).toEqual(['done']);
});

it('a refused move is a warning and a condition, the rows are not sent again, and a later run moves the file', async () => {
  const { config, names, put, folder } = await setUpFiles();
  await put('done', 'a file in place of the folder');
  await put('a.csv', 'x\n1\n');
  const clock = clockAtHalfPast();
  const started = await startDaemon(config, { clock });
  const { store } = started.runtime;
  const conditions = async () =>
    (await readConditions(config, store, { clock })).filter(({ kind }) => kind === 'files');
  await anHourLater(started, config, clock);
  await started.hear('run.warning', { job: 'orders', code: 'FILES_NOT_MOVED' });
  await until('the condition', async () => (await conditions()).length > 0);
  expect(await conditions()).toMatchObject([{ subject: 'job:orders', level: 'error', code: 'FILES_NOT_MOVED' }]);
  await anHourLater(started, config, clock);
  await started.hear('run.finished', { outcome: 'unchanged' });
  expect(started.count('upload.started')).toBe(1);
  expect(started.count('run.warning')).toBe(1);
  await rm(join(folder, 'in', 'done'));
  await anHourLater(started, config, clock);
  await started.hear('source.updated');
  await until('the end of the condition', async () => (await conditions()).length === 0);
  expect(await names()).toEqual(['done']);
  expect(started.count('upload.started')).toBe(1);
});

/** Runs jobs in a runtime without a daemon. */
async function setUpRuns(more: Partial<JobGiven> = {}) {
  const { config: given, ...rest } = await setUpFiles(more);
  const config = { ...given, keep: { payloads: 3, milliseconds: 40 * 24 * hour } };
  const runtime = await runtimeWithoutDaemon(config);
  const signal = new AbortController().signal;
  const run = (job: Job) =>
    runJob({ runtime, config, job, signal, origin: 'person', deliverUntil: runtime.clock.now() });
  const enqueue = (job: Job) => runJob({ runtime, config, job, signal, origin: 'person' });
  const act = (job: Job) => actAfterDelivery({ runtime, config, job, signal });
  return { ...rest, runtime, run, enqueue, act, job: config.jobs.get('orders')! };
}

it('a job whose files were moved does not start over until a person decides', async () => {
  const { put, service, instance, runtime, run, job } = await setUpRuns();
  await put('a.csv', 'x\n1\n');
  expect(await run(job)).toMatchObject({ state: 'delivered' });
  await put('b.csv', 'x\n2\n');
  const query = { ...job.extract!.query, path: 'in/*.{csv,txt}' };
  const changed = { ...job, extract: { ...job.extract!, query } };
  expect(await run(changed)).toMatchObject({ state: 'failed', problem: { code: 'JOB_HISTORY_LOST', family: 'job' } });
  expect(await service.data(instance)).toBe('x\n1\n');
  expect(await run(job)).toMatchObject({ state: 'delivered' });
  expect(await service.data(instance)).toBe('x\n1\n2\n');
  await put('c.csv', 'x\n3\n');
  expect(await run(changed)).toMatchObject({ state: 'failed' });
  expect(await runtime.store.watermarks.decide('orders', undefined, by)).toBe('done');
  expect(await run(changed)).toMatchObject({ state: 'delivered' });
  expect(await service.data(instance)).toBe('x\n3\n');
});

it('a renamed job does not replace the rows of files that were moved until a person decides', async () => {
  const { put, service, instance, runtime, run, job } = await setUpRuns();
  await put('a.csv', 'x\n1\n');
  await run(job);
  await put('b.csv', 'x\n2\n');
  const renamed = { ...job, name: 'sales' };
  const { state, problem } = await run(renamed);
  expect({ state, code: problem?.code }).toEqual({ state: 'failed', code: 'JOB_HISTORY_LOST' });
  expect(problem?.next).toContain('sluice state clear orders');
  expect(await service.data(instance)).toBe('x\n1\n');
  await runtime.store.watermarks.decide('orders', undefined, by);
  expect(await run(renamed)).toMatchObject({ state: 'delivered' });
});

it('files of a dead payload stay and are read again, and files of a requeued one are moved after its delivery', async () => {
  const { names, put, service, instance, runtime, run, enqueue, act, job } = await setUpRuns();
  const { store, gateway } = runtime;
  await put('a.csv', 'x\n1\n');
  const { run: dead } = await enqueue(job);
  expect(await act(job)).toEqual({});
  const row = (await store.outbox.ofRun(dead!))!;
  await store.outbox.markDead(row.id, { code: 'X', message: 'x' });
  expect(await act(job)).toEqual({});
  expect(await names()).toEqual(['a.csv']);
  await requeue(gateway, (await store.outbox.find(row.id))!, by);
  expect(await act(job)).toEqual({});
  expect(await names()).toEqual(['a.csv']);
  await put('b.csv', 'x\n2\n');
  expect(await run(job)).toMatchObject({ state: 'delivered' });
  expect(await names()).toEqual(['done']);
  expect(await service.data(instance)).toBe('x\n1\n2\n');
});

it('a rollback that loses the rows of moved files needs a reason, and files that are put back are read again', async () => {
  const { folder, names, put, service, instance, runtime, run, job } = await setUpRuns();
  const { gateway, store } = runtime;
  await put('a.csv', 'x\n1\n');
  const { run: first } = await run(job);
  await put('b.csv', 'x\n2\n');
  await run(job);
  const former = (await store.outbox.ofRun(first!))!;
  await expect(rollback(gateway, former, { job: 'orders', by: { who: 'ada', why: '' } })).rejects.toMatchObject({
    code: 'ROLLBACK_FILES',
  });
  await rollback(gateway, former, { job: 'orders', by });
  await store.holds.release('orders', by);
  await rename(join(folder, 'in', 'done', 'b.csv'), join(folder, 'in', 'b.csv'));
  // The restored payload was still owed, so the instance shows these rows already.
  expect(await run(job)).toMatchObject({ state: 'unchanged', rows: 2 });
  expect(await service.data(instance)).toBe('x\n1\n2\n');
  expect(await names('in/done')).toEqual(['a.csv', 'b.csv']);
});

it('nothing is cleared or rolled back while another process moves files, and one process at a time moves them', async () => {
  const { put, runtime, run, enqueue, act, job } = await setUpRuns();
  const { gateway, store } = runtime;
  await put('a.csv', 'x\n1\n');
  const { run: first } = await run(job);
  await put('b.csv', 'x\n2\n');
  const { run: second } = await enqueue(job);
  const lease = await store.leases.take('after:orders');
  expect(await store.watermarks.decide('orders', undefined, by)).toBe('busy');
  const former = (await store.outbox.ofRun(first!))!;
  await expect(rollback(gateway, former, { job: 'orders', by })).rejects.toMatchObject({ code: 'JOB_BUSY' });
  await store.outbox.delivered((await store.outbox.ofRun(second!))!);
  expect(await act(job)).toEqual({ isBusy: true });
  await lease!.release();
  expect(await act(job)).toEqual({});
});

it('no process moves files while a rollback removes their rows', async () => {
  const { put, runtime, run, enqueue, act, job, names } = await setUpRuns();
  const { gateway, store } = runtime;
  await put('a.csv', 'x\n1\n');
  const { run: first } = await run(job);
  await put('b.csv', 'x\n2\n');
  const { run: second } = await enqueue(job);
  await store.outbox.delivered((await store.outbox.ofRun(second!))!);
  const former = (await store.outbox.ofRun(first!))!;
  const meanwhile: unknown[] = [];
  const putBack = store.goodPayloads.putBack.bind(store.goodPayloads);
  vi.spyOn(store.goodPayloads, 'putBack').mockImplementationOnce(async (...given) => {
    meanwhile.push(await act(job));
    return putBack(...given);
  });
  await rollback(gateway, former, { job: 'orders', by });
  expect(meanwhile).toEqual([{ isBusy: true }]);
  expect(await act(job)).toEqual({});
  expect(await names()).toEqual(['b.csv', 'done']);
});

it('a change of what happens to delivered files does not make a job read its files again', async () => {
  const { config, names, put } = await setUpFiles();
  await put('a.csv', 'x\n1\n');
  const job = config.jobs.get('orders')!;
  const extract = { ...job.extract!, query: withDefaults(file.query, { path: 'in/*.csv', files: 'changed' }) };
  const kept = { ...config, jobs: new Map([['orders', { ...job, extract }]]) };
  const clock = clockAtHalfPast();
  const started = await startDaemon(kept, { clock });
  await anHourLater(started, kept, clock);
  await started.hear('payload.delivered');
  await anHourLater(started, config, clock);
  await started.hear('run.finished', { outcome: 'unchanged' });
  expect(started.count('upload.started')).toBe(1);
  expect(await names()).toEqual(['a.csv']);
});
