import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Running, until } from '../journey/process.ts';
import { adminKey, makeWorld, type World } from '../journey/world.ts';

/** A config whose key comes from a slow program, such as a vault client. */
async function setUp(world: World, seconds: number) {
  const home = await world.home();
  await home.write('rows.csv', 'id,name\n1,a\n');
  await home.write('key.txt', `${adminKey}\n`);
  await home.write('vault.sh', `sleep ${seconds}\nprintf 'x' >> asked.txt\ncat key.txt\n`);
  const job = { source: 'files', query: 'rows.csv', format: 'csv', target: world.instances.csv, schedule: 'manual' };
  const config = (jobs: object) =>
    home.config({
      allow_commands: true,
      destinations: { main: { url: world.url, api_key: `\${cmd:sh vault.sh}` } },
      sources: { files: { connector: 'file' } },
      jobs,
    });
  await config({ orders: job });
  const daemon = home.start(['run']);
  await until('the daemon to start', () => daemon.output().includes('daemon.started'));
  return { home, job, config, daemon };
}

const linesOf = (daemon: Running, message: string): Record<string, unknown>[] =>
  daemon
    .output()
    .split('\n')
    .filter((line) => line.includes(`"msg":"${message}"`))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('many reloads in a row', () => {
  it('leave the last config active, no matter how many signals and versions came before', async () => {
    const world = await makeWorld();
    const { home, job, config, daemon } = await setUp(world, 0.3);
    for (let i = 0; i < 50; i++) {
      await config(i % 2 === 0 ? { orders: { ...job, source: 'nowhere' } } : { [`orders_${i}`]: job });
      daemon.child.kill('SIGHUP');
      await wait(5);
    }
    await config({ first: job, second: { ...job, target: world.instances.json, format: 'json' } });
    daemon.child.kill('SIGHUP');
    await until('the last config to be active', () => linesOf(daemon, 'config.reloaded').at(-1)?.jobs === 2);
    expect((await home.sync()).jobs.map(({ job: name, state }) => [name, state])).toEqual([
      ['first', 'delivered'],
      ['second', 'delivered'],
    ]);
    const taken = linesOf(daemon, 'config.reloaded').length + linesOf(daemon, 'config.refused').length;
    expect(taken).toBeLessThan(51);
    daemon.child.kill('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0, signal: null });
  });

  it.each([5, 600])(
    "don't keep the daemon from stopping cleanly, even if the config's command takes %d seconds",
    async (seconds) => {
      const world = await makeWorld();
      const { home, daemon } = await setUp(world, 0);
      await home.write('vault.sh', `echo begun >> asked.txt\nexec sleep ${seconds}\n`);
      for (let i = 0; i < 50; i++) {
        daemon.child.kill('SIGHUP');
        await wait(5);
      }
      await until('the command to start', () => readFileSync(join(home.folder, 'asked.txt'), 'utf8').includes('begun'));
      daemon.child.kill('SIGTERM');
      expect(await daemon.ended).toMatchObject({ code: 0, signal: null });
      expect(linesOf(daemon, 'config.refused')).toEqual([]);
    },
  );
});
