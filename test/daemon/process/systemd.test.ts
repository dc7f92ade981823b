import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Systemd } from '../../../src/daemon/process/systemd.ts';
import type { Log } from '../../../src/lib/log.ts';
import { quietLog } from '../../../src/lib/log.ts';
import { forTest, makeFolder, until } from '../../journey/process.ts';
import { adminKey, makeWorld } from '../../journey/world.ts';
import { openManager } from './manager.ts';

describe('systemd', () => {
  it("is notified when the daemon is ready, reloads, is ready again and stops, and that it's alive", async () => {
    const { socket, heard } = await openManager();
    const world = await makeWorld();
    const home = await world.home();
    await home.write('rows.csv', 'id\n1\n');
    await home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { files: { connector: 'file' } },
      jobs: {
        orders: {
          source: 'files',
          query: 'rows.csv',
          format: 'csv',
          target: world.instances.csv,
          schedule: '0 0 29 2 *',
        },
      },
    });
    const daemon = home.start(['run'], { env: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '4000000' } });
    await until('a watchdog ping', () => heard().includes('WATCHDOG=1'));
    expect(heard()[0]).toBe('READY=1 STATUS=1 job active');
    daemon.child.kill('SIGHUP');
    const isReload = (words: string) => /^RELOADING=1 MONOTONIC_USEC=\d+$/.test(words);
    await until('the reload notification', () => heard().some(isReload));
    await until('the reload to finish', () => heard().filter((words) => words.startsWith('READY=1')).length === 2);
    const said = heard().filter((words) => words !== 'WATCHDOG=1');
    expect(said.map((words) => words.split('=', 1)[0])).toEqual(['READY', 'RELOADING', 'READY']);
    const health = await home.sluice(['health']);
    expect(health).toMatchObject({ code: 0, stdout: expect.stringContaining('the schedules are running') });
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    await until('the stopping notification', () => heard().includes('STOPPING=1'));
    expect(await home.sluice(['health', '--json'])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('no daemon is running'),
    });
  });

  it('is notified that a standby has started and is alive, and of its status once it takes over', async () => {
    const { socket, heard } = await openManager();
    const world = await makeWorld();
    const home = await world.home();
    await home.config({ destinations: { main: { url: world.url, api_key: adminKey } }, jobs: {} });
    const first = home.start(['run']);
    await until('the first daemon to be healthy', async () => (await home.sluice(['health'])).code === 0);
    const env = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '4000000' };
    const second = home.start(['run', '--second', 'wait'], { env });
    await until('a watchdog ping from the standby daemon', () => heard().includes('WATCHDOG=1'));
    expect(heard()[0]).toMatch(/^READY=1 STATUS=standby: process \d+.* uses the state$/);
    first.child.kill('SIGTERM');
    await first.ended;
    await until('the standby daemon to take over', () => heard().includes('READY=1 STATUS=0 jobs active'));
    const third = home.start(['run', '--second', 'wait'], { env });
    await until(
      'the third daemon to be on standby',
      () => heard().filter((words) => words.includes('standby')).length === 2,
    );
    third.child.kill('SIGTERM');
    expect((await third.ended).code).toBe(0);
    await until('the daemon to stop', () => heard().includes('STOPPING=1'));
    second.child.kill('SIGTERM');
    expect((await second.ended).code).toBe(0);
  });

  it('gets no watchdog pings while the daemon is unhealthy', async () => {
    const { socket, heard } = await openManager();
    const systemd = new Systemd({
      env: { ...process.env, NOTIFY_SOCKET: socket, WATCHDOG_USEC: '400000' },
      log: quietLog,
    });
    let isWell = true;
    systemd.watch(() => isWell);
    forTest(() => systemd.stopping());
    await until('a watchdog ping', () => heard().includes('WATCHDOG=1'));
    isWell = false;
    await systemd.ready(2);
    // Pings that were sent before this notification arrive before it.
    await until('the last status notification', () => heard().some((words) => words.startsWith('READY=1')));
    const before = heard().length;
    await new Promise((done) => setTimeout(done, 500));
    expect(heard().slice(before)).toEqual([]);
  });

  it('gets the last notification right after a slow ping, no matter how many pings were due meanwhile', async () => {
    const folder = await makeFolder();
    const [said, go] = [join(folder, 'said'), join(folder, 'go')];
    const helper = `#!/bin/sh\necho "$1" >> '${said}'\nwhile [ ! -e '${go}' ]; do sleep 0.05; done\n`;
    await writeFile(join(folder, 'systemd-notify'), helper, { mode: 0o755 });
    const heard = () => (existsSync(said) ? readFileSync(said, 'utf8').trimEnd().split('\n') : []);
    const env = { PATH: `${folder}:${process.env.PATH}`, NOTIFY_SOCKET: '/nowhere/notify', WATCHDOG_USEC: '20000' };
    const systemd = new Systemd({ env, log: quietLog });
    systemd.watch(() => true);
    await until('the first ping', () => heard().length === 1);
    // Time for many more pings.
    await new Promise((done) => setTimeout(done, 300));
    const stopping = systemd.stopping();
    await writeFile(go, '');
    await stopping;
    expect(heard()).toEqual(['WATCHDOG=1', 'STOPPING=1']);
  });

  it('is notified only if it started the daemon; a missing helper program is logged once', async () => {
    const lines: string[] = [];
    const log: Log = { ...quietLog, warn: (message) => void lines.push(message) };
    await new Systemd({ env: { PATH: '' }, log }).ready(1);
    expect(lines).toEqual([]);
    const lost = new Systemd({ env: { PATH: '/nowhere', NOTIFY_SOCKET: '/nowhere/notify' }, log });
    await lost.ready(1);
    await lost.stopping();
    expect(lines).toEqual(['failed to notify systemd']);
  });
});
