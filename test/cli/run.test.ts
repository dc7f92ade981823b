import { describe, expect, it } from 'vitest';
import { type Running, until } from '../journey/process.ts';
import { adminKey, makeWorld, type World } from '../journey/world.ts';

/** A user with a csv file, a job whose schedule never becomes due in a test, and a daemon that logs. */
async function setUp(world: World) {
  const home = await world.home();
  await home.write('rows.csv', 'id,name\n1,a\n');
  const config = (jobs: object) => ({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs,
  });
  const orders = (schedule: string) => ({
    orders: { source: 'files', query: 'rows.csv', format: 'csv', target: world.instances.csv, schedule },
  });
  await home.config(config(orders('0 0 29 2 *')));
  const run = async (): Promise<Running> => {
    const daemon = home.start(['run']);
    await until('the daemon to start', () => daemon.output().includes('daemon.started'));
    return daemon;
  };
  return { home, config, orders, run };
}

const linesOf = (daemon: Running): Record<string, unknown>[] =>
  daemon
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe('sluice run', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('exits with 0 on %s, and logs the reason', async (signal) => {
    const world = await makeWorld();
    const { home, run } = await setUp(world);
    const daemon = await run();
    daemon.child.kill(signal);
    const { code } = await daemon.ended;
    expect(code).toBe(0);
    expect(linesOf(daemon).map(({ msg }) => msg)).toEqual(['daemon.started', 'daemon.stopping', 'daemon.stopped']);
    expect(linesOf(daemon)[1]).toMatchObject({ reason: `stopped by ${signal}` });
    expect(home.state().leases).toEqual([]);
  });

  it('exits cleanly if it receives Ctrl-C twice at once, as happens under npm', async () => {
    const world = await makeWorld();
    const { run } = await setUp(world);
    const daemon = await run();
    daemon.child.kill('SIGINT');
    // Blocks this process, so that nothing else delays the second signal until it counts as a new one.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    daemon.child.kill('SIGINT');
    expect(await daemon.ended).toMatchObject({ code: 0, signal: null });
  });

  it('on SIGHUP, applies a valid config, or keeps the old one and reports where the new one is wrong', async () => {
    const world = await makeWorld();
    const { home, config, orders, run } = await setUp(world);
    const daemon = await run();
    const count = (msg: string) => linesOf(daemon).filter((line) => line.msg === msg).length;
    await home.config(config({ orders: { ...orders('* * * * *').orders, source: 'fils' } }));
    daemon.child.kill('SIGHUP');
    await until('the config to be refused', () => count('config.refused') === 1);
    const fault = linesOf(daemon).find(({ msg }) => msg === 'config.error');
    expect(fault?.place).toMatch(/sluice\.yaml:\d+/);
    expect(fault?.message).toContain('files');
    await home.config(config({ renamed: orders('* * * * *').orders }));
    daemon.child.kill('SIGHUP');
    await until('the new config to be active', () => count('config.reloaded') === 1);
    const { stdout } = await home.sluice(['status', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ jobs: [{ job: 'renamed', enabled: true }] });
    await home.config({ ...config(orders('* * * * *')), state: './elsewhere' });
    daemon.child.kill('SIGHUP');
    await until('the config to be refused again', () => count('config.refused') === 2);
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  });

  it('survives a SIGHUP during startup, and reloads the config afterwards', async () => {
    const world = await makeWorld();
    const { home } = await setUp(world);
    const daemon = home.start(['run'], { preload: ['hang-up-early'] });
    await until('the new config to be active', () => daemon.output().includes('config.reloaded'));
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  });

  it('refuses to start a second daemon on a state folder, but allows a concurrent sync', async () => {
    const world = await makeWorld();
    const { home, run } = await setUp(world);
    const daemon = await run();
    const second = await home.sluice(['run']);
    expect(second.code).toBe(2);
    expect(second.stderr).toContain('DAEMON_RUNNING');
    expect(second.stderr).toContain(`process ${daemon.child.pid}`);
    expect((await home.syncHere()).jobs).toMatchObject([{ job: 'orders', state: 'delivered' }]);
    expect((await home.sluice(['status'])).stdout).toContain(`process ${daemon.child.pid}`);
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    expect((await home.sluice(['status'])).stdout).toContain('No daemon is running');
    const third = await run();
    third.child.kill('SIGTERM');
    expect((await third.ended).code).toBe(0);
  });

  it('starts with the valid jobs, and reports errors in the others', async () => {
    const world = await makeWorld();
    const { home, config, orders } = await setUp(world);
    await home.config(config({ ...orders('0 0 29 2 *'), bad: { source: 'nowhere' } }));
    const daemon = home.start(['run']);
    await until('the daemon to start', () => daemon.output().includes('daemon.started'));
    const lines = linesOf(daemon);
    expect(lines.at(-1)).toMatchObject({ msg: 'daemon.started', jobs: 1, scheduled: 1 });
    const faults = lines.slice(0, -1);
    expect(faults.length).toBeGreaterThan(1);
    for (const fault of faults) expect(fault).toMatchObject({ msg: 'config.error', message: expect.any(String) });
    expect(faults.map(({ message }) => message).join('\n')).toContain('nowhere');
    daemon.child.kill('SIGTERM');
    await daemon.ended;
  });
});
