import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freeze } from '../journey/freeze.ts';
import { until } from '../journey/process.ts';
import { adminKey, makeWorld } from '../journey/world.ts';

/**
 * A daemon with one job whose schedule never becomes due in a test. The key is in a file, as systemd provides it, or in
 * the config.
 */
async function setUp({ hasCredentials = false } = {}) {
  const world = await makeWorld();
  const home = await world.home();
  await home.write('rows.csv', 'id\n1\n');
  const credentials = join(home.folder, 'credentials');
  await mkdir(credentials);
  await writeFile(join(credentials, 'api_key'), adminKey);
  const api_key = hasCredentials ? `\${file:${credentials}/api_key}` : adminKey;
  const env = hasCredentials ? { CREDENTIALS_DIRECTORY: credentials } : {};
  const job = { source: 'files', query: 'rows.csv', format: 'csv', schedule: '0 0 29 2 *' };
  const config = (jobs: Record<string, object>) =>
    home.config({
      destinations: { main: { url: world.url, api_key } },
      sources: { files: { connector: 'file' } },
      jobs,
    });
  const orders = { ...job, target: world.instances.csv };
  await config({ orders });
  const daemon = home.start(['run'], { env });
  await until('the daemon to start', () => daemon.output().includes('daemon.started'));
  return { world, home, credentials, config, orders, daemon };
}

describe('sluice reload', () => {
  it('exits with 0 if the new config is active', async () => {
    const { home, config, orders, world } = await setUp();
    await config({ orders, stock: { ...orders, target: world.instances.json, format: 'json' } });
    expect(await home.sluice(['reload'])).toMatchObject({
      code: 0,
      stdout: 'Reloaded: 2 jobs active.\n',
      stderr: '',
    });
    const { stdout } = await home.sluice(['status', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ jobs: [{ job: 'orders' }, { job: 'stock' }] });
  });

  it('exits with 2 if the state is a folder, which no other machine shares', async () => {
    const { home } = await setUp();
    const { code, stderr } = await home.sluice(['reload', '--fleet']);
    expect(code).toBe(2);
    expect(stderr).toContain('RELOAD_NO_FLEET');
  });

  it('exits with 2 and lists the errors in a rejected config', async () => {
    const { home, config, orders } = await setUp();
    await config({ orders: { ...orders, source: 'fils' } });
    const { code, stderr } = await home.sluice(['reload']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/CONFIG_\w+: .*\n {2}where {4}.*sluice\.yaml:\d+/);
    expect(stderr).toContain('Not reloaded: the config has 1 error; the previous config stays active.');
    const { stdout } = await home.sluice(['reload', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ exit_code: 2, jobs: 1, faults: [{ place: expect.any(String) }] });
  });

  it('activates a config at least as new as each of many concurrent requests', async () => {
    const { home, config, orders } = await setUp();
    for (let n = 0; n < 3; n++) {
      await config({ [`orders-${n}`]: orders });
      const all = await Promise.all([1, 2, 3].map(() => home.sluice(['reload'])));
      expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
      const { stdout } = await home.sluice(['status', '--json']);
      expect(JSON.parse(stdout)).toMatchObject({ jobs: [{ job: `orders-${n}` }] });
    }
  });

  it("reports that systemd hasn't updated the credentials yet", async () => {
    const { home, credentials } = await setUp({ hasCredentials: true });
    expect(await home.sluice(['reload'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('systemctl restart'),
    });
    await writeFile(join(credentials, 'api_key'), adminKey);
    expect(await home.sluice(['reload'])).toMatchObject({ code: 0, stderr: '' });
  });

  it('reports that no daemon is running', async () => {
    const { home, daemon } = await setUp();
    daemon.child.kill('SIGTERM');
    await daemon.ended;
    expect(await home.sluice(['reload'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('RELOAD_NO_DAEMON'),
    });
  });

  it('gives up on a daemon that hangs', async () => {
    const { home, daemon } = await setUp();
    await freeze(daemon, home);
    try {
      const { code, stderr } = await home.sluice(['reload', '--wait', '0.5']);
      expect(code).toBe(1);
      expect(stderr).toContain('RELOAD_NO_ANSWER: Timeout: the daemon did not respond within 0.5 s');
    } finally {
      daemon.child.kill('SIGCONT');
    }
  });
});
