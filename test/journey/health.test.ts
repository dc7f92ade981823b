import { join } from 'node:path';
import { expect, it } from 'vitest';
import { until } from './process.ts';
import { adminKey, makeWorld } from './world.ts';

it('status reports that the config file differs from the active config, and sluice health ignores a broken config file', async () => {
  const world = await makeWorld();
  const home = await world.home();
  const config = { version: 1, destinations: { main: { url: world.url, api_key: adminKey } }, jobs: {} };
  await home.config(config);
  const daemon = home.start(['run']);
  await until('the daemon to be healthy', async () => (await home.sluice(['health'])).code === 0);
  const status = async () => (await home.sluice(['status'])).stdout;
  expect(await status()).not.toContain('edited since');
  await home.config({ ...config, timezone: 'Europe/Berlin' });
  expect(await status()).toMatch(
    /It uses the config that it loaded at \S+ \S+\+0[12]:00; the file has been edited since: run "sluice check", then "sluice reload"/,
  );
  daemon.child.kill('SIGHUP');
  await until('the config to be reloaded', async () => !(await status()).includes('edited since'));
  await home.config({ ...config, alerts: { channels: { ops: { type: 'nonsense' } } }, nonsense: true });
  expect(await home.sluice(['check'])).toMatchObject({ code: 2 });
  expect(await home.sluice(['health'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('the schedules are running'),
  });
  expect((await home.sluice(['backup', join(home.folder, 'copy')])).code).toBe(0);
  await home.write('sluice.yaml', 'destinations: [');
  const unreadable = await home.sluice(['health']);
  expect(unreadable).toMatchObject({ code: 1, stdout: expect.stringContaining('CONFIG_SYNTAX') });
  expect(unreadable.stdout).toContain('set SLUICE_STATE to the state folder');
  const env = { SLUICE_STATE: join(home.folder, 'state') };
  expect((await home.sluice(['health'], { env })).code).toBe(0);
  daemon.child.kill('SIGTERM');
  await daemon.ended;
  expect((await home.sluice(['health'], { env })).code).toBe(1);
});
