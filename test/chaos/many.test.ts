import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeHome } from '../journey/home.ts';
import { forTest, until } from '../journey/process.ts';
import { adminKey } from '../journey/world.ts';

/** Many jobs that read the same small file, each with its own instance. */
function configOf(jobs: number, schedule: (i: number) => string, destination: object = {}): object {
  const job = (i: number) => ({
    source: 'files',
    query: 'rows.csv',
    format: 'csv',
    target: i.toString(16).padStart(32, '0'),
    schedule: schedule(i),
  });
  return {
    destinations: { main: { url: 'http://127.0.0.1:9/api/1.0', api_key: adminKey, ...destination } },
    sources: { files: { connector: 'file' } },
    jobs: Object.fromEntries(Array.from({ length: jobs }, (_, i) => [`job${i}`, job(i)])),
  };
}

/** A live process's peak resident set so far, in megabytes. */
const peakOf = (pid: number) =>
  Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);

it('a daemon with ten thousand jobs starts, responds, reloads and stops with a heap of 320 MB', async ({
  annotate,
}) => {
  const home = await makeHome(forTest);
  await home.write('rows.csv', 'id\n1\n');
  // Fires on another day of the year, so nothing runs now.
  const month = ((new Date().getUTCMonth() + 6) % 12) + 1;
  await home.config(configOf(10_000, (i) => `${i % 60} 4 ${1 + (i % 28)} ${month} *`));
  const began = performance.now();
  const seconds = () => Math.round((performance.now() - began) / 100) / 10;
  const daemon = home.start(['run'], { serves: true, node: ['--max-old-space-size=320'] });
  const says = (what: string) =>
    until(what, () => {
      expect(daemon.child.exitCode ?? daemon.child.signalCode, daemon.output().slice(-2000)).toBeNull();
      return daemon.output().includes(`"${what}"`);
    });
  await says('daemon.started');
  await annotate(`started after ${seconds()} s, ${peakOf(daemon.child.pid!)} MB`);
  expect(daemon.output()).toContain('"jobs":10000,"scheduled":10000');

  const status = await home.sluice(['status', '--json']);
  expect({ code: status.code, stderr: status.stderr }).toEqual({ code: 0, stderr: '' });
  const { jobs } = JSON.parse(status.stdout) as { jobs: readonly unknown[] };
  expect(jobs).toHaveLength(10_000);
  await annotate(`responded after ${seconds()} s`);

  await home.config(configOf(9_999, (i) => `${i % 60} 5 ${1 + (i % 28)} ${month} *`));
  daemon.child.kill('SIGHUP');
  await says('config.reloaded');
  expect(daemon.output()).toContain('"jobs":9999');
  await annotate(`reloaded after ${seconds()} s, ${peakOf(daemon.child.pid!)} MB`);
  daemon.child.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0, signal: null });
});

it('a thousand jobs due in the same minute upload their rows one by one, five per second, and all rows arrive', async () => {
  const home = await makeHome(forTest);
  await home.write('rows.csv', 'id\n1\n');
  await home.config(configOf(1_000, () => '0 6 * * *', { requests_per_day: 5_000 }));
  const { code, stdout } = await home.sluice(['simulate', '--days', '1', '--json']);
  expect(code).toBe(0);
  const lived = JSON.parse(stdout) as {
    firings: { planned: number; overlaps: number; skipped: number; late_ms: { max: number } };
    runs: Record<string, number>;
  };
  expect(lived.firings).toMatchObject({ planned: 1_000, overlaps: 0, skipped: 0 });
  expect(lived.runs).toMatchObject({ runs: 1_000, delivered: 1_000, failed: 0, dead: 0, owed: 0, requests: 1_000 });
  expect(lived.firings.late_ms.max).toBeGreaterThan(190_000);
});
