import { expect, it } from 'vitest';
import { type Running, until } from './process.ts';
import { adminKey, makeWorld } from './world.ts';

interface Shown {
  readonly daemon?: string;
  readonly sha256: string;
  readonly taken?: {
    readonly at: string;
    readonly differs: boolean;
    readonly faults: readonly { readonly code: string }[];
    readonly refused?: { readonly faults: readonly { readonly code: string; readonly place: string }[] };
  };
  readonly left_out?: readonly string[];
  readonly values: Record<string, unknown>;
  readonly from: Record<string, string>;
}

it('config show prints the active config after the file is edited and after a reload succeeds or is rejected', async () => {
  const world = await makeWorld();
  const home = await world.home();
  const key = `\${env:KEY}`;
  const config = (more: object) => ({ destinations: { main: { url: world.url, api_key: key } }, jobs: {}, ...more });
  const env = { KEY: adminKey };
  const show = async (...args: string[]): Promise<Shown> => {
    const { stdout } = await home.sluice(['config', 'show', '--json', ...args], { env });
    return JSON.parse(stdout) as Shown;
  };
  await home.config(config({ concurrency: 2 }));
  expect(await show()).toMatchObject({ values: { concurrency: 2 } });
  expect(await show()).not.toHaveProperty('taken');
  const daemon = home.start(['run'], { env });
  await until('the daemon to start', async () => (await show()).taken !== undefined);

  await home.config(config({ concurrency: 3 }));
  expect(await show()).toMatchObject({
    daemon: expect.stringContaining(String(daemon.child.pid)),
    taken: { differs: true, faults: [] },
    values: { concurrency: 2, timezone: 'UTC', destinations: { main: { api_key: '[redacted]' } } },
    from: { '/concurrency': 'line 11', '/destinations/main/api_key': `line 7, ${key}` },
  });
  expect(await show('--file-on-disk')).toMatchObject({ values: { concurrency: 3 } });

  await home.config(config({ concurrency: 0 }));
  await hangUp(daemon, 'config.refused');
  const { taken, values } = await show();
  expect(values).toMatchObject({ concurrency: 2 });
  expect(taken?.refused?.faults).toMatchObject([
    { code: 'CONFIG_WRONG_VALUE', place: expect.stringMatching(/:11:\d+$/) },
  ]);
  const told = await home.sluice(['config', 'show'], { env });
  expect(told.stdout).toMatch(
    /^Active: the daemon .*\nA reload was refused at .*, so this config stays active:\n.*:11:\d+ {2}CONFIG_WRONG_VALUE/,
  );
  expect((await home.sluice(['status'], { env })).stdout).not.toContain('edited since');

  await home.config(config({ concurrency: 3 }));
  await hangUp(daemon, 'config.reloaded');
  await until('the recorded config to change', async () => (await show()).values.concurrency === 3);
  const after = await show('concurrency');
  expect(after).toMatchObject({ taken: { differs: false }, values: { concurrency: 3 } });
  expect(after.taken).not.toHaveProperty('refused');
  expect(Object.keys(after.values)).toEqual(['concurrency']);
  expect(told.stdout + JSON.stringify(after)).not.toContain(adminKey);
});

it('config show prints the active config and the errors that the daemon ignored at startup, even if the file is unreadable', async () => {
  const world = await makeWorld();
  const home = await world.home();
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    jobs: { bad: { source: 'nowhere', query: 'a.csv', format: 'csv', target: world.instances.csv } },
  });
  const daemon = home.start(['run']);
  await until('the daemon to start', () => daemon.output().includes('daemon.started'));
  const env = { SLUICE_STATE: `${home.folder}/state` };
  await home.write('sluice.yaml', 'destinations: [');
  await until('the active config to be recorded', async () =>
    (await home.sluice(['config', 'show'], { env })).stdout.startsWith('Active'),
  );
  const { stdout } = await home.sluice(['config', 'show'], { env });
  expect(stdout).toMatch(/Left out because of errors:\n.*sluice\.yaml:\d+:\d+ {2}CONFIG_UNKNOWN_SOURCE/);
  expect(stdout).toContain('The file has been edited since');
  expect(await home.sluice(['config', 'show', 'jobz'], { env })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean "jobs"?'),
  });
});

async function hangUp(daemon: Running, event: string): Promise<void> {
  const count = (): number => daemon.output().split(`"${event}"`).length;
  const before = count();
  daemon.child.kill('SIGHUP');
  await until(`${event} to be logged`, () => count() > before);
}
