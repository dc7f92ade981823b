import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Events } from '../../src/lib/events.ts';
import { Problem } from '../../src/lib/problem.ts';
import type { PipelineEvents } from '../../src/pipeline/events.ts';
import { batchOf } from '../../src/sdk/batch.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { columns, connectorOf, extractOf, rig, rowsConnector, sealedRun } from './rig.ts';

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

async function problemOf(promise: Promise<unknown>): Promise<Problem> {
  const thrown = await promise.then(
    () => expect.fail('it did not fail'),
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(Problem);
  return thrown as Problem;
}

describe('a pipeline run', () => {
  it('leaves only one file, which is named by the hash of its bytes', async () => {
    const { given } = rig(
      extractOf(
        rowsConnector(
          [
            [1, 'a'],
            [2n, null],
          ],
          [[3, 'ü']],
        ),
      ),
    );
    const payload = await sealedRun(given);
    const bytes = readFileSync(payload.path);
    expect(bytes.toString()).toBe('id|name\n1|a\n2|-\n3|ü\n.\n');
    expect(payload).toMatchObject({ rows: 3, bytes: bytes.length, sha256: sha256(bytes), format: 'csv', columns });
    expect(readdirSync(given.spool)).toEqual([`${payload.sha256}.csv`]);
    expect(statSync(payload.path).mode & 0o077).toBe(0);
  });

  it('dates a payload by the start of its extract', async () => {
    const clock = new SteppingClock(1000);
    clock.now = () => clock.wall++;
    const { given } = rig(extractOf(rowsConnector([[1, 'a']])), { clock });
    expect((await sealedRun(given)).asOf).toBe(1000);
  });

  it('creates a payload of zero rows and reports it', async () => {
    const { given } = rig(extractOf(rowsConnector()));
    const payload = await sealedRun(given);
    expect(payload.rows).toBe(0);
    expect(readFileSync(payload.path, 'utf8')).toBe('id|name\n.\n');
  });

  it('keeps an existing file if the bytes are the same', async () => {
    const { given, heard } = rig(extractOf(rowsConnector([[1, 'a']])));
    const first = await sealedRun(given);
    const before = statSync(first.path).ino;
    utimesSync(first.path, 1000, 1000);
    const second = await sealedRun(given);
    expect(second.path).toBe(first.path);
    expect(statSync(second.path).ino).toBe(before);
    expect(statSync(second.path).mtimeMs).toBeGreaterThan(1_000_000);
    expect(readdirSync(given.spool)).toHaveLength(1);
    expect(heard.filter(({ name }) => name === 'payload.spooled').map(({ facts }) => facts)).toMatchObject([
      { reused: false },
      { reused: true },
    ]);
  });

  it("replaces a truncated file that has the payload's name", async () => {
    const { given } = rig(extractOf(rowsConnector([[1, 'a']])));
    const first = await sealedRun(given);
    const whole = readFileSync(first.path);
    writeFileSync(first.path, whole.subarray(0, 3));
    await sealedRun(given);
    expect(readFileSync(first.path)).toEqual(whole);
  });

  it('writes many pieces in order, even if the writes overlap', async () => {
    const wide = 'x'.repeat(1000);
    const connector = connectorOf(async function* () {
      for (let b = 0; b < 60; b++)
        yield batchOf(
          columns,
          Array.from({ length: 500 }, (_, r) => [b * 500 + r, wide]),
        );
    });
    const { given } = rig(extractOf(connector));
    const payload = await sealedRun(given);
    const bytes = readFileSync(payload.path);
    expect(bytes.length).toBeGreaterThan(30_000_000);
    expect(sha256(bytes)).toBe(payload.sha256);
    const ids = bytes.toString('latin1').split('\n').slice(1, -2);
    expect(ids.findIndex((line, i) => line !== `${i}|${wide}`)).toBe(-1);
    expect(ids).toHaveLength(30_000);
  });

  it('emits started, progress and spooled events, and the spooled event only once the file exists', async () => {
    const { given, heard } = rig(extractOf(rowsConnector([[1, 'a']])));
    let there = false;
    const emit: typeof given.emit = (...event) => {
      if (event[0] === 'payload.spooled') there = existsSync(event[1].payload.path);
      given.emit(...event);
    };
    const payload = await sealedRun({ ...given, emit });
    expect(there).toBe(true);
    expect(heard.map(({ name }) => name)).toEqual([
      'extract.started',
      'extract.progressed',
      'extract.finished',
      'payload.spooled',
    ]);
    expect(heard[1]!.facts).toEqual({ job: 'orders', run: 'r1', rows: 1, bytes: payload.bytes });
    expect(JSON.parse(JSON.stringify(heard))).toEqual(heard);
  });

  it('emits progress at most every 250 milliseconds', async () => {
    const clock = new SteppingClock();
    const connector = connectorOf(async function* () {
      for (let b = 1; b <= 100; b++) {
        clock.advance(10);
        yield batchOf(columns, [[b, 'a']]);
      }
    });
    const { given, heard } = rig(extractOf(connector), { clock });
    await sealedRun(given);
    const rows = heard.filter(({ name }) => name === 'extract.progressed').map(({ facts }) => facts);
    expect(rows.map((facts) => (facts as { rows: number }).rows)).toEqual([25, 50, 75, 100, 100]);
  });
});

describe('a failing run', () => {
  it('leaves no file, names the source, and reports the failure', async () => {
    const connector = connectorOf(async function* () {
      yield batchOf(columns, [[1, 'a']]);
      throw new Problem({ code: 'DB_GONE', family: 'try_later', message: 'The server went away' });
    });
    const { given, heard } = rig(extractOf(connector));
    const problem = await problemOf(sealedRun(given));
    expect(problem).toMatchObject({ code: 'DB_GONE', family: 'try_later' });
    expect(problem.where).toMatchObject({ job: 'orders', source: 'shop', stage: 'extract' });
    expect(readdirSync(given.spool)).toEqual([]);
    expect(heard.at(-1)).toMatchObject({ name: 'extract.failed', facts: { code: 'DB_GONE', rows: 1 } });
  });

  it("reports a connector's unexpected error as a bug", async () => {
    const connector = connectorOf(async function* () {
      yield* [];
      throw new TypeError('x is not a function');
    });
    const { given } = rig(extractOf(connector));
    expect(await problemOf(sealedRun(given))).toMatchObject({ code: 'CONNECTOR_THREW', family: 'bug' });
  });

  it("rejects a batch that doesn't use the announced array of columns", async () => {
    const connector = connectorOf(async function* () {
      yield batchOf([...columns], [[1, 'a']]);
    });
    const { given } = rig(extractOf(connector));
    expect(await problemOf(sealedRun(given))).toMatchObject({ code: 'CONNECTOR_BATCH', family: 'bug' });
    expect(readdirSync(given.spool)).toEqual([]);
  });

  it('rejects duplicate column names', async () => {
    const twice = [columns[0]!, columns[0]!];
    const connector = connectorOf(async function* () {
      yield batchOf(twice, [[1, 2]]);
    }, twice);
    const { given } = rig(extractOf(connector));
    expect(await problemOf(sealedRun(given))).toMatchObject({ code: 'SOURCE_COLUMN_TWICE', family: 'config' });
  });

  it("reports that the payload folder can't be created", async () => {
    const { given } = rig(extractOf(rowsConnector([[1, 'a']])));
    writeFileSync(join(given.spool, '..', 'file'), '');
    const spool = join(given.spool, '..', 'file', 'payloads');
    const problem = await problemOf(sealedRun({ ...given, spool }));
    expect(problem).toMatchObject({ code: 'SPOOL_REFUSED', family: 'config' });
    expect(problem.message).toContain(spool);
  });
});

describe('a source that goes silent', () => {
  it('may take a long time if it reports activity before its first row', async () => {
    const clock = new SteppingClock(noon, { manual: true });
    const slow = connectorOf(async function* () {
      yield batchOf(columns, [[1, 'a']]);
    });
    const connector = {
      ...slow,
      extract: async (context: Parameters<typeof slow.extract>[0]) => {
        for (let page = 0; page < 8; page++) {
          clock.advance(300);
          await new Promise((resolve) => setImmediate(resolve));
          context.alive?.();
        }
        return slow.extract(context);
      },
    };
    const { given } = rig(extractOf(connector, { stallTimeoutMs: 400 }), { clock });
    expect((await sealedRun(given)).rows).toBe(1);
  });

  it('fails the run with the available details after the stall timeout, and is asked to stop', async () => {
    let told: unknown;
    const connector = connectorOf(async function* ({ signal }) {
      yield batchOf(columns, [[1, 'a']]);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      told = signal.reason;
    });
    const { given } = rig(extractOf(connector, { stallTimeoutMs: 50 }));
    const problem = await problemOf(sealedRun(given));
    expect(problem).toMatchObject({ code: 'SOURCE_STALLED', family: 'try_later', seen: '1 row so far' });
    expect(problem.where).toMatchObject({ job: 'orders', source: 'shop', stage: 'extract' });
    expect(told).toMatchObject({ code: 'SOURCE_STALLED' });
    expect(readdirSync(given.spool)).toEqual([]);
  });

  it('is also detected while it connects', async () => {
    const connector = { ...connectorOf(async function* () {}), extract: () => new Promise<never>(() => {}) };
    const { given } = rig(extractOf(connector, { stallTimeoutMs: 30 }));
    const problem = await problemOf(sealedRun(given));
    expect(problem.code).toBe('SOURCE_STALLED');
    expect(problem.message).toContain('while connecting');
  });

  it("is abandoned with a warning if it doesn't close", async () => {
    const warned: string[] = [];
    const log = { debug: () => {}, info: () => {}, warn: (message: string) => warned.push(message) };
    const connector = connectorOf(async function* () {
      yield batchOf(columns, [[1, 'a']]);
      await new Promise<never>(() => {});
    });
    const { given } = rig(extractOf(connector, { stallTimeoutMs: 100 }), { clock: new SteppingClock(), log });
    expect(await problemOf(sealedRun(given))).toMatchObject({ code: 'SOURCE_STALLED' });
    expect(warned).toEqual(['The source did not close in time and was abandoned']);
    expect(readdirSync(given.spool)).toEqual([]);
  });

  it('may be slow as long as each wait is short enough', async () => {
    const clock = new SteppingClock(noon, { manual: true });
    const connector = connectorOf(async function* () {
      for (let b = 0; b < 5; b++) {
        clock.advance(90);
        await new Promise((resolve) => setImmediate(resolve));
        yield batchOf(columns, [[b, 'a']]);
      }
    });
    const { given } = rig(extractOf(connector, { stallTimeoutMs: 100 }), { clock });
    expect((await sealedRun(given)).rows).toBe(5);
  });
});

describe('a run', () => {
  it('accepts a listener that expects more events than the pipeline emits', async () => {
    type All = PipelineEvents & { 'payload.delivered': { readonly job: string } };
    const events = new Events<All>();
    const names: string[] = [];
    events.listen((...[name]) => {
      names.push(name);
    });
    const { given } = rig(extractOf(rowsConnector([[1, 'a']])));
    await sealedRun({ ...given, emit: events.emit });
    expect(names.at(-1)).toBe('payload.spooled');
  });

  it("doesn't stall if its clock never sleeps", async () => {
    const clock = { now: () => 0, monotonic: () => 0, sleep: async () => {} };
    const { given } = rig(extractOf(rowsConnector([[1, 'a']]), { stallTimeoutMs: 1000 }), { clock });
    expect((await sealedRun(given)).rows).toBe(1);
  });
});

describe('a stopped run', () => {
  it('rejects with the reason, closes the source and leaves no files', async () => {
    const stop = new AbortController();
    let closed = false;
    const connector = connectorOf(async function* () {
      try {
        for (let id = 0; ; id++) {
          if (id === 3) stop.abort(new Error('enough'));
          yield batchOf(columns, [[id, 'a']]);
        }
      } finally {
        closed = true;
      }
    });
    const { given, heard } = rig(extractOf(connector), { signal: stop.signal });
    await expect(sealedRun(given)).rejects.toThrow('enough');
    expect(closed).toBe(true);
    expect(readdirSync(given.spool)).toEqual([]);
    expect(heard.at(-1)).toMatchObject({ name: 'extract.failed', facts: { code: 'RUN_STOPPED' } });
  });

  it('stops even if the source never yields to the event loop', async () => {
    const connector = connectorOf(async function* () {
      for (;;) yield batchOf(columns, []);
    });
    const endless = connectorOf(async function* () {
      for (let id = 0; ; id++) yield batchOf(columns, [[id, 'a']]);
    });
    for (const one of [connector, endless]) {
      const { given } = rig(extractOf(one), { signal: AbortSignal.timeout(60) });
      await expect(sealedRun(given)).rejects.toThrow(/timeout/i);
      expect(readdirSync(given.spool)).toEqual([]);
    }
  });

  it('reads nothing if it was stopped before it started', async () => {
    let asked = false;
    const connector = connectorOf(async function* () {
      asked = true;
      yield batchOf(columns, []);
    });
    const { given } = rig(extractOf(connector), { signal: AbortSignal.abort(new Error('not today')) });
    await expect(sealedRun(given)).rejects.toThrow('not today');
    expect(asked).toBe(false);
  });
});

describe('the scratch folder', () => {
  it('is private and initially empty, and is deleted afterwards, even if the run fails', async () => {
    const seen: string[] = [];
    for (const failing of [false, true]) {
      const connector = connectorOf(async function* ({ scratch }) {
        seen.push(scratch);
        expect(readdirSync(scratch)).toEqual([]);
        expect(statSync(scratch).mode & 0o077).toBe(0);
        await mkdir(join(scratch, 'deep', 'er'), { recursive: true });
        yield batchOf(columns, [[1, 'a']]);
        if (failing) throw new Problem({ code: 'X_Y', family: 'job', message: 'no' });
      });
      const { given } = rig(extractOf(connector));
      await sealedRun(given).catch(() => {});
    }
    expect(seen).toHaveLength(2);
    expect(seen.filter((path) => existsSync(path))).toEqual([]);
  });

  it("doesn't hide the run's error if the source keeps writing to it", async () => {
    const end = new AbortController();
    const connector = connectorOf(async function* ({ scratch }) {
      yield batchOf(columns, [[1, 'a']]);
      void keepWriting(scratch, end.signal);
      throw new Problem({ code: 'X_Y', family: 'job', message: 'no' });
    });
    const { given } = rig(extractOf(connector));
    onTestFinished(() => end.abort());
    expect(await problemOf(sealedRun(given))).toMatchObject({ code: 'X_Y' });
  });

  it("isn't created for a source that doesn't use it", async () => {
    let during: string[] | undefined;
    const connector = connectorOf(async function* () {
      during = readdirSync(given.spool);
      yield batchOf(columns, [[1, 'a']]);
    });
    const { given } = rig(extractOf(connector));
    await sealedRun(given);
    expect(during).toEqual([]);
  });
});

/** Fills a folder faster than it can be emptied, and creates it again if it was deleted. */
async function keepWriting(folder: string, signal: AbortSignal): Promise<void> {
  for (let file = 0; !signal.aborted; file++) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, String(file)), '');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
