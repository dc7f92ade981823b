import { beforeAll, describe, expect, it } from 'vitest';
import type { Home } from './home.ts';
import { adminKey, forSuite, makeWorld, type World } from './world.ts';

const scope = forSuite();

/** A shell that redirects the process's output. */
const redirected = (to: string) => ['sh', '-c', `exec "$@" ${to}`, 'sh'];

describe("output that can't be written", () => {
  let world: World;
  let home: Home;
  beforeAll(async () => {
    world = await makeWorld({ scope });
    home = await world.home(scope);
    await home.config({
      destinations: { main: { url: world.url, api_key: adminKey } },
      sources: { files: { connector: 'file' } },
      jobs: {
        orders: { source: 'files', query: 'orders.csv', format: 'csv', target: world.instances.csv },
        missing: { source: 'files', query: 'missing.csv', format: 'csv', target: world.instances.json },
      },
    });
  });

  it.each([
    ['on standard error', '2>/dev/full', []],
    ['on standard error, with a log', '2>/dev/full', ['--log', 'info']],
    ['on standard output', '>/dev/full', []],
    ['on both', '>/dev/full 2>&1', []],
    ['as JSON', '>/dev/full', ['--json']],
    ['to closed descriptors', '>&- 2>&-', []],
  ])("doesn't stop a sync: %s", async (what, to, flags) => {
    await home.write('orders.csv', `id\n"${what}"\n`);
    const { code, stderr } = await home.sluice(['sync', 'orders', ...flags], { under: redirected(to) });
    expect(stderr).not.toContain('fault');
    expect(code).toBe(0);
    expect(await world.data(world.instances.csv)).toContain(what);
  });

  it("doesn't change exit codes", async () => {
    for (const to of ['2>/dev/full', '>/dev/full 2>&1']) {
      expect((await home.sluice(['sync', 'missing'], { under: redirected(to) })).code).toBe(1);
      expect((await home.sluice(['sync', 'nonsense'], { under: redirected(to) })).code).toBe(2);
    }
  });

  it("doesn't stop a sync if the process that reads the output exits", async () => {
    await home.write('orders.csv', 'id\n"no reader"\n');
    const running = home.start(['sync', 'orders']);
    running.child.stderr!.destroy();
    running.child.stdout!.destroy();
    expect((await running.ended).code).toBe(0);
    expect(await world.data(world.instances.csv)).toContain('no reader');
  });

  it('is reported in one line by a command that only prints', async () => {
    for (const args of [['status'], ['history', '--json'], ['--version']]) {
      const { code, stderr } = await home.sluice(args, { under: redirected('>/dev/full') });
      expect(stderr).toBe('Cannot write the output: ENOSPC: no space left on device, write\n');
      expect(code).toBe(1);
    }
  });
});
