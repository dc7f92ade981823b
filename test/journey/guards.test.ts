import { readdirSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type FaultProxy, openFaultProxy } from './fault-proxy.ts';
import type { Home } from './home.ts';
import { adminKey, forSuite, makeFolder, makeWorld, type World } from './world.ts';

const scope = forSuite();
let world: World;
let proxy: FaultProxy;

beforeAll(async () => {
  world = await makeWorld({ scope, company: { requests_per_second: 1000 } });
  proxy = await openFaultProxy(world.url, scope);
});

/** A table of `count` rows that contain a word. */
function table(rows: number, word: string): string {
  return `id,name\n${Array.from({ length: rows }, (_, i) => `${i},${word}\n`).join('')}`;
}

const whole = table(200, 'whole');
const half = table(90, 'half');

interface Stage {
  readonly home: Home;
  readonly instance: string;
}

/** A job that reads a file and has delivered these versions of the file in order. */
async function stage(texts: readonly string[], job: object = {}, top: object = {}): Promise<Stage> {
  const instance = await world.instance('csv');
  const home = await world.home();
  await home.config({
    ...top,
    destinations: { main: { url: proxy.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs: { rows: { source: 'files', query: 'rows.csv', format: 'csv', target: instance, ...job } },
  });
  const one = { home, instance };
  for (const text of texts) {
    await home.write('rows.csv', text);
    expect((await home.syncHere()).jobs).toMatchObject([{ state: 'delivered' }]);
    expect(await world.data(instance)).toBe(text);
  }
  return one;
}

async function read({ home }: Stage, text: string) {
  await home.write('rows.csv', text);
  const { code, jobs } = await home.syncHere();
  return { code, ...jobs[0]! };
}

async function json<T>({ home }: Stage, ...args: string[]): Promise<T> {
  const ended = await home.sluice([...args, '--json']);
  expect(ended.stderr).toBe('');
  return JSON.parse(ended.stdout) as T;
}

const killAt = (event: string) => ({ preload: ['kill-at'], env: { KILL_AT: event, KILL_NTH: '1' } });

/** A job that has delivered all its rows, and whose next result was quarantined. */
async function quarantined(): Promise<Stage> {
  const one = await stage([whole]);
  expect(await read(one, half)).toMatchObject({ code: 1, state: 'quarantined' });
  return one;
}

describe('a result that has lost half its rows', () => {
  it('is quarantined even if no guard is configured; the dashboard keeps the old data, and the run reports why', async () => {
    const one = await stage([whole]);
    const held = await read(one, half);
    expect(held).toMatchObject({ code: 1, state: 'quarantined', requests: 0, problem: { code: 'GUARD_FAILED' } });
    expect(held.problem!.seen).toContain('90 rows; 200 in run');
    expect(held.problem!.allowed).toBe('a loss of up to 50% (at least 100 rows)');
    expect(await world.data(one.instance)).toBe(whole);
    expect(await world.uploads(one.instance)).toHaveLength(1);
    expect(one.home.state().runs.at(-1)).toMatchObject({ state: 'quarantined', code: 'GUARD_FAILED' });
  });

  it('is reported as `would be quarantined` by a dry run, which changes nothing', async () => {
    const one = await stage([whole]);
    await one.home.write('rows.csv', half);
    const ended = await one.home.sluice(['sync', '--dry-run', '--json']);
    expect(ended.code).toBe(1);
    // Nothing is quarantined yet, so `sluice quarantine` has nothing to show.
    const next = expect.stringMatching(/^sluice sync \S+ --dry-run --diff$/);
    const shown = {
      family: 'job',
      seen: expect.stringContaining(' rows;'),
      allowed: expect.stringContaining('at least'),
    };
    const told = { would: 'would be quarantined', problem: { code: 'GUARD_FAILED', ...shown, next } };
    expect((JSON.parse(ended.stdout) as { jobs: unknown[] }).jobs).toMatchObject([told]);
    expect(one.home.state().outbox).toHaveLength(1);
  });

  it('is compared with the last good result by a dry run, which sends and stores nothing', async () => {
    const one = await quarantined();
    const TMPDIR = await makeFolder();
    const ended = await one.home.sluice(['sync', '--diff', '--json'], { env: { TMPDIR } });
    const [job] = (JSON.parse(ended.stdout) as { jobs: unknown[] }).jobs;
    expect(job).toMatchObject({
      would: 'would be quarantined',
      difference: { removed: 110, changed: 90, rows: { now: 90 } },
    });
    expect(readdirSync(TMPDIR)).toEqual([]);
    const { stdout } = await one.home.sluice(['sync', '--dry-run', '--diff']);
    expect(stdout).toContain('110 rows removed, 0 added, 90 changed.');
    expect(await world.uploads(one.instance)).toHaveLength(1);
  });

  it("is not compared if the last good result's file is missing", async () => {
    const one = await quarantined();
    const last = one.home.state().outbox.find(({ state }) => state === 'delivered')!;
    await rm(last.path);
    for (const args of [
      ['quarantine', 'show', 'rows'],
      ['sync', '--dry-run', '--diff'],
    ]) {
      const { stdout } = await one.home.sluice(args);
      expect(stdout).toContain('the file of one of the payloads is no longer on disk');
    }
  });

  it("is shown with both results' row counts and sizes, and with a comparison of the rows", async () => {
    const one = await quarantined();
    expect(await json<unknown[]>(one, 'quarantine', 'list')).toMatchObject([{ job: 'rows', state: 'quarantined' }]);
    const shown = await json<Record<string, unknown>>(one, 'quarantine', 'show', 'rows');
    expect(shown).toMatchObject({
      now: { rows: 90, bytes: half.length },
      last: { rows: 200, bytes: whole.length },
      findings: [{ guard: 'row_change' }],
    });
    expect(shown.difference).toMatchObject({
      by: { kind: 'found', columns: ['id'] },
      added: 0,
      removed: 110,
      changed: 90,
      columns: [
        { column: 'id', changed: 0 },
        { column: 'name', changed: 90, last: { max: 'whole' }, now: { max: 'half' } },
      ],
    });
    const { stdout } = await one.home.sluice(['quarantine', 'show', 'rows']);
    expect(stdout).toContain('110 rows removed, 0 added, 90 changed. Compared by id, which is unique in both.');
    expect(stdout).toContain('~ id=0:  name whole → half');
    expect(stdout).toContain('sluice quarantine approve rows');
    expect((await one.home.sluice(['quarantine'])).stdout).toContain('fell by 55%');
  });

  it('is delivered unchanged once a user approves it, and becomes the new reference', async () => {
    const one = await quarantined();
    await one.home.write('rows.csv', table(5, 'changed meanwhile'));
    const done = await json(one, 'quarantine', 'approve', 'rows', '--why', 'spring cleaning');
    expect(done).toMatchObject({ state: 'delivered', rows: 90 });
    expect(await world.data(one.instance)).toBe(half);
    const listed = await json<unknown[]>(one, 'quarantine', 'list', '--all');
    expect(listed).toMatchObject([
      {
        state: 'delivered',
        decision: { action: 'approve', why: 'spring cleaning', who: expect.stringContaining('@') },
      },
    ]);
    expect(await json<unknown[]>(one, 'quarantine', 'list')).toEqual([]);
    expect(await read(one, table(80, 'next'))).toMatchObject({ state: 'delivered' });
  });

  it('stays owed if the service fails after the approval, until a sync without newer data delivers it', async () => {
    const one = await quarantined();
    proxy.script(one.instance, { answer: 503 });
    const ended = await one.home.sluice(['quarantine', 'approve', 'rows', '--json']);
    expect(ended.code).toBe(1);
    expect(JSON.parse(ended.stdout)).toMatchObject({ state: 'waiting_retry', until: expect.any(String) });
    expect(await world.data(one.instance)).toBe(whole);
    expect(one.home.state().outbox.at(-1)).toMatchObject({ state: 'owed', attempts: 1 });
    expect(await read(one, half)).toMatchObject({ code: 0, state: 'delivered', rows: 90 });
    expect(await world.data(one.instance)).toBe(half);
  });

  it('is deleted without being sent if a user discards it', async () => {
    const one = await quarantined();
    expect(await json(one, 'quarantine', 'discard', 'rows')).toMatchObject({ state: 'discarded' });
    expect(await world.data(one.instance)).toBe(whole);
    expect(await world.uploads(one.instance)).toHaveLength(1);
    const again = await one.home.sluice(['quarantine', 'approve', 'rows']);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain('PAYLOAD_UNKNOWN');
    expect(one.home.payloads().filter((name) => name.endsWith('.csv'))).toHaveLength(1);
  });

  it('is superseded by the next good result, and remains in `quarantine list --all`', async () => {
    const one = await quarantined();
    expect(await read(one, table(190, 'back'))).toMatchObject({ code: 0, state: 'delivered' });
    expect(await json<unknown[]>(one, 'quarantine', 'list')).toEqual([]);
    expect(await json<unknown[]>(one, 'quarantine', 'list', '--all')).toMatchObject([{ state: 'superseded' }]);
  });

  it("can't be approved if its file was changed on disk, and the attempt changes nothing", async () => {
    const one = await quarantined();
    const { path } = one.home.state().outbox.find(({ state }) => state === 'quarantined')!;
    await writeFile(path, (await readFile(path, 'utf8')).replace('half', 'HALF'));
    const ended = await one.home.sluice(['quarantine', 'approve', 'rows']);
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('PAYLOAD_DAMAGED');
    expect(await world.data(one.instance)).toBe(whole);
    expect(one.home.state().outbox.at(-1)).toMatchObject({ state: 'quarantined' });
  });
});

describe('guards', () => {
  it("allow a job's first result, whatever its size", async () => {
    const one = await stage([]);
    expect(await read(one, half)).toMatchObject({ code: 0, state: 'delivered' });
  });

  it('at the top level apply to every job that doesn\'t override them, and "false" turns one off', async () => {
    const guards = { rows: { minimum: 100 } };
    const bound = await stage([], {}, { guards });
    expect(await read(bound, half)).toMatchObject({ state: 'quarantined' });
    const free = await stage([whole], { guards: { rows: false, row_change: false } }, { guards });
    expect(await read(free, table(1, 'few'))).toMatchObject({ state: 'delivered' });
  });

  it('check streamed cells for too many missing values and for a newest date that is too old', async () => {
    const guards = { nulls: { name: '10%' }, newest: { column: 'day', within: '2d' } };
    const one = await stage([], { guards });
    const rows = (day: string, gaps: number) =>
      `day,name\n${Array.from({ length: 40 }, (_, i) => `${day},${i < gaps ? '' : 'x'}\n`).join('')}`;
    const today = new Date().toISOString().slice(0, 10);
    expect(await read(one, rows(today, 4))).toMatchObject({ state: 'delivered' });
    const held = await read(one, rows('2020-02-29', 5));
    expect(held.problem!.seen).toBe('5 of 40 (12.5%); 2020-02-29 23:59:59Z');
  });

  it('allow a result that a user has approved, but no other', async () => {
    const one = await stage([], { guards: { rows: { minimum: 100 } } });
    expect(await read(one, half)).toMatchObject({ state: 'quarantined' });
    expect(await json(one, 'quarantine', 'approve', 'rows')).toMatchObject({ state: 'delivered' });
    expect(await read(one, half)).toMatchObject({ code: 0, state: 'unchanged' });
    expect(await read(one, table(90, 'others'))).toMatchObject({ state: 'quarantined' });
  });
});

describe('a kill', () => {
  it.for(['payload.quarantined', 'payload.superseded'])(
    'at %s, while a result is quarantined, loses neither that result nor the data on the dashboard',
    async (event) => {
      const one = event === 'payload.superseded' ? await quarantined() : await stage([whole]);
      await one.home.write('rows.csv', table(50, 'killed'));
      expect((await one.home.sync(killAt(event))).signal).toBe('SIGKILL');
      one.home.age();
      expect(await read(one, table(50, 'killed'))).toMatchObject({ state: 'quarantined' });
      expect(await world.data(one.instance)).toBe(whole);
      expect(await json(one, 'quarantine', 'approve', 'rows')).toMatchObject({ state: 'delivered', rows: 50 });
      expect(await world.data(one.instance)).toBe(table(50, 'killed'));
    },
  );

  it.for(['payload.approved', 'upload.started', 'request.answered', 'payload.delivered'])(
    "at %s during an approval loses nothing: the job's next sync delivers the approved result",
    async (event) => {
      const one = await quarantined();
      const killed = await one.home.sluice(['quarantine', 'approve', 'rows'], killAt(event));
      expect(killed.signal).toBe('SIGKILL');
      one.home.age();
      await rm(join(one.home.folder, 'rows.csv'));
      expect((await one.home.syncHere()).jobs).toMatchObject([{ state: 'failed' }]);
      expect(await world.data(one.instance)).toBe(half);
      expect(one.home.state().outbox.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
    },
  );

  it('at payload.discarded leaves only files that the next start deletes', async () => {
    const one = await quarantined();
    const killed = await one.home.sluice(['quarantine', 'discard', 'rows'], killAt('payload.discarded'));
    expect(killed.signal).toBe('SIGKILL');
    one.home.age();
    expect(await read(one, whole)).toMatchObject({ state: 'unchanged' });
    expect(one.home.payloads().filter((name) => name.endsWith('.csv'))).toHaveLength(1);
    expect(await json<unknown[]>(one, 'quarantine', 'list', '--all')).toMatchObject([{ state: 'discarded' }]);
  });

  it("at payload.revived loses nothing: the job's next sync delivers the dead payload", async () => {
    const one = await stage([]);
    proxy.script(one.instance, { answer: 422 });
    expect(await read(one, whole)).toMatchObject({ state: 'dead' });
    expect((await one.home.sluice(['dead', 'send', 'rows'], killAt('payload.revived'))).signal).toBe('SIGKILL');
    await rm(join(one.home.folder, 'rows.csv'));
    one.home.age();
    await one.home.syncHere();
    expect(await world.data(one.instance)).toBe(whole);
  });

  it.for(['payload.restored', 'upload.started', 'request.answered', 'payload.delivered'])(
    'at %s during a rollback loses nothing: the job is on hold, and its earlier rows arrive',
    async (event) => {
      const one = await stage([whole, table(150, 'wrong')]);
      expect((await one.home.sluice(['rollback', 'rows'], killAt(event))).signal).toBe('SIGKILL');
      one.home.age();
      expect((await one.home.syncHere()).jobs).toMatchObject([{ state: 'on_hold' }]);
      expect(await world.data(one.instance)).toBe(whole);
    },
  );
});

describe('a rollback', () => {
  it('restores the last good rows and puts the job on hold until it is resumed', async () => {
    const one = await stage([table(120, 'first'), whole, table(150, 'wrong')]);
    const listed = await json<{ rows: number }[]>(one, 'rollback', 'rows', '--list');
    expect(listed.map(({ rows }) => rows)).toEqual([200, 120]);
    const back = await json(one, 'rollback', 'rows', '--why', 'wrong prices');
    expect(back).toMatchObject({ state: 'delivered', rows: 200 });
    expect(await world.data(one.instance)).toBe(whole);

    const held = await read(one, table(151, 'wrong'));
    expect(held).toMatchObject({
      code: 1,
      state: 'on_hold',
      problem: { code: 'JOB_ON_HOLD', next: 'sluice resume rows' },
    });
    expect(held.problem!.seen).toContain('wrong prices');
    expect(await world.data(one.instance)).toBe(whole);
    const status = JSON.parse((await one.home.sluice(['status', '--json'])).stdout) as { jobs: { state: string }[] };
    expect(status.jobs[0]!.state).toContain('on hold');

    expect(await json(one, 'resume', 'rows')).toEqual({ job: 'rows', released: true });
    const decided = await json<object[]>(one, 'audit', 'rows');
    expect(decided).toMatchObject([{ action: 'resume' }, { action: 'rollback', why: 'wrong prices' }]);
    expect(await read(one, table(180, 'right'))).toMatchObject({ code: 0, state: 'delivered' });
    expect(await world.data(one.instance)).toBe(table(180, 'right'));
  });

  it('goes back one payload at a time, or to a given run', async () => {
    const texts = [table(120, 'first'), whole, table(150, 'wrong')];
    const one = await stage(texts);
    const runs = one.home.state().outbox.map(({ run }) => run);
    await json(one, 'rollback', 'rows');
    await json(one, 'rollback', 'rows');
    expect(await world.data(one.instance)).toBe(texts[0]);
    const none = await one.home.sluice(['rollback', 'rows']);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('ROLLBACK_NOTHING') });
    const other = await stage(texts);
    const to = other.home.state().outbox[0]!.run;
    expect(to).not.toBe(runs[0]);
    await json(other, 'rollback', 'rows', '--to', to);
    expect(await world.data(other.instance)).toBe(texts[0]);
  });

  it("can restore only the payloads that `keep` retains, and cleanup at startup doesn't delete them", async () => {
    const texts = [1, 2, 3, 4, 5].map((n) => table(100 + n, 'row'));
    const one = await stage(texts, {}, { keep: { payloads: 2 } });
    one.home.age();
    await one.home.syncHere();
    expect(one.home.payloads().filter((name) => name.endsWith('.csv'))).toHaveLength(2);
    const listed = await json<{ rows: number }[]>(one, 'rollback', 'rows', '--list');
    expect(listed.map(({ rows }) => rows)).toEqual([104]);
  });
});

describe('a payload that the service refused', () => {
  it('is listed with its error code, and is sent again on request', async () => {
    const one = await stage([]);
    proxy.script(one.instance, { answer: 422 });
    expect(await read(one, whole)).toMatchObject({ state: 'dead' });
    expect(await json<unknown[]>(one, 'dead', 'list')).toMatchObject([{ job: 'rows', code: 'DELIVERY_REFUSED' }]);
    expect((await one.home.sluice(['dead', 'show', 'rows'])).stdout).toContain('DELIVERY_REFUSED');
    expect(await json(one, 'dead', 'send', 'rows', '--why', 'fixed')).toMatchObject({ state: 'delivered' });
    expect(await world.data(one.instance)).toBe(whole);
    expect(await json<unknown[]>(one, 'dead', 'list')).toEqual([]);
  });
});
