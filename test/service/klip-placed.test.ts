import { describe, expect, it } from 'vitest';
import { errorOf, lastOf, newKlip, people, withPeople } from './klip-fixtures.ts';
import { type Answer, bench, keys } from './service.ts';

describe("an instance's ID (4.6)", () => {
  it('returns the Klip on the dashboard to users who can see that Klip', async () => {
    const given = await bench({ given: withPeople() });
    const id = await newKlip(given);
    const tab = lastOf(await given.call('POST', '/tabs', { body: { name: 'Board' } }));
    const placed = await given.call('PUT', `/tabs/${tab}/klip-instances`, { body: { klips: [{ klip_id: id }] } });
    const [{ id: instance }] = placed.body.data.klip_instances as [{ id: string }];
    const klip = (await given.call('GET', `/klips/${id}?full=true`)).body.data;
    expect((await given.call('GET', `/klips/${instance}?full=true`)).body.data).toEqual({
      ...klip,
      id: instance,
      klip_id: id,
    });
    for (const key of [people.lib, keys.otherAdmin, keys.clientAdmin]) {
      const hidden = await given.call('GET', `/klips/${instance}`, { key });
      expect(errorOf(hidden)).toEqual([404, 'not_found']);
      expect(hidden.text).not.toContain(id);
    }
    expect((await given.call('GET', `/klips/${instance}/schema`)).status).toBe(404);
    expect((await given.call('DELETE', `/klips/${instance}`)).status).toBe(404);
  });
});

describe('client-instances (4.6)', () => {
  it("are the copies of a Klip on the dashboards of the company's clients, in pages", async () => {
    const given = await bench();
    const id = await newKlip(given);
    const copies = [];
    for (let i = 0; i < 2; i++) {
      copies.push(lastOf(await given.call('POST', `/klips/${id}/@/import`, { body: { client_id: 'bakery' } })));
    }
    const list = (query = ''): Promise<Answer> => given.call('GET', `/klips/${id}/client-instances${query}`);
    expect((await list()).body.data).toEqual({ klips: [] });
    const tab = lastOf(await given.call('POST', '/tabs', { body: { name: 'Board', client_id: 'bakery' } }));
    const klips = [...copies, copies[0]].map((klip_id) => ({ klip_id }));
    const body = { klips, client_id: 'bakery' };
    const placed = (await given.call('PUT', `/tabs/${tab}/klip-instances`, { body })).body.data.klip_instances;
    const expected = (placed as { id: string }[]).map((one) => one.id);
    expect(expected).toHaveLength(3);
    const own = lastOf(await given.call('POST', '/tabs', { body: { name: 'Ours' } }));
    await given.call('PUT', `/tabs/${own}/klip-instances`, { body: { klips: [{ klip_id: id }] } });
    const whole = await list();
    expect((whole.body.data.klips as string[]).toSorted()).toEqual(expected.toSorted());
    expect([whole.body.meta.count, whole.body.meta.total]).toEqual([3, 3]);
    const second = await list('?limit=2&offset=2');
    expect([second.body.meta.count, second.body.meta.total]).toEqual([1, 3]);
    expect(second.body.data.klips).toEqual((whole.body.data.klips as string[]).slice(2));
  });

  it('require client.access and dashboard.library', async () => {
    const given = await bench({ given: withPeople() });
    const id = await newKlip(given, {}, { key: people.bo });
    const list = (key: string): Promise<Answer> => given.call('GET', `/klips/${id}/client-instances`, { key });
    for (const key of [people.lib, people.agent]) {
      const refused = await list(key);
      expect(errorOf(refused)).toEqual([401, 'permission_denied']);
      expect(refused.body.meta.error_desc).toContain('client.access and dashboard.library');
    }
    expect((await list(people.bo)).status).toBe(200);
  });
});
