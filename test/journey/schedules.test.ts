import { describe, expect, it } from 'vitest';
import { makeHome } from './home.ts';
import { forTest } from './process.ts';
import { adminKey } from './world.ts';

const job = { source: 'files', query: 'orders.csv', format: 'csv' };

/** Every line without trailing spaces. */
const linesOf = (text: string): string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd());

async function homeWith(jobs: object, more: object = {}) {
  const home = await makeHome(forTest);
  await home.config({
    ...more,
    destinations: { main: { url: 'http://127.0.0.1:9/api/1.0', api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs,
  });
  return home;
}

describe('sluice schedules', () => {
  it('shows when each job fires next in its time zone, across a clock change, without touching the state', async () => {
    const home = await homeWith({
      nightly: { ...job, target: 'a'.repeat(32), schedule: { cron: '30 2 * * *', timezone: 'Europe/Berlin' } },
      often: { ...job, target: 'b'.repeat(32), schedule: 'every 13h' },
      office: { ...job, target: 'c'.repeat(32), schedule: { at: ['18:30'], days: ['MON-WED', 'FRI'] }, enabled: false },
      asked: { ...job, target: 'd'.repeat(32), schedule: 'manual' },
    });
    const { code, stdout } = await home.sluice(['schedules', '-n', '2', '--from', '2026-10-24T12:00Z']);
    expect(code).toBe(0);
    expect(linesOf(stdout).slice(2)).toEqual([
      'nightly  30 2 * * *                Europe/Berlin  Sun 2026-10-25 02:30:00 +02:00',
      '                                                  Mon 2026-10-26 02:30:00 +01:00',
      'often    every 13h                 UTC            Sat 2026-10-24 17:00:00 +00:00',
      '                                                  Sun 2026-10-25 06:00:00 +00:00',
      'office   at 18:30 on MON-WED, FRI  UTC            disabled: on request',
      'asked    manual                                   on request',
    ]);
    expect(home.payloads()).toEqual([]);
  });

  it("validates a schedule that isn't in the config, and reports what is wrong with it", async () => {
    const home = await makeHome(forTest);
    const tried = await home.sluice(['schedules', '--try', 'every 6h', '--from', '2026-03-29', '-n', '1', '--json']);
    expect(JSON.parse(tried.stdout)).toEqual([
      {
        job: null,
        enabled: true,
        schedule: { every: '6h', timezone: 'UTC', misfire: 'run_once', overlap: 'skip' },
        firings: ['2026-03-29T06:00:00.000Z'],
      },
    ]);
    const wrong = await home.sluice(['schedules', '--try', 'every 90 s']);
    expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('write 1m or 2m') });
    expect((await home.sluice(['schedules', '--try', '@daily', '--timezone', 'Berlin'])).code).toBe(2);
  });
});
