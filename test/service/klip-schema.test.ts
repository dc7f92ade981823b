import { describe, expect, it } from 'vitest';
import { errorOf, newKlip, people, schemaNaming, shareWithTeam, withPeople } from './klip-fixtures.ts';
import { type Answer, type Bench, bench, keys } from './service.ts';

const read = async (given: Bench, id: string): Promise<unknown> =>
  (await given.call('GET', `/klips/${id}/schema`)).body.data.schema;
const write = (given: Bench, id: string, body: object | string, key: string = keys.acmeAdmin): Promise<Answer> =>
  given.call('PUT', `/klips/${id}/schema`, { body, key });

describe("a new Klip's schema (4.6)", () => {
  it('is a simple value with two labels by default', async () => {
    const given = await bench();
    const id = await newKlip(given, { schema: null });
    const label = { type: 'label', id: expect.any(String), size: expect.any(Number), fmt: expect.any(String) };
    expect(await read(given, id)).toEqual({
      title: 'Default',
      id,
      version: expect.any(String),
      layoutConfig: expect.any(String),
      workspace: { datasources: [], dimensions: { w: expect.any(Number) } },
      components: [
        {
          type: 'simple_value',
          displayName: expect.any(String),
          id: expect.any(String),
          components: [
            { ...label, role: 'primary', displayName: expect.any(String), formulas: [], data: [] },
            { ...label, role: 'secondary', displayName: expect.any(String), formulas: [], data: [] },
          ],
        },
      ],
    });
    expect((await write(given, id, (await read(given, id)) as object)).status).toBe(200);
  });

  it('is returned exactly as given', async () => {
    const given = await bench();
    const source = await given.source();
    const schema = {
      ...schemaNaming(source),
      version: 3,
      'Ünï code': [null, 1.5, { deep: '\ud83d\ude00', constructor: 'Ferrari' }],
      components: [{ type: 'table', cells: { a: null }, components: [{ type: 'label', formulas: ['SUM(@/a)'] }] }],
    };
    const id = await newKlip(given, { schema });
    expect(await read(given, id)).toEqual(schema);
  });
});

describe('members of a schema that the service does not check', () => {
  const odd = { displayName: 1, id: null, size: 'big', fmt: [], role: {}, formulas: 7, data: null };
  const components = [{ type: 'x', ...odd, components: [{ type: 'y', ...odd, components: null }] }];

  it('have any type and match the declared response', async () => {
    const given = await bench();
    const schema = { title: 'A', version: 3, id: [], layoutConfig: {}, components, workspace: { dimensions: 'wide' } };
    const id = await newKlip(given);
    expect((await write(given, id, schema)).status).toBe(200);
    expect(await read(given, id)).toEqual(schema);
  });

  it('can be null', async () => {
    const given = await bench();
    const rest = { title: 'A', components, version: null, id: null, layoutConfig: null };
    for (const workspace of [null, { datasources: null, dimensions: null }]) {
      const id = await newKlip(given, { schema: { ...rest, workspace } });
      expect(await read(given, id)).toEqual({ ...rest, workspace });
    }
  });
});

describe('updating a schema (2.5, 4.6)', () => {
  it('replaces the whole schema, keeps unknown members, and updates last_updated', async () => {
    const given = await bench();
    const id = await newKlip(given, { schema: { ...schemaNaming(), gone: 1 } });
    const before = (await given.call('GET', `/klips/${id}`)).body.data.last_updated as string;
    const schema = { title: '', components: [], ours: { a: [1] }, workspace: { datasources: [], other: null } };
    expect((await write(given, id, { ...schema, version: null })).body.data).toEqual({});
    expect(await read(given, id)).toEqual(schema);
    const after = (await given.call('GET', `/klips/${id}`)).body.data;
    expect(Date.parse(after.last_updated as string)).toBeGreaterThanOrEqual(Date.parse(before));
    expect(after.name).toBe('Sales');
  });

  it('changes nothing if the schema is rejected', async () => {
    const given = await bench();
    const source = await given.source();
    const id = await newKlip(given, { schema: schemaNaming(source) });
    const bad = [schemaNaming(source, 'unknown'), { ...schemaNaming(), components: [{ type: 'a', components: [{}] }] }];
    for (const schema of bad) expect(errorOf(await write(given, id, schema))).toEqual([400, 'bad_request']);
    expect(await read(given, id)).toEqual(schemaNaming(source));
    expect((await given.call('GET', `/klips?datasource_id=${source}`)).body.meta.total).toBe(1);
    expect(errorOf(await given.call('POST', '/klips', { body: { name: 'A', schema: bad[0] } }))).toEqual([
      400,
      'bad_request',
    ]);
    expect((await given.call('GET', '/klips')).body.meta.total).toBe(1);
  });

  it("allows only references to data sources that the caller can see in the Klip's account", async () => {
    const given = await bench({ given: withPeople() });
    const own = await given.source();
    const theirs = await given.source({}, { key: keys.otherAdmin });
    const clients = await given.source({ client_id: 'bakery' });
    const id = await newKlip(given);
    await shareWithTeam(given, id, true);
    for (const source of [theirs, clients]) {
      const refused = await write(given, id, schemaNaming(own, source));
      expect(errorOf(refused)).toEqual([400, 'bad_request']);
      const unknown = await write(given, id, schemaNaming(own, 'f'.repeat(32)));
      expect(refused.body.meta.error_desc).toBe(unknown.body.meta.error_desc!.replace('f'.repeat(32), source));
    }
    expect(errorOf(await write(given, id, schemaNaming(own), people.mo))).toEqual([400, 'bad_request']);
    await given.call('PUT', `/datasources/${own}/share-rights`, { body: { groups: [{ group_id: 'acme-team' }] } });
    expect((await write(given, id, schemaNaming(own), people.mo)).status).toBe(200);
    const bakerys = await newKlip(given, { client_id: 'bakery' });
    const forClient = (source: string): Promise<Answer> =>
      given.call('PUT', `/klips/${bakerys}/schema?client_id=bakery`, { body: schemaNaming(source) });
    expect((await forClient(own)).status).toBe(400);
    expect((await forClient(clients)).status).toBe(200);
  });

  it("never changes an object's prototype", async () => {
    const given = await bench();
    const id = await newKlip(given);
    const body = `{"title": "A", "components": [{"type": "a", "constructor": 1, "z": 2}]}`;
    expect((await write(given, id, body)).status).toBe(200);
    const bad = `{"title": "A", "__proto__": {"x": 1}, "components": []}`;
    expect((await write(given, id, bad)).body.meta.error_desc).toBe('A member named "__proto__" is not supported');
    expect((await given.call('GET', `/klips/${id}/schema`)).text).toContain(
      '"schema":{"title":"A","components":[{"type":"a","constructor":1,"z":2}]}',
    );
    expect(({} as { x?: number }).x).toBe(undefined);
  });

  it('with deep nesting succeeds or is rejected, but never causes an internal error', async () => {
    const given = await bench();
    const id = await newKlip(given);
    for (const depth of [100, 1_000, 3_000, 6_000, 20_000]) {
      const open = '{"type":"a","components":['.repeat(depth);
      const body = `{"title":"A","components":[${open}{"type":"b"}${']}'.repeat(depth)}]}`;
      const { status } = await write(given, id, body);
      expect([200, 400]).toContain(status);
      expect((await given.call('GET', `/klips/${id}/schema`)).status).toBe(200);
      if (depth === 100) expect(status).toBe(200);
    }
  });
});
