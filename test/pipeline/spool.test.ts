import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ReplacedCharacters } from '../../src/lib/replaced-characters.ts';
import { Spool } from '../../src/pipeline/spool.ts';
import { SpoolFile } from '../../src/pipeline/spool-file.ts';
import { spoolProblem } from '../../src/pipeline/spool-problem.ts';
import { sweepSpool } from '../../src/pipeline/sweep-spool.ts';
import { thisProcess as ourselves, tempFilePrefix } from '../../src/pipeline/temp-file-owner.ts';
import { verifyPayload } from '../../src/pipeline/verify-payload.ts';
import { batchOf } from '../../src/sdk/batch.ts';
import { columns, connectorOf, extractOf, rig, rowsConnector, sealedRun, temporaryFolder } from './rig.ts';

const helper = join(import.meta.dirname, 'spool-child.ts');

/** Runs a program, which must succeed, and parses the JSON that it printed. */
async function saidBy(program: string, args: readonly string[]): Promise<Record<string, unknown>> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  return JSON.parse(said) as Record<string, unknown>;
}

describe("the payload folder's cleanup", () => {
  it('deletes only the files of dead processes', async () => {
    const folder = temporaryFolder();
    const dead = [
      `${tempFilePrefix({ ...ourselves, boot: 'anotherboot1', start: '1' })}aa.part`,
      `${tempFilePrefix({ ...ourselves, pid: 2 ** 22 + 1 })}bb.part`,
      // The process ID is in use by this process, but it wasn't at that time.
      `${tempFilePrefix({ ...ourselves, start: '1' })}cc.part`,
      // Named as in an earlier version.
      `.tmp-${ourselves.boot}-${ourselves.space}-${ourselves.pid}-1-gg.part`,
    ];
    const kept = [
      `${tempFilePrefix()}dd.part`,
      `${'0'.repeat(64)}.csv`,
      'notes.txt',
      `${tempFilePrefix({ ...ourselves, space: '1' })}ee.part`,
    ];
    for (const name of [...dead, ...kept]) writeFileSync(join(folder, name), 'x');
    const scratch = `${tempFilePrefix({ ...ourselves, boot: 'anotherboot1', start: '1' })}run.scratch`;
    mkdirSync(join(folder, scratch, 'deep'), { recursive: true });
    expect((await sweepSpool(folder)).sort()).toEqual([...dead, scratch].sort());
    expect(readdirSync(folder).sort()).toEqual(kept.sort());
  });

  it("treats a process that it can't see as dead after a day without activity", async () => {
    const folder = temporaryFolder();
    const name = `${tempFilePrefix({ ...ourselves, space: '1' })}ee.part`;
    writeFileSync(join(folder, name), 'x');
    const yesterday = Date.now() / 1000 - 25 * 3600;
    utimesSync(join(folder, name), yesterday, yesterday);
    expect(await sweepSpool(folder)).toEqual([name]);
  });

  it('does nothing if the folder is missing', async () => {
    expect(await sweepSpool(join(temporaryFolder(), 'no'))).toEqual([]);
  });

  it("deletes a run's files once the run was killed, but not during the run", async () => {
    const folder = temporaryFolder();
    const child = spawn(process.execPath, [helper, 'hang', folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      const during = readdirSync(folder);
      expect(during.map((name) => name.split('.').at(-1)).sort()).toEqual(['part', 'scratch']);
      expect(await sweepSpool(folder)).toEqual([]);
      child.kill('SIGKILL');
      await once(child, 'exit');
      expect((await sweepSpool(folder)).sort()).toEqual(during.sort());
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      child.kill('SIGKILL');
    }
  });
});

describe('verifying a payload', () => {
  it.each([1, 100_000])('distinguishes intact, truncated, changed and missing files (%i bytes)', async (length) => {
    const { given } = rig(extractOf(rowsConnector([[1, 'a'.repeat(length)]])));
    const payload = await sealedRun(given);
    expect(await verifyPayload(payload)).toBe('whole');
    const changed = Buffer.alloc(payload.bytes, 'x');
    writeFileSync(payload.path, changed);
    expect(await verifyPayload(payload)).toBe('damaged');
    truncateSync(payload.path, 3);
    expect(await verifyPayload(payload)).toBe('damaged');
    await rm(payload.path);
    expect(await verifyPayload(payload)).toBe('missing');
  });

  it('checks small files synchronously, so that their results stay in order', async () => {
    const { given } = rig(extractOf(rowsConnector([[1, 'a']])));
    let state: string | undefined;
    void verifyPayload(await sealedRun(given)).then((is) => (state = is));
    // Results of another thread arrive in another turn of the event loop and in no particular order.
    await new Promise(process.nextTick);
    expect(state).toBe('whole');
  });
});

describe('a failed write', () => {
  it.each(['ENOSPC', 'EDQUOT', 'EFBIG'])('is reported as DISK_FULL for %s, with the folder', (code) => {
    const problem = spoolProblem(Object.assign(new Error('write failed'), { code }), '/var/lib/sluice/payloads');
    expect(problem).toMatchObject({ code: 'DISK_FULL', family: 'try_later', seen: code });
    expect(problem.message).toContain('/var/lib/sluice/payloads');
  });

  it('is in the try_later family for a device error, and in config for a permission error', () => {
    expect(spoolProblem(Object.assign(new Error('x'), { code: 'EIO' }), '/p')).toMatchObject({ family: 'try_later' });
    expect(spoolProblem(Object.assign(new Error('x'), { code: 'EROFS' }), '/p')).toMatchObject({ family: 'config' });
  });

  it('in the middle of a file fails the run and leaves no files', async () => {
    const folder = temporaryFolder();
    // The file size limit simulates a full disk: writing fails in the middle of the file.
    const script = 'ulimit -f 2048; exec "$0" "$@"';
    const said = await saidBy('/bin/bash', ['-c', script, process.execPath, helper, 'fill', folder]);
    expect(said).toMatchObject({
      code: 'DISK_FULL',
      family: 'try_later',
      where: { job: 'orders', stage: 'spool' },
    });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is also detected if a finished file can't be renamed", async () => {
    const folder = temporaryFolder();
    const file = await SpoolFile.open(folder);
    file.write([Buffer.from('abc')], () => {});
    await rm(folder, { recursive: true });
    await expect(file.seal('.csv')).rejects.toMatchObject({ code: 'SPOOL_FAILED' });
    await file.discard();
    expect(existsSync(folder)).toBe(false);
  });
});

describe('a small payload', () => {
  const piece = Buffer.alloc(30_000, 'a');

  it("isn't written until it's sealed, and its complete file is then named by its hash", async () => {
    const folder = temporaryFolder();
    const spool = new Spool(folder);
    let back = 0;
    await spool.write([piece, piece], () => back++);
    const weighed = await spool.weigh();
    expect([back, readdirSync(folder)]).toEqual([2, []]);
    const sealed = await spool.seal('.csv');
    expect(sealed).toMatchObject({ ...weighed, bytes: 60_000, reused: false });
    expect(readdirSync(folder)).toEqual([`${sealed.sha256}.csv`]);
    expect(await verifyPayload(sealed)).toBe('whole');
  });

  it('leaves no file if it turns out to be unchanged', async () => {
    const folder = temporaryFolder();
    const spool = new Spool(folder);
    await spool.write([piece], () => undefined);
    await spool.discard();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('that grows large is written completely, including its first bytes', async () => {
    const folder = temporaryFolder();
    const spool = new Spool(folder);
    const pieces = ['a', 'b', 'c', 'd'].map((letter) => Buffer.alloc(30_000, letter));
    for (const one of pieces) await spool.write([one], () => undefined);
    expect(readdirSync(folder)).toHaveLength(1);
    const { path } = await spool.seal('.csv');
    expect(readFileSync(path).equals(Buffer.concat(pieces))).toBe(true);
  });

  it("reserves space before it's written, and is rejected if there is none", async () => {
    const folder = temporaryFolder();
    const full = spoolProblem(Object.assign(new Error('no'), { code: 'ENOSPC' }), folder);
    const spool = new Spool(folder, { room: { claim: () => Promise.reject(full) } });
    await spool.write([piece], () => undefined);
    await expect(spool.seal('.csv')).rejects.toBe(full);
    await spool.discard();
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a run with many rows', () => {
  it("releases buffers as they're written, so that only a few are in use at any time", async () => {
    const file = await SpoolFile.open(temporaryFolder());
    let out = 0;
    let most = 0;
    for (let i = 0; i < 200; i++) {
      out += 1;
      most = Math.max(most, out);
      await file.write([Buffer.alloc(256 * 1024, i)], () => {
        out -= 1;
      });
    }
    await file.seal('.csv');
    expect(out).toBe(0);
    expect(most).toBeLessThanOrEqual(10);
  });

  it('needs no more memory than a run with few rows: five million rows fit in a 64 MB heap', {
    timeout: 180_000,
  }, async () => {
    const folder = temporaryFolder();
    const { rows, rss } = await saidBy(process.execPath, ['--max-old-space-size=64', helper, 'many', folder]);
    expect(rows).toBe(5_000_000);
    expect(rss).toBeLessThan(256);
  });
});

describe('an encoder that throws', () => {
  it('is reported as a bug in the encode stage, and leaves no files', async () => {
    const format = {
      ...extractOf(rowsConnector()).format,
      encoder: () => ({
        begin: () => {},
        end: () => {},
        batch: () => {
          throw new RangeError('off the end');
        },
        replaced: new ReplacedCharacters(),
      }),
    };
    const connector = connectorOf(async function* () {
      yield batchOf(columns, [[1, 'a']]);
    });
    const { given } = rig(extractOf(connector, { format }));
    await expect(sealedRun(given)).rejects.toMatchObject({
      code: 'ENCODER_THREW',
      family: 'bug',
      where: { stage: 'encode' },
    });
    expect(readdirSync(given.spool)).toEqual([]);
  });
});
