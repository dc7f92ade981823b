import { request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { Monitoring } from '../../../src/daemon/monitoring.ts';
import { Systemd } from '../../../src/daemon/process/systemd.ts';
import { reportHealth } from '../../../src/daemon/report/report-health.ts';
import { type Log, quietLog } from '../../../src/lib/log.ts';
import type { Timer } from '../../../src/schedule/timer.ts';
import { makeFolder, until } from '../../journey/process.ts';
import { configOf, destinationOf, jobOf, Source, startDaemon } from '../rig.ts';
import { openManager } from './manager.ts';

/** A timer that can be stopped; after that, it no longer calls back, and its silence grows. */
function mortalTimer() {
  let isDead = false;
  const timer: Timer = {
    start() {},
    look() {},
    silence: () => (isDead ? 200_000 : 0),
    stop() {},
  };
  return { timer, die: () => (isDead = true) };
}

it('a stopped timer is reported in the log, at /healthz and by sluice health, and systemd gets no more pings', async () => {
  const [{ socket, heard }, { timer, die }] = [await openManager(), mortalTimer()];
  const destination = destinationOf('http://127.0.0.1:1/api/1.0');
  const job = jobOf({ name: 'orders', destination, instance: 'x', source: new Source() });
  const { daemon, runtime, count } = await startDaemon(configOf(await makeFolder(), [job]), { timer });
  await runtime.store.leases.take('daemon');
  let url = '';
  const info: Log['info'] = (_, facts) => {
    url = (facts as { url: string }).url;
  };
  const log: Log = { ...quietLog, info };
  const env = { ...process.env, NOTIFY_SOCKET: socket, WATCHDOG_USEC: '400000' };
  const monitor = { host: '127.0.0.1', port: 0 };
  const monitoring = await Monitoring.open({
    daemon,
    runtime,
    log,
    systemd: new Systemd({ env, log }),
    monitor,
  });
  onTestFinished(async () => {
    await monitoring.stopping();
    monitoring.close();
  });
  await monitoring.started();
  const alive = async () => {
    const { statusCode, body } = await request(`${url}/healthz`);
    return { status: statusCode, said: await body.text() };
  };
  expect(await alive()).toMatchObject({ status: 200 });
  await until('a watchdog ping', () => heard().includes('WATCHDOG=1'));

  die();
  expect(await alive()).toMatchObject({
    status: 503,
    said: expect.stringContaining('the scheduler has not run for 200 s'),
  });
  await monitoring.reload(async () => {});
  // Pings that were sent before this notification arrive before it.
  await until('the reload to finish', () => heard().filter((words) => words.startsWith('READY=1')).length === 2);
  const before = heard().length;
  await expect.poll(() => count('schedules.stopped')).toBe(1);
  expect(await reportHealth(runtime.store, runtime.clock)).toMatchObject({ ok: false });
  expect(heard().slice(before)).not.toContain('WATCHDOG=1');
});
