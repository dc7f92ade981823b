import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { forTest, until } from './process.ts';
import { adminKey, makeWorld } from './world.ts';

/** Starts a write to a state's database as soon as no other process is writing, and neither commits nor exits. */
const holder = `
const { DatabaseSync } = require('node:sqlite');
new DatabaseSync(process.argv[1], { timeout: 60_000 }).exec('begin immediate');
console.log('locked');
setInterval(() => {}, 1000);
`;

async function lock(file: string) {
  const child = spawn(process.execPath, ['--eval', holder, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const unlock = (): Promise<unknown> => {
    child.kill('SIGKILL');
    return ended;
  };
  forTest(unlock);
  const locked = new Promise((resolve) => child.stdout.once('data', () => resolve('locked')));
  expect(await Promise.race([locked, ended])).toBe('locked');
  return unlock;
}

async function setUp() {
  const world = await makeWorld();
  const home = await world.home();
  await home.write('orders.csv', 'id\n1\n');
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { here: { connector: 'file' } },
    jobs: {
      orders: {
        source: 'here',
        query: { path: 'orders.csv' },
        format: 'csv',
        target: world.instances.csv,
        schedule: 'every 1m',
      },
    },
  });
  expect(await home.syncHere()).toMatchObject({ code: 0 });
  await home.write('orders.csv', 'id\n2\n');
  return { world, home, file: join(home.folder, 'state/sluice.db') };
}

it("a command that writes fails if another process holds the state's lock, and works once the lock is released", async () => {
  const { world, home, file } = await setUp();
  const unlock = await lock(file);
  const { code, stdout, stderr } = await home.sluice(['sync']);
  expect({ code, stdout, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('STATE_LOCKED: ') });
  expect(stderr).toContain(file);
  expect(stderr).toContain('fuser -v');
  expect(stderr).not.toContain('bug in Sluice');
  expect((await home.sluice(['status'])).code).toBe(0);
  await unlock();
  expect(await home.syncHere()).toMatchObject({ code: 0 });
  expect(await world.data(world.instances.csv)).toBe('id\n2\n');
});

it("a daemon logs that another process holds the state's lock, keeps running, and recovers once the lock is released", async () => {
  const { home, file } = await setUp();
  const daemon = home.start(['run'], { serves: true });
  let last = '';
  const isWell = async (): Promise<boolean> => {
    // Each check is a process, so pause between them: otherwise, they would take CPU time from the daemon that the test
    // waits for.
    await wait(1000);
    const { code, stdout } = await home.sluice(['health']);
    last = stdout;
    return code === 0;
  };
  const seen = () => `${last}\n${daemon.output()}`;
  // A daemon that can't write before it's ready exits.
  await until('the daemon to be ready', isWell, { seen });
  const unlock = await lock(file);
  await until('the daemon to report STATE_LOCKED', () => daemon.output().includes('STATE_LOCKED'), {
    withinMs: 400_000,
    seen: daemon.output,
  });
  const health = await home.sluice(['health']);
  expect(health).toMatchObject({ code: 1 });
  expect(health.stdout + health.stderr).toContain('STATE_LOCKED');
  await unlock();
  await until('the daemon to recover', isWell, { withinMs: 400_000, seen });
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
  expect(daemon.output()).not.toContain('bug in Sluice');
}, 1_000_000);
