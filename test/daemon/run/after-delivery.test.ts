import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import file from '../../../connectors/file/index.ts';
import type { Config } from '../../../src/config/config.ts';
import { readConditions } from '../../../src/daemon/conditions/read-conditions.ts';
import { runJob } from '../../../src/daemon/run/run-job.ts';
import { approve, discard } from '../../../src/delivery/decide.ts';
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
  const { runtime } = await startDaemon(config);
  const job = config.jobs.get('orders')!;
  const signal = new AbortController().signal;
  const outcome = await runJob({ runtime, config, job, signal, origin: 'person', deliverUntil: runtime.clock.now() });
  expect(outcome).toMatchObject({ state: 'delivered' });
  // In a daemon, the receipt may have started it before the end of the run.
  await until('the file to be moved', async () => (await names()).join() === 'done');
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
