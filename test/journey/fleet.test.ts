import { hostname } from 'node:os';
import { beforeAll, expect, it } from 'vitest';
import { describeWithServer } from '../servers/describe.ts';
import { adminKey, forSuite, makeWorld, type Running, until, type World } from './world.ts';

const scope = forSuite();
let world: World;

beforeAll(async () => {
  world = await makeWorld({ scope, company: { requests_per_second: 1000 } });
});

const env = { SLUICE_KEY: 'key-for-logins-'.repeat(3) };

interface Row {
  readonly host: string;
  readonly pid: number;
  readonly role: string;
  readonly runs: number;
  readonly config_differs: boolean;
}

describeWithServer({ servers: 'PostgreSQL' }, 'processes that share a state in a database', (server) => {
  it('are shown by status, health, the console and the metrics', async () => {
    const home = await world.home();
    const instance = await world.instance('csv');
    await home.write('orders.csv', 'id\n1\n');
    const config = {
      state: server().url,
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { files: { connector: 'file' } },
      jobs: {
        orders: { source: 'files', query: 'orders.csv', format: 'csv', target: instance, schedule: '0 0 1 1 *' },
      },
    };
    await home.config(config);
    const sluice = (...args: string[]) => home.sluice(args, { env });
    const processes = async () => {
      const { stdout } = await sluice('status', '--json');
      return (JSON.parse(stdout) as { processes?: readonly Row[] }).processes ?? [];
    };
    const run = (...more: string[]): Running =>
      home.start(['run', '--monitor', '127.0.0.1:0', ...more], { env, serves: true });
    const row = ({ child: { pid } }: Running, more: Partial<Row>) => ({ host: hostname(), pid, runs: 0, ...more });

    expect(await processes()).toEqual([]);
    expect((await sluice('sync')).code).toBe(0);
    const first = run();
    await until('the daemon to be healthy', async () => (await sluice('health')).code === 0);
    await home.config({ ...config, concurrency: 2 });
    const second = run();
    await until('the second process to start', () => second.output().includes('daemon.started'));
    expect(await processes()).toMatchObject([
      row(first, { role: 'planner', config_differs: false }),
      row(second, { role: 'worker', config_differs: true }),
    ]);
    const { stdout } = await sluice('status');
    expect(stdout).toMatch(new RegExp(`${second.child.pid} +worker .* differs from the planner's`));
    expect(stdout).toContain('A process whose config differs takes no runs');
    const fleet = await sluice('health', '--fleet');
    expect(fleet).toMatchObject({ code: 0, stdout: expect.stringContaining(`worker     process ${second.child.pid}`) });
    expect((await sluice('health')).stdout).not.toContain('worker');

    const [, url] = /"url":"(http:[^"]+)"[^\n]*monitor\.listening/.exec(first.output()) ?? [];
    const page = await (await fetch(url!)).text();
    expect(page).toMatch(new RegExp(`${second.child.pid}</td><td>worker</td>.*differs from the planner`));
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/sluice_queue_runs{state="waiting"} 0/);
    expect(metrics).toMatch(/sluice_processes{role="worker",version="[^"]+",config="differs"} 1/);

    const reload = async () => {
      const { code, stdout: text } = await sluice('reload', '--fleet', '--json');
      const { processes: all } = JSON.parse(text) as { processes: { pid: number; result: string }[] };
      return { code, results: new Map(all.map(({ pid, result }) => [pid, result])) };
    };
    const both = (result: string) => new Map([first, second].map(({ child: { pid } }) => [pid, result]));
    expect(await reload()).toEqual({ code: 0, results: both('active') });
    expect((await processes()).map(({ config_differs }) => config_differs)).toEqual([false, false]);
    await home.config({ ...config, concurrency: 'many' });
    expect(await reload()).toEqual({ code: 2, results: both('refused') });
    await home.config({ ...config, concurrency: 3 });
    const shown = await sluice('reload', '--fleet');
    expect(shown).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(`${second.child.pid} +[0-9a-f]{12} +active, 1 job`),
    });

    first.child.kill('SIGTERM');
    expect((await first.ended).code).toBe(0);
    await until('the other process to plan', () => second.output().includes('fleet.planning'));
    expect(await processes()).toMatchObject([row(second, { role: 'planner', config_differs: false })]);
    second.child.kill('SIGTERM');
    expect((await second.ended).code).toBe(0);
    expect(await processes()).toEqual([]);
  });
});
