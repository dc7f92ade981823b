import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { withinOneDay } from '../delivery/one-day.ts';
import { adminKey, makeWorld, type World } from './world.ts';

const [north, south] = ['a', 'b'].map((letter) => letter.repeat(32)) as [string, string];
const team = 'c'.repeat(32);

const client = (id: string, name: string) => ({
  id,
  name,
  status: 'active',
  groups: [{ ...(id === north ? { id: team } : {}), name: 'Viewers', members: [] }],
});

/** A company that serves the dashboards of two customers with its own key and limits. */
async function agency() {
  const world = await makeWorld({ company: { clients: [client(north, 'North'), client(south, 'South')] } });
  const home = await world.home();
  await home.write('orders.csv', 'id,total\n1,9.50\n2,12.00\n');
  const job = (destination: string, target: object) => ({
    source: 'files',
    query: 'orders.csv',
    format: 'csv',
    destination,
    target,
  });
  const at = { url: world.url, api_key: adminKey };
  await home.config({
    version: 1,
    destinations: { north: { ...at, client_id: north }, own: at },
    sources: { files: { connector: 'file' } },
    jobs: {
      'to-north': job('north', {
        datasource: { name: 'Orders', format: 'csv', shares: [{ group: team, can_edit: true }] },
      }),
      'to-south': job('own', { datasource: { name: 'Orders', format: 'csv' }, client_id: south }),
      'to-own': job('own', { datasource: { name: 'Orders', format: 'csv' } }),
    },
  });
  const orders = async (clientId?: string) => {
    const query = clientId === undefined ? '' : `?client_id=${clientId}`;
    const { body } = await patiently(world, `/datasources${query}`);
    const { datasources = [] } = body.data as { datasources?: { id: string; name: string }[] };
    return datasources.filter(({ name }) => name === 'Orders');
  };
  return { world, home, orders };
}

describe("an agency that pushes to its clients' accounts", () => {
  it('creates and shares each declared data source in the right account', async () => {
    const { world, home, orders } = await agency();
    const shown = await home.sluice(['apply']);
    expect(shown.stdout).toContain(`at north, client ${north}`);
    expect(shown.stdout).toContain(`at own, client ${south}`);
    expect(await home.sluice(['apply', '--yes'])).toMatchObject({ code: 0 });
    for (const account of [north, south, undefined]) expect(await orders(account)).toHaveLength(1);
    const [shared] = await orders(north);
    const { body } = await patiently(world, `/datasources/${shared?.id}/share-rights?client_id=${north}`);
    expect(JSON.stringify(body.data)).toContain(team);
    const again = await home.sluice(['apply', '--yes', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ changes: false });
  });

  it("delivers to all three accounts within the company's shared limit, and keeps the accounts separate", async () => {
    await withinOneDay();
    const { world, home, orders } = await agency();
    await home.sluice(['apply', '--yes']);
    expect((await home.syncHere()).jobs.map(({ job, state }) => [job, state])).toEqual([
      ['to-north', 'delivered'],
      ['to-south', 'delivered'],
      ['to-own', 'delivered'],
    ]);
    expect(await world.uploads()).toHaveLength(3);
    for (const account of [north, south, undefined]) {
      const [source] = await orders(account);
      const query = account === undefined ? '' : `?client_id=${account}`;
      const { body } = await patiently(world, `/datasource-instances/${source?.id}${query}`);
      expect(body.data, account).toMatchObject({ data_size: 24 });
    }
    expect((await home.syncHere()).jobs.map(({ state }) => state)).toEqual(['unchanged', 'unchanged', 'unchanged']);
    expect(await world.uploads()).toHaveLength(3);
    expect(home.state().quota, 'one allowance, whatever the client').toHaveLength(1);
  });

  it('names the client if it was deleted, and still delivers to the other accounts', async () => {
    const { world, home } = await agency();
    await home.sluice(['apply', '--yes']);
    expect((await patiently(world, `/clients/${south}`, 'DELETE')).status).toBe(200);
    const { code, jobs } = await home.syncHere();
    expect(code).toBe(1);
    expect(jobs.map(({ job, state }) => [job, state])).toEqual([
      ['to-north', 'delivered'],
      ['to-south', 'dead'],
      ['to-own', 'delivered'],
    ]);
  });
});

/** One call, repeated while it's rate-limited. All accounts share one limit, so the test itself may reach it. */
async function patiently(world: World, path: string, method: 'GET' | 'DELETE' = 'GET') {
  for (;;) {
    const answer = await world.call(method, path);
    if (answer.status !== 429) return answer;
    await wait(200);
  }
}
