import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { firstProcess, noFirstProcess } from './first-process.ts';
import { type Ended, forTest, until } from './process.ts';
import { adminKey, makeWorld } from './world.ts';

/**
 * Reads one row or, if the file `spin` exists, blocks forever: in JavaScript or, if that file says "native", outside of
 * it, in SQLite. Waits before that, without blocking, as long as the file `wait` exists.
 */
const spinner = `
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { batchOf, defineConnector } from 'sluice/sdk';
export default defineConnector({
  id: 'spinner', title: 'Spinner', summary: 'Reads a row or spins.', source: {}, query: {},
  check: async () => 'it is there',
  extract: async ({ folder }) => {
    while (existsSync(join(folder, 'wait'))) await new Promise((resolve) => setTimeout(resolve, 50));
    const file = join(folder, 'spin');
    function spin() { while (existsSync(file)) {} }
    writeFileSync(join(folder, 'spinning'), '');
    if (existsSync(file) && readFileSync(file, 'utf8') === 'native') {
      const { DatabaseSync } = await import('node:sqlite');
      new DatabaseSync(':memory:').exec('with recursive t(n) as (select 1 union all select n + 1 from t) select max(n) from t');
    }
    spin();
    const columns = [{ name: 'n', type: 'integer' }];
    return { columns, batches: (async function* () { yield batchOf(columns, [['1']]); })() };
  },
});`;

/**
 * For processes that a source blocks. A process that should survive gets 30 seconds instead, because a busy machine may
 * block it for seconds.
 */
const watched = { preload: ['short-watch'], env: { WATCH_MS: '3000' } };

async function setUp(job: object = {}) {
  const world = await makeWorld();
  const home = await world.home();
  const spin = join(home.folder, 'spin');
  await mkdir(join(home.folder, 'own'));
  await writeFile(join(home.folder, 'own/spinner.mjs'), spinner);
  await writeFile(spin, '');
  await home.write('orders.csv', 'id\n1\n');
  const [spun, fine] = [await world.instance('csv'), await world.instance('csv')];
  await home.config({
    connectors: './own',
    // The two jobs would need more than the default allowance if the day has just begun.
    destinations: { main: { url: world.url, api_key: adminKey, requests_per_day: 10_000 } },
    sources: { wheel: { connector: 'spinner' }, here: { connector: 'file' } },
    jobs: {
      bad: { source: 'wheel', format: 'csv', target: spun, priority: 'high', ...job },
      good: { source: 'here', query: { path: 'orders.csv' }, format: 'csv', target: fine, ...job },
    },
  });
  const runs = () =>
    home.state().runs.map(({ job, state, code }) => `${job} ${state}${code === null ? '' : ` ${code}`}`);
  const isDelivered = async () => (await world.uploads(fine)).some(({ status }) => status === 200);
  /** How many runs of the other job have ended. */
  const ended = () => runs().filter((run) => /^good (delivered|unchanged)$/.test(run)).length;
  /** Starts a process that blocks only after the other job is done, and waits for its end. */
  const blockLater = async (command: string, isDone: () => boolean | Promise<boolean>): Promise<Ended> => {
    await home.write('wait', '');
    const running = home.start([command], watched);
    await until('the other job to end', isDone, { seen: running.output });
    await rm(join(home.folder, 'wait'));
    return running.ended;
  };
  return { world, home, spin, spun, fine, runs, isDelivered, ended, blockLater };
}

const said = ({ stdout, stderr }: Ended): string => stdout + stderr;

it('the watchdog kills a sync if a source blocks it; the next sync reads that source last, and a second block puts the job on hold', async () => {
  const { world, home, spin, spun, fine, runs, isDelivered, ended, blockLater } = await setUp();
  const first = await blockLater('sync', isDelivered);
  expect(first).toMatchObject({ signal: 'SIGKILL' });
  expect(first.stderr).toContain('The event loop was blocked for 3 s');
  expect(first.stderr).toContain('job bad, source wheel');

  const before = ended();
  expect(await blockLater('sync', () => ended() > before)).toMatchObject({ signal: 'SIGKILL' });
  expect(await world.data(fine)).toBe('id\n1\n');
  expect(runs().at(-1)).toBe('bad running');

  const third = await home.sync();
  expect(third.signal).toBeNull();
  expect(third.jobs.find(({ job }) => job === 'bad')).toMatchObject({ state: 'on_hold' });
  expect(runs().filter((run) => run === 'bad interrupted RUN_BLOCKED')).toHaveLength(2);
  const explained = said(await home.sluice(['explain', 'bad']));
  expect(explained).toContain('on hold');
  expect(explained).toMatch(/blocked the process, in spin \(file:.*spinner\.mjs:\d+\)/);
  expect(explained).toContain('sluice resume bad');
  expect(said(await home.sluice(['status']))).toMatch(/bad .*put on hold by sluice/);

  await rm(spin);
  expect(await home.sluice(['resume', 'bad'])).toMatchObject({ code: 0 });
  const last = await home.sync();
  expect(last.jobs.find(({ job }) => job === 'bad')).toMatchObject({ state: 'delivered' });
  expect(await world.data(spun)).toBe('n\n1\n');
});

it('the watchdog logs that a source blocks the daemon and kills it, and the next daemon runs the other jobs', async () => {
  const { world, home, fine, runs, isDelivered, ended, blockLater } = await setUp({ schedule: { every: '1m' } });
  for (const isFirst of [true, false]) {
    const before = isFirst ? 0 : ended();
    const { signal, stdout } = await blockLater('run', isFirst ? isDelivered : () => ended() > before);
    expect(signal).toBe('SIGKILL');
    const line = stdout.split('\n').find((text) => text.includes('process.blocked'));
    expect(JSON.parse(line!)).toMatchObject({ level: 50, seconds: 3, runs: [{ job: 'bad', source: 'wheel' }] });
  }
  const daemon = home.start(['run'], { serves: true });
  await until('the other job to run', () => runs().includes('good delivered'));
  await until('the daemon to report the job on hold', () => daemon.output().includes('the job is on hold'));
  expect(runs().filter((run) => run.startsWith('bad'))).toEqual(Array(2).fill('bad interrupted RUN_BLOCKED'));
  expect(await world.data(fine)).toBe('id\n1\n');
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
});

it.for([
  ['JavaScript', '', /blocked for 3 s .*, in spin \(file:.*spinner\.mjs:\d+\)$/],
  ['native code', 'native', /blocked for 3 s while the run was reading its source, so the process exited$/],
] as const)(
  'the watchdog kills process 1 of a container if a source blocks it in %s',
  async ([, how, message], { skip }) => {
    const reason = noFirstProcess();
    if (reason !== undefined) return skip(reason);
    const { home, spin } = await setUp();
    await writeFile(spin, how);
    const { ended } = home.start(['sync', 'bad'], { ...watched, under: firstProcess });
    expect(await ended).toMatchObject({ signal: 'SIGTRAP' });
    await rm(spin);
    // Outside the namespace, the end of the process can't be seen, so the job counts as busy until its lease expires.
    await home.sync();
    const { stdout } = await home.sluice(['history', '--json']);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ state: 'interrupted', code: 'RUN_BLOCKED', message: expect.stringMatching(message) }),
    );
  },
);

it('the watchdog blames the disk and never the source, no matter how often a commit blocks', async () => {
  const { world, home, spin, spun, fine, runs } = await setUp();
  // Until this file is removed, the bad job reads its source without blocking.
  await rm(spin);
  await home.write('wait', '');
  const stall = await home.write('stall', '');
  const state = join(home.folder, 'state');
  const stalled = { preload: ['short-watch', 'stalled-disk'], env: { WATCH_MS: '3000', DISK_UNDER: state } };
  for (const _ of [1, 2, 3]) {
    const ended = await home.sync(stalled);
    expect(ended).toMatchObject({ signal: 'SIGKILL' });
    expect(ended.stderr).toContain("The state folder's disk did not respond for 3 s");
    expect(ended.stderr).not.toContain('source wheel');
  }
  await rm(stall);
  await rm(join(home.folder, 'wait'));
  const last = await home.sync();
  expect(last.jobs.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
  expect(await world.data(spun)).toBe('n\n1\n');
  expect(await world.data(fine)).toBe('id\n1\n');
  expect(runs().filter((run) => run === 'bad interrupted DISK_STALLED')).toHaveLength(3);
  expect(runs().join()).not.toContain('RUN_BLOCKED');
});

it("the watchdog doesn't treat a suspended process as blocked by a source", async () => {
  const { home, runs } = await setUp({ schedule: { every: '1d' } });
  await rm(join(home.folder, 'spin'));
  const daemon = home.start(['run'], { ...watched, serves: true });
  await until('the daemon to start', () => daemon.output().includes('daemon.started'));
  daemon.child.kill('SIGSTOP');
  await wait(5000);
  daemon.child.kill('SIGCONT');
  await wait(2000);
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
  expect(runs()).toEqual([]);
  expect(existsSync(join(home.folder, 'spin'))).toBe(false);
});

/** Gives another process's session the same share of the CPU as this one's; see "autogroup" in sched(7). */
function shareCpuWith(pid: number): void {
  const own = '/proc/self/autogroup';
  const [nice] = (existsSync(own) && /-?\d+$/.exec(readFileSync(own, 'utf8').trim())) || ['0'];
  // A new session has 0 anyway.
  if (nice !== '0') writeFileSync(`/proc/${pid}/autogroup`, nice);
}

/** Lets a process's main thread have at most a tenth of a CPU; its other threads are unaffected. */
function starve(pid: number): () => void {
  const [cpu] = /(?<=Cpus_allowed_list:\s+)\d+/.exec(readFileSync('/proc/self/status', 'utf8'))!;
  const rivals = Array.from({ length: 9 }, () =>
    // Each has its own session, because the kernel divides a CPU by sessions first.
    spawn('taskset', ['-c', cpu, 'sh', '-c', 'while :; do :; done'], { detached: true, stdio: 'ignore' }),
  );
  const end = (): void => {
    for (const rival of rivals) rival.kill('SIGKILL');
  };
  forTest(end);
  for (const rival of rivals) shareCpuWith(rival.pid!);
  execFileSync('taskset', ['-p', '-c', cpu, String(pid)]);
  setPriority(pid, 19);
  return end;
}

it("the watchdog doesn't treat a process that gets too little CPU time as blocked by a source", async () => {
  const { world, home, spin, spun } = await setUp();
  const sync = home.start(['sync', 'bad'], watched);
  await until('the source to spin', () => existsSync(join(home.folder, 'spinning')), { seen: sync.output });
  const feed = starve(sync.child.pid!);
  await wait(6000);
  feed();
  await rm(spin);
  expect(await sync.ended).toMatchObject({ code: 0, signal: null });
  expect(await world.data(spun)).toBe('n\n1\n');
});
