import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { adminKey, makeWorld } from './world.ts';

interface Explanation {
  readonly job: string;
  readonly instance?: string;
  readonly verdict: string;
  readonly because: readonly { readonly message: string; readonly code?: string; readonly at?: string }[];
  readonly next?: { readonly message: string };
  readonly fix?: string;
}

/** A job that reads a file into an instance of a service, and what `explain` prints about it. */
async function setUp(given: { job?: object; destination?: object; serve?: readonly string[] } = {}) {
  const world = await makeWorld({ serve: given.serve ?? ['--no-limits'] });
  const home = await world.home();
  await home.write('orders.csv', 'id,total\n1,9.50\n');
  const config = (destination: object = {}) => ({
    version: 1,
    destinations: { main: { url: world.url, api_key: adminKey, ...given.destination, ...destination } },
    sources: { files: { connector: 'file' } },
    jobs: {
      orders: {
        source: 'files',
        query: 'orders.csv',
        format: 'csv',
        target: world.instances.csv,
        ...given.job,
      },
    },
  });
  await home.config(config());
  const explain = async (asked = 'orders'): Promise<Explanation> => {
    const { stdout, stderr } = await home.sluice(['explain', asked, '--json']);
    expect(stderr).toBe('');
    return (JSON.parse(stdout) as Explanation[])[0]!;
  };
  return { world, home, config, explain };
}

describe('sluice explain', () => {
  it('shows the command that starts a job that has never run', async () => {
    const { explain } = await setUp();
    expect(await explain()).toMatchObject({ verdict: 'never ran', fix: 'sluice sync orders' });
  });

  it('explains what an instance shows, given a job name or an instance ID', async () => {
    const { world, home, explain } = await setUp();
    await home.syncHere();
    const delivered = await explain();
    expect(delivered).toMatchObject({ verdict: 'up to date', instance: world.instances.csv });
    expect(delivered.because[0]?.message).toMatch(/^run \S+ was delivered \(1 row\)$/);
    expect(delivered.next?.message).toContain('no schedule');
    await home.syncHere();
    expect((await explain(world.instances.csv)).verdict).toBe('up to date, nothing new in the source');
    const { stdout } = await home.sluice(['explain', 'orders']);
    expect(stdout).toMatch(/orders: up to date.*\n +target +instance [0-9a-f]{32}\n +shows +data as of .* old\n/);
  });

  it("shows the state of a job even if its destination's key isn't set in this shell", async () => {
    const { world, home, config } = await setUp({ destination: { api_key: `\${env:DASHBOARD_KEY}` } });
    const env = { DASHBOARD_KEY: adminKey };
    const explain = async (asked: string, given = {}): Promise<{ code: number | null; found: Explanation[] }> => {
      const { code, stdout } = await home.sluice(['explain', asked, '--json'], given);
      return { code, found: JSON.parse(stdout) as Explanation[] };
    };
    const fault = { code: 'CONFIG_VARIABLE_UNDEFINED', message: expect.stringContaining('DASHBOARD_KEY') };
    expect(await explain('orders')).toMatchObject({
      code: 0,
      found: [
        {
          verdict: 'left out because of an error in the config',
          because: [fault, { message: 'the job has never run here' }],
        },
      ],
    });
    await home.sluice(['sync'], { env });
    const told = {
      verdict: 'left out because of an error in the config',
      instance: world.instances.csv,
      shows_as_of: expect.any(String),
      because: [fault, { message: expect.stringMatching(/^run \S+ was delivered \(1 row\)$/) }],
      next: { message: 'nothing: the error must be fixed first' },
      fix: expect.not.stringContaining('sluice reload'),
    };
    expect(await explain('orders')).toMatchObject({ code: 0, found: [told] });
    expect(await explain(world.instances.csv!)).toMatchObject({ code: 0, found: [told] });

    const scheduled = config();
    await home.config({ ...scheduled, jobs: { orders: { ...scheduled.jobs.orders, schedule: 'every 1h' } } });
    const daemon = home.start(['run'], { env });
    const isRunning = "the daemon runs the job, but this command cannot read the job's config";
    await expect
      .poll(async () => (await explain('orders')).found[0])
      .toMatchObject({ verdict: isRunning, next: { at: expect.any(String), message: 'runs on schedule' } });
    const { code, stdout } = await home.sluice(['status']);
    expect(code).toBe(2);
    expect(stdout).toContain('1 of 1 job has a warning');
    expect(stdout).toContain('the daemon read the same file without this error');
    daemon.child.kill('SIGTERM');
    await daemon.ended;
    expect((await home.sluice(['explain', 'ordes'])).code).toBe(2);
  });

  it("counts a job's consecutive failures and shows its last successful run", async () => {
    const { home, explain } = await setUp();
    await home.syncHere();
    await rm(join(home.folder, 'orders.csv'));
    for (let run = 0; run < 3; run++) await home.syncHere();
    const failing = await explain();
    expect(failing.verdict).toBe('failing');
    expect(failing.because.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^run \S+ failed: .*orders\.csv/),
      '3 consecutive failures since then',
      expect.stringMatching(/was delivered/),
    ]);
    expect(failing.fix).toMatch(/; then sluice sync orders$/);
    const { stdout } = await home.sluice(['history', 'orders', '--failed', '--json']);
    expect((JSON.parse(stdout) as { state: string }[]).map(({ state }) => state)).toEqual([
      'failed',
      'failed',
      'failed',
    ]);
  });

  it('distinguishes a rejected key from a used-up allowance, and reports that no daemon is running to send the owed payload', async () => {
    const { home, config, explain } = await setUp({ destination: { requests_per_day: 1 } });
    await home.config(config({ api_key: 'f'.repeat(40) }));
    await home.syncHere();
    expect(await explain()).toMatchObject({ verdict: 'credentials refused', because: [{ code: 'LOGIN_NEEDED' }, {}] });
    expect((await explain()).fix).toContain('or grant the missing permission to its user; then sluice sync orders');
    await home.config(config({ requests_per_day: 1, name: undefined }));
    await home.syncHere();
    await home.write('orders.csv', 'id,total\n1,9.50\n2,1.00\n');
    await home.syncHere();
    const spent = await explain();
    expect(spent.verdict).toMatch(/^waiting for the daily allowance until 00:00 E[SD]T, but no daemon is running$/);
    expect(spent.because.map(({ message }) => message).join()).toContain('no data is lost');
    expect(spent.fix).toContain('sluice run');
  });

  it('shows a fix that works for a data source that was deleted in the service', async () => {
    const { world, home, explain } = await setUp({
      job: { target: { datasource: { name: 'Orders', format: 'csv' } } },
    });
    await home.sluice(['apply', '--yes']);
    await home.syncHere();
    const { instance } = await explain();
    await fetch(`${world.url}/datasources/${instance}`, { method: 'DELETE', headers: { 'kf-api-key': adminKey } });
    await home.write('orders.csv', 'id,total\n1,9.50\n2,1.00\n');
    await home.syncHere();
    const gone = await explain();
    expect(gone).toMatchObject({ verdict: 'dead', because: [{ code: 'DELIVERY_NOT_FOUND' }, {}] });
    expect(gone.fix).toBe('recreate the data source with "sluice apply --yes"; then sluice sync orders');
    await home.sluice(['apply', '--yes']);
    expect((await home.syncHere()).jobs).toMatchObject([{ state: 'delivered' }]);
    expect((await explain()).verdict).toBe('up to date');
  });

  it('shows how to fix an empty result, and reports a discarded one', async () => {
    const { home, explain } = await setUp({ job: { guards: { rows: { maximum: 1 } } } });
    await home.syncHere();
    await home.write('orders.csv', 'id,total\n');
    await home.syncHere();
    const empty = await explain();
    expect(empty.fix).toContain('set allow_empty: true in the job');
    expect(empty.because[0]?.message).toMatch(
      /failed: The source returned no rows; the instance keeps its current data \(0 rows\)$/,
    );
    await home.write('orders.csv', 'id,total\n1,9.50\n2,1.00\n');
    await home.syncHere();
    await home.sluice(['quarantine', 'discard', 'orders']);
    expect((await explain()).verdict).toBe('showing older data: a person discarded the last result');
  });

  it("suggests `apply` if the declared data source doesn't exist yet", async () => {
    const { explain } = await setUp({ job: { target: { datasource: { name: 'Orders', format: 'csv' } } } });
    expect(await explain()).toMatchObject({ verdict: 'the data source does not exist yet', fix: 'sluice apply --yes' });
    const { home, explain: again } = await setUp({
      job: { target: { datasource: { name: 'Orders', format: 'csv' } } },
    });
    await home.syncHere();
    expect(await again()).toMatchObject({ verdict: 'the data source does not exist yet', fix: 'sluice apply --yes' });
  });

  it('rejects an unknown name and suggests the closest one', async () => {
    const { home } = await setUp();
    const { code, stderr } = await home.sluice(['explain', 'order']);
    expect(code).toBe(2);
    expect(stderr).toContain('did you mean "orders"?');
  });
});

describe('sluice history', () => {
  it('lists runs, newest first, as a table and as JSON', async () => {
    const { home } = await setUp();
    await home.syncHere();
    await home.syncHere();
    const { stdout } = await home.sluice(['history', '--json', '-n', '5']);
    expect(JSON.parse(stdout)).toMatchObject([
      { job: 'orders', state: 'unchanged', origin: 'person', requests: 0 },
      { job: 'orders', state: 'delivered', rows: 1, requests: 1, started_at: expect.stringMatching(/^\d{4}-.*Z$/) },
    ]);
    expect((await home.sluice(['history'])).stdout).toMatch(/started +job +run +result[\s\S]*orders[\s\S]*unchanged/);
    expect((await home.sluice(['history', '-n', '0'])).code).toBe(2);
  });
});
