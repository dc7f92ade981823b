import { describe, expect, it } from 'vitest';
import { builderBench, builderKey, createKlip, createTab, placeKlips } from './dashboards.ts';
import { type Answer, type Bench, bench, keys } from './service.ts';

const errorOf = ({ status, body }: Answer): unknown => [status, body.meta.error_code];
const bring = (given: Bench, id: string, { client = 'bakery', key = keys.acmeAdmin as string } = {}): Promise<Answer> =>
  given.call('POST', `/tabs/${id}/@/import`, { key, body: { client_id: client } });
const inBakery = async (given: Bench, path: string): Promise<Record<string, unknown>> =>
  (await given.call('GET', `${path}${path.includes('?') ? '&' : '?'}client_id=bakery`)).body.data;

/** A Klip that uses a data source. */
async function klipOf(given: Bench, name: string, source: string): Promise<string> {
  const schema = { title: name, components: [], workspace: { datasources: [source] } };
  return createKlip(given, { name, schema });
}

describe('importing a dashboard into a client account', () => {
  it('copies its layout, its Klips and their data sources, each only once', async () => {
    const given = await bench();
    const source = await given.source();
    const [orders, costs] = [await klipOf(given, 'Orders', source), await klipOf(given, 'Costs', source)];
    const tab = await createTab(given, { description: 'By region' });
    const placed = await placeKlips(given, tab, [{ klip_id: orders }, { klip_id: costs }, { klip_id: orders }]);
    const state = Object.fromEntries(placed.map(({ id }, at) => [id, { region: String(at + 1), idx: 0 }]));
    await given.call('PUT', `/tabs/${tab}/layout`, { body: { type: '100_50_50', state } });
    await given.call('PUT', `/tabs/${tab}/share-rights`, { body: { groups: [{ group_id: 'acme-team' }] } });
    const answer = await bring(given, tab);
    const copy = answer.body.meta.location!.split('/')[2]!;
    expect(answer.body).toEqual({
      meta: { success: true, status: 201, location: `/tabs/${copy}` },
      data: { op_requested: 'import' },
    });
    expect(await inBakery(given, `/tabs/${copy}?full=true`)).toMatchObject({
      company: 'Bakery',
      name: 'Sales',
      description: 'By region',
      share_rights: [],
    });
    const klips = (await inBakery(given, '/klips')).klips as { id: string; name: string }[];
    expect(klips.map(({ name }) => name).toSorted()).toEqual(['Costs', 'Orders']);
    expect((await inBakery(given, '/datasources')).datasources).toHaveLength(1);
    const instances = (await inBakery(given, `/tabs/${copy}/klip-instances`)).klip_instances as typeof placed;
    expect(instances.map(({ name }) => name)).toEqual(['Orders', 'Costs', 'Orders']);
    expect(instances[0]!.klip_id).toBe(instances[2]!.klip_id);
    const ours = placed.map(({ id }) => id);
    for (const { id } of instances) expect(ours).not.toContain(id);
    const shape = (layout: Record<string, unknown>): string => JSON.stringify(layout).replaceAll(/[0-9a-f]{32}/g, 'id');
    expect(shape(await inBakery(given, `/tabs/${copy}/layout`))).toBe(
      shape((await given.call('GET', `/tabs/${tab}/layout`)).body.data),
    );
    const known = (await given.call('GET', `/klips/${orders}/client-instances`)).body.data.klips as string[];
    expect(known.toSorted()).toEqual([instances[0]!.id, instances[2]!.id].toSorted());
  });

  it("is allowed if the dashboard is shared with one of the caller's groups", async () => {
    const given = await builderBench();
    const tab = await createTab(given);
    const key = builderKey;
    const share = (body: object): Promise<Answer> => given.call('PUT', `/tabs/${tab}/share-rights`, { body });
    expect(errorOf(await bring(given, tab, { key }))).toEqual([401, 'permission_denied']);
    await share({ groups: [], users: [{ user_id: 'acme-builder', can_edit: true }] });
    expect(errorOf(await bring(given, tab, { key }))).toEqual([403, 'forbidden']);
    await share({ groups: [{ group_id: 'acme-builders' }] });
    expect((await bring(given, tab, { key })).status).toBe(201);
  });

  it("copies nothing if the dashboard contains a Klip that isn't shared with the caller", async () => {
    const given = await builderBench();
    const tab = await createTab(given);
    const [open, closed] = [await createKlip(given, { name: 'Open' }), await createKlip(given, { name: 'Closed' })];
    await placeKlips(given, tab, [{ klip_id: open }, { klip_id: closed }]);
    const team = { body: { groups: [{ group_id: 'acme-builders' }] } };
    await given.call('PUT', `/tabs/${tab}/share-rights`, team);
    await given.call('PUT', `/klips/${open}/share-rights`, team);
    expect(errorOf(await bring(given, tab, { key: builderKey }))).toEqual([403, 'forbidden']);
    expect((await inBakery(given, '/tabs')).tabs).toEqual([]);
    expect((await inBakery(given, '/klips')).klips).toEqual([]);
    await given.call('PUT', `/klips/${closed}/share-rights`, team);
    expect((await bring(given, tab, { key: builderKey })).status).toBe(201);
  });

  it("returns 404 for assets that the caller can't see, and for accounts that aren't the caller's clients", async () => {
    const given = await bench();
    const theirs = await createTab(given, {}, { key: keys.otherAdmin });
    const tab = await createTab(given);
    expect(errorOf(await bring(given, theirs))).toEqual([404, 'not_found']);
    expect(errorOf(await bring(given, 'f'.repeat(32)))).toEqual([404, 'not_found']);
    for (const client of ['unknown', 'cafe', 'acme']) {
      expect(errorOf(await bring(given, tab, { client }))).toEqual([404, 'not_found']);
    }
    expect(errorOf(await bring(given, tab, { key: keys.acmeEditor }))).toEqual([401, 'permission_denied']);
  });
});
