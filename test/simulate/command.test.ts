import { describe, expect, it } from 'vitest';
import { fileJob, plannedHome } from '../journey/planned-home.ts';
import { makeWorld } from '../journey/world.ts';

describe('sluice simulate', () => {
  it('shows what would happen to each job on each day, and exits with 0 if everything fits', async () => {
    const home = await plannedHome({
      jobs: { orders: { ...fileJob, schedule: '5 * * * *' }, aside: { ...fileJob, target: 'cd'.repeat(16) } },
    });
    const { code, stdout, stderr } = await home.sluice(['simulate', '--days', '1', '--from', '2026-11-01']);
    expect(stderr).toBe('');
    expect(stdout).toContain('2026-11-01 04:00:00Z to 2026-11-02 05:00:00Z');
    expect(stdout).toMatch(/^orders {2,}25 +0 +0 +25 /m);
    expect(stdout).not.toContain('aside');
    expect(stdout).toMatch(/^2026-11-01 +\d+ +\d+ %$/m);
    expect(stdout).toContain("fits: every job's newest result was delivered");
    expect(code).toBe(0);
    expect(home.payloads()).toEqual([]);
  });

  it('exits with 1 if the allowance runs out, and includes that in the JSON output', async () => {
    const home = await plannedHome({
      destination: { requests_per_day: 5, when_short: 'first_come' },
      jobs: { orders: { ...fileJob, schedule: '5 * * * *' } },
    });
    const { code, stdout } = await home.sluice(['simulate', '--days', '1', '--from', '2026-06-01', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      since: '2026-06-01T04:00:00.000Z',
      until: '2026-06-02T04:00:00.000Z',
      fits: false,
      accounts: [{ destinations: ['main'], days: [{ day: '2026-06-01', used: 5, ended: true }] }],
    });
    expect(code).toBe(1);
  });

  it('exits with 2 if the config or the command line is invalid, or if no job is due', async () => {
    const [faulty, still] = [
      await plannedHome({
        jobs: {
          orders: { ...fileJob, schedule: '61 * * * *' },
          hourly: { ...fileJob, target: 'cd'.repeat(16), schedule: '5 * * * *' },
        },
      }),
      await plannedHome({ jobs: { orders: fileJob } }),
    ];
    expect((await faulty.sluice(['simulate', '--days', '1'])).code).toBe(2);
    const nothing = await still.sluice(['simulate']);
    expect(nothing).toMatchObject({ code: 2, stdout: '' });
    expect(nothing.stderr).toContain('SIMULATE_NOTHING');
    for (const wrong of [
      ['--days', '0'],
      ['--from', '2026-02-30'],
      ['--changes', '1.5'],
      ['--faults', 'x'],
    ]) {
      expect((await still.sluice(['simulate', ...wrong])).code).toBe(2);
    }
  });

  it("reads the jobs' history from the state folder without changing it", async () => {
    const world = await makeWorld({ serve: ['--no-limits'] });
    const home = await plannedHome({
      destination: { url: world.url },
      jobs: { orders: { ...fileJob, target: world.instances.csv, schedule: '5 * * * *' } },
    });
    await home.write('orders.csv', 'id\n1\n');
    await home.syncHere();
    await home.syncHere();
    const before = home.state();
    const { stdout } = await home.sluice(['simulate', '--days', '1', '--from', '2026-06-01', '--json']);
    const said = JSON.parse(stdout) as { known_jobs: number; runs: { runs: number; unchanged: number } };
    expect(said.known_jobs).toBe(1);
    expect(said.runs.runs).toBe(24);
    expect(said.runs.unchanged).toBeGreaterThan(0);
    expect(home.state()).toEqual(before);
  });
});
