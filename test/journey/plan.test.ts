import { describe, expect, it } from 'vitest';
import { fileJob, plannedHome } from './planned-home.ts';
import { makeWorld } from './world.ts';

/** Shortly after noon in New York, so that the planned day has twelve hours left. No job fires at this time. */
const atNoon = {
  preload: ['shifted-clock'],
  env: { CLOCK_SHIFT_MS: String(Date.parse('2026-06-10T16:03:00Z') - Date.now()) },
};
const inTwoHours = '2026-06-10T18:05:00Z';

describe('sluice plan', () => {
  it('works without a state folder, creates none, and exits with 0 if everything fits', async () => {
    const home = await plannedHome({ jobs: { orders: { ...fileJob, schedule: '*/15 * * * *' } } });
    const { code, stdout } = await home.sluice(['plan', '--until', inTwoHours], atNoon);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^8 firings until /);
    expect(stdout).toContain('fits: ');
    expect(home.payloads()).toEqual([]);
  });

  it('exits with 1 if the requests exceed the daily allowance, and shows the affected jobs and the fix', async () => {
    const jobs = { stock: { ...fileJob, schedule: '* * * * *' } };
    const home = await plannedHome({ destination: { requests_per_day: 10 }, jobs });
    const { code, stdout } = await home.sluice(['plan'], atNoon);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /does not fit: in the worst case, requests run out at .* E[SD]T and .* of stock will not be sent/,
    );
    expect(stdout).toMatch(/next: .*raise requests_per_day of main to \d+/);
    expect(stdout).toMatch(/the daemon throttles these jobs .*\n {2}stock (runs every|rests)/);
    expect(stdout).toContain('estimate: stock has no history yet, so each firing counts as one request');
  });

  it('lists every firing with `--firings`, and suggests that flag if there are many', async () => {
    const home = await plannedHome({ jobs: { stock: { ...fileJob, schedule: '* * * * *' } } });
    const lines = async (...flags: string[]) => {
      const { stdout } = await home.sluice(['plan', ...flags], atNoon);
      return { first: stdout.split('\n')[0], firings: stdout.match(/ E[SD]T {2}stock /g)?.length ?? 0 };
    };
    const short = await lines();
    expect(short).toEqual({ first: expect.stringContaining('"sluice plan --firings" lists them.'), firings: 0 });
    const whole = await lines('--firings');
    expect(whole.firings).toBe(Number(whole.first!.split(' firings')[0]!.replaceAll(/\D/g, '')));
    expect(whole.firings).toBeGreaterThan(600);
  });

  it('reports only the least important job as throttled, and no job with first_come', async () => {
    const jobs = {
      vip: { ...fileJob, schedule: '* * * * *', priority: 'high' },
      usual: { ...fileJob, schedule: '* * * * *', target: 'ac'.repeat(16) },
      later: { ...fileJob, schedule: '* * * * *', target: 'ad'.repeat(16), priority: 'low' },
    };
    const read = async (destination: object) => {
      const home = await plannedHome({ destination, jobs });
      const { code, stdout } = await home.sluice(['plan', '--json'], atNoon);
      expect(code).toBe(1);
      return JSON.parse(stdout) as { accounts: { throttled: { job: string; every: number }[]; guessed: string[] }[] };
    };
    const [account] = (await read({ requests_per_day: 10 })).accounts;
    expect(account!.guessed).toEqual(['vip', 'usual', 'later']);
    expect(account!.throttled.map(({ job }) => job).toSorted()).toEqual(['later', 'usual']);
    const [other] = (await read({ requests_per_day: 10, when_short: 'first_come' })).accounts;
    expect(other!.throttled).toEqual([]);
  });

  it('exits with 2 if the config is invalid', async () => {
    const home = await plannedHome({ jobs: { orders: { ...fileJob, schedule: '61 * * * *' } } });
    expect((await home.sluice(['plan'])).code).toBe(2);
  });

  it("includes today's usage and the cost of earlier runs", async () => {
    const world = await makeWorld({ serve: ['--no-limits'] });
    const home = await plannedHome({
      destination: { url: world.url },
      jobs: { orders: { ...fileJob, target: world.instances.csv, schedule: '*/15 * * * *' } },
    });
    await home.write('orders.csv', 'id\n1\n');
    await home.sync(atNoon);
    await home.sync(atNoon);
    const { stdout, stderr } = await home.sluice(['plan', '--until', inTwoHours, '--json'], atNoon);
    expect(stderr).toBe('');
    const said = JSON.parse(stdout) as { firings: { worst: number; expected: number }[] };
    expect(said).toMatchObject({ fits: true, accounts: [{ destinations: ['main'], used: 1, others: 0, guessed: [] }] });
    expect(said.firings).toHaveLength(8);
    expect(said.firings[0]).toMatchObject({ worst: 1, expected: 0.5 });
  });
});
