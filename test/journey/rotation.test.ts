import { describe, expect, it } from 'vitest';
import { withinOneDay } from '../delivery/one-day.ts';
import { until } from './process.ts';
import { adminKey, makeWorld, type World } from './world.ts';

const newKey = 'be'.repeat(20);

/** A company whose key is about to be replaced. */
const company = {
  requests_per_second: 1000,
  users: [{ email: 'a@test.example', first_name: 'A', last_name: 'B', role: 'Admin', api_keys: [adminKey, newKey] }],
};

/** Jobs that send one row each. The key is in a file. */
async function setUp(world: World, { count, limits = {} }: { count: number; limits?: object }) {
  const home = await world.home();
  const targets: string[] = [];
  for (let i = 0; i < count; i++) targets.push(await world.instance());
  const write = async (text: string) => {
    for (let i = 0; i < count; i++) await home.write(`${i}.csv`, `id,name\n${i},${text}\n`);
  };
  const jobs = targets.map((target, i) => [
    `job-${i}`,
    { source: 'files', query: `${i}.csv`, format: 'csv', target, schedule: 'manual' },
  ]);
  await home.config({
    destinations: { main: { url: world.url, api_key: `\${file:key.txt}`, ask_usage: false, ...limits } },
    sources: { files: { connector: 'file' } },
    jobs: Object.fromEntries(jobs),
  });
  return { home, write, targets };
}

const statesOf = (jobs: readonly { state: string }[]) => jobs.map(({ state }) => state).sort();

describe('replacing a key', () => {
  it("doesn't reset the company's daily usage, even if the old key returns", async () => {
    const world = await makeWorld({ company });
    const { home, write } = await setUp(world, { count: 3, limits: { requests_per_day: 5 } });
    await withinOneDay();
    await write('first');
    await home.write('key.txt', adminKey);
    expect(statesOf((await home.syncHere()).jobs)).toEqual(['delivered', 'delivered', 'delivered']);
    await write('second');
    await home.write('key.txt', newKey);
    expect(statesOf((await home.syncHere()).jobs)).toEqual(['delivered', 'delivered', 'waiting_quota']);
    await home.write('key.txt', adminKey);
    expect((await home.syncHere()).code).toBe(4);
    expect(await world.uploads()).toHaveLength(5);
  });

  it('lets the daemon send refused payloads without a restart', async () => {
    const world = await makeWorld({ company });
    const { home, write, targets } = await setUp(world, { count: 1 });
    await write('first');
    await home.write('key.txt', 'ef'.repeat(20));
    expect((await home.syncHere()).jobs).toMatchObject([{ state: 'waiting_login' }]);
    const daemon = home.start(['run']);
    await until('the login to be refused', () => daemon.output().includes('login.refused'));
    await home.write('key.txt', newKey);
    daemon.child.kill('SIGHUP');
    await until('the payload to be delivered', () => daemon.output().includes('payload.delivered'));
    expect(await world.data(targets[0]!)).toBe('id,name\n0,first\n');
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  });
});
