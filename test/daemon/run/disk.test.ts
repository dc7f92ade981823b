import { existsSync, readdirSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Config, Job } from '../../../src/config/config.ts';
import { composeRuntime, type Runtime } from '../../../src/daemon/compose.ts';
import { diskCondition } from '../../../src/daemon/conditions/disk.ts';
import { examineFullness } from '../../../src/daemon/doctor/fullness.ts';
import { reportDisk } from '../../../src/daemon/report/report-disk.ts';
import { runJob } from '../../../src/daemon/run/run-job.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { batchOf } from '../../../src/sdk/batch.ts';
import type { Column } from '../../../src/sdk/column.ts';
import { defineConnector } from '../../../src/sdk/connector.ts';
import { bytesIn } from '../../../src/state/disk-usage.ts';
import { makeFolder } from '../../journey/process.ts';
import { configOf, destinationOf, jobOf, openService, Source } from '../rig.ts';

const megabyte = 1_000_000;
const columns: readonly Column[] = [
  { name: 'id', type: 'integer' },
  { name: 'text', type: 'text' },
];

/** How many rows the connector below has returned. */
interface Given {
  rows: number;
}

/** Rows of 10 kB each, without end. */
function endless(given: Given) {
  return defineConnector({
    id: 'endless',
    title: 'Endless',
    summary: 'Made by a test.',
    source: {},
    query: {},
    check: async () => 'fine',
    extract: async () => ({
      columns,
      batches: (async function* () {
        for (;;) yield batchOf(columns, [[++given.rows, 'x'.repeat(10_000)]]);
      })(),
    }),
  });
}

/** Writes to its own folder and never returns a row. */
const hoarder = defineConnector({
  id: 'hoarder',
  title: 'Hoarder',
  summary: 'Made by a test.',
  source: {},
  query: {},
  check: async () => 'fine',
  extract: async ({ scratch }) => {
    for (;;) {
      await appendFile(join(scratch, 'answers'), Buffer.alloc(200_000));
      await wait(10);
    }
  },
});

async function setUp(limitBytes: number, more: Partial<Job['extract']> = {}) {
  const service = await openService();
  const instance = await service.instance();
  const given = { name: 'rows', destination: destinationOf(service.url), instance, source: new Source() };
  const plain = jobOf(given);
  const job: Job = { ...plain, extract: { ...plain.extract!, ...more } };
  const config: Config = { ...configOf(await makeFolder(), [job]), disk: { limitBytes, freeBytes: 0 } };
  const runtime = await composeRuntime({ config });
  onTestFinished(() => runtime.close());
  const run = (one: Job = job) =>
    runJob({ runtime, config, job: one, origin: 'person', signal: AbortSignal.timeout(60_000) });
  return { plain, job, config, runtime, run };
}

const left = ({ store }: Runtime, folder: 'payloads' | 'sets') => {
  const path = join(store.folder, folder);
  return existsSync(path) ? readdirSync(path) : [];
};

describe('a result without enough disk space', () => {
  it("fails its run with a message, leaves nothing behind, and doesn't affect smaller results", async () => {
    const given = { rows: 0 };
    const { runtime, run, plain, config } = await setUp(8 * megabyte, {
      source: { name: 'made', connector: endless(given), options: {} },
    });
    const outcome = await run();
    expect(outcome).toMatchObject({ state: 'failed', requests: 0, problem: { code: 'DISK_LIMIT' } });
    // Most of the folder's size was the run's own file, which is deleted with the folder.
    expect(outcome.problem?.next).not.toMatch(/wait for/i);
    expect(given.rows).toBeLessThan(1000);
    expect(left(runtime, 'payloads')).toEqual([]);
    expect(bytesIn(runtime.store.folder)).toBeLessThan(config.disk!.limitBytes);
    expect(await run(plain)).toMatchObject({ state: 'owed' });
  });

  it('also fails a run that merges rows into kept rows', async () => {
    const given = { rows: 0 };
    const { runtime, run } = await setUp(30 * megabyte, {
      source: { name: 'made', connector: endless(given), options: {} },
      write: { disposition: 'merge', key: ['id'] },
    });
    expect(await run()).toMatchObject({ state: 'failed', requests: 0, problem: { code: 'DISK_LIMIT' } });
    expect(given.rows).toBeLessThan(5000);
    expect([...left(runtime, 'payloads'), ...left(runtime, 'sets')]).toEqual([]);
  });

  it('fails a run whose connector fills its own folder and returns no rows', async () => {
    const { runtime, run } = await setUp(6 * megabyte, {
      source: { name: 'made', connector: hoarder, options: {} },
    });
    expect(await run()).toMatchObject({ state: 'failed', problem: { code: 'DISK_LIMIT', where: { source: 'made' } } });
    expect(left(runtime, 'payloads')).toEqual([]);
  });
});

describe("a state folder's fill level", () => {
  it("is reported by status, doctor and an alert, with the folder's usage and ways to free space", async () => {
    const { runtime, run, config } = await setUp(100 * megabyte);
    await run();
    const { store } = runtime;
    const used = bytesIn(store.folder);
    const filling = { ...config, disk: { limitBytes: Math.round(used / 0.95), freeBytes: 0 } };
    const status = await reportDisk(filling, store);
    expect(status).toMatchObject({
      bytes: used,
      level: 2,
      holds: expect.arrayContaining([{ kind: 'owed', files: 1, bytes: 12 }]),
    });
    expect(diskCondition(status, 1)).toMatchObject([
      { subject: 'disk', kind: 'disk', level: 'error', what: expect.stringContaining('owed 12 B in 1 file') },
    ]);
    const [finding] = examineFullness(filling, await store.outbox.inState('owed'));
    expect(finding).toMatchObject({ ok: false, fix: expect.stringContaining('sluice sync') });
    expect(await reportDisk(config, store)).toMatchObject({ level: 0, room_bytes: 100 * megabyte - used });
    expect(diskCondition(await reportDisk(config, store), systemClock.now())).toEqual([]);
    expect(examineFullness(config, [])).toMatchObject([{ ok: true }]);
  });

  it('is the same in doctor as elsewhere, even if the disk itself is nearly full', async () => {
    const { runtime, config } = await setUp(100 * megabyte);
    const short = { ...config, disk: { limitBytes: 100 * megabyte, freeBytes: Number.MAX_SAFE_INTEGER } };
    const [condition] = diskCondition(await reportDisk(short, runtime.store), 1);
    expect(condition).toMatchObject({ level: 'error', what: expect.stringContaining("the state folder's disk") });
    expect(examineFullness(short, [])).toMatchObject([{ ok: false, message: condition!.what, fix: condition!.fix }]);
  });

  it('counts as full if the disk has less free space than the limit allows', () => {
    const full = { bytes: 900_000, limit_bytes: 10_000 * megabyte, room_bytes: 0, holds: [], level: 2 } as const;
    expect(diskCondition(full, 1)).toMatchObject([
      {
        level: 'error',
        what: expect.stringMatching(/^the state folder's disk is full, so runs with new data fail/),
        fix: expect.stringMatching(/^free some space on that disk/),
      },
    ]);
    expect(diskCondition({ ...full, room_bytes: 50 * megabyte, level: 1 }, 1)).toMatchObject([
      {
        level: 'warning',
        what: expect.stringMatching(/^the state folder's disk is almost full, 50.0 MB left/),
      },
    ]);
  });
});
