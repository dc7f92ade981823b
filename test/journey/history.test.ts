import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { adminKey, makeWorld } from './world.ts';

it("a run's history and its log line contain the hash of the data that the instance shows", async () => {
  const world = await makeWorld();
  const home = await world.home();
  await home.write('rows.csv', 'id\n1\n');
  await home.config({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs: { orders: { source: 'files', query: 'rows.csv', format: 'csv', target: world.instances.csv } },
  });
  const { stderr } = await home.sluice(['sync', '--log', 'info']);
  const shown = (await world.data(world.instances.csv))!;
  const facts = {
    instance: world.instances.csv,
    sha256: createHash('sha256').update(shown).digest('hex'),
  };
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
  const delivered = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'payload.delivered');
  expect(delivered).toMatchObject({ ...facts, attempts: 1 });
  const { run } = delivered as { run: string };
  const forMachines = await home.sluice(['history', '--run', run, '--json']);
  expect(JSON.parse(forMachines.stdout)).toMatchObject({
    run,
    state: 'delivered',
    destination: 'main',
    ...facts,
    upload_attempts: 1,
  });
  const { stdout } = await home.sluice(['history', '--run', run]);
  expect(stdout).toContain(`target   instance ${facts.instance} at main, 1 attempt\n`);
  expect(stdout).toContain(`sha256   ${facts.sha256}\n`);
  expect(stdout).toMatch(/made {5}1 row, .*, 1 request\n/);
});

it('sync and apply warn that a volume may not be mounted if the state is missing a data source that exists', async () => {
  const world = await makeWorld();
  const home = await world.home();
  await home.write('rows.csv', 'id\n1\n');
  const config = {
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs: {
      orders: { source: 'files', query: 'rows.csv', target: { datasource: { name: 'Orders', format: 'csv' } } },
    },
  };
  await home.config(config);
  expect((await home.sluice(['apply', '--yes'])).code).toBe(0);
  await home.config({ ...config, state: './empty' });
  const sync = await home.sluice(['sync']);
  expect(sync.code).toBe(1);
  expect(sync.stderr).toMatch(/TARGET_NOT_APPLIED[\s\S]*check that its volume is mounted/);
  expect((await home.sluice(['apply'])).stdout).toMatch(/adopt "Orders": .* check that its volume is mounted/);
});
