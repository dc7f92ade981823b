import { describe, expect, it } from 'vitest';
import { SteppingClock } from '../clocks.ts';
import { errorOf, lastOf, newKlip, people, schemaNaming, shareWithTeam, withPeople } from './klip-fixtures.ts';
import { type Answer, type Bench, bench, keys, scratch } from './service.ts';

const ids = (answer: Answer): string[] => (answer.body.data.klips as { id: string }[]).map(({ id }) => id);
const detailOf = async (given: Bench, id: string, sent: object = {}): Promise<Record<string, unknown>> =>
  (await given.call('GET', `/klips/${id}?full=true`, sent)).body.data;

describe('a Klip (4.6)', () => {
  it("shows clients' copies of it only to users with client.access and dashboard.library", async () => {
    const given = await bench();
    const id = lastOf(await given.call('POST', '/klips', { key: keys.acmeEditor, body: { name: 'Own' } }));
    const path = `/klips/${id}/client-instances`;
    expect(errorOf(await given.call('GET', path, { key: keys.acmeEditor }))).toEqual([401, 'permission_denied']);
    expect((await given.call('GET', path)).status).toBe(200);
  });

  it('can be created, read, updated and deleted, and an update changes only the fields that it contains', async () => {
    const clock = new SteppingClock('2026-03-01T12:00:00Z');
    const given = await bench({ clock });
    const answer = await given.call('POST', '/klips', { body: { name: 'Sales', description: 'of all' } });
    expect([answer.status, answer.body.data]).toEqual([201, {}]);
    expect(answer.body.meta.location).toMatch(/^\/klips\/[0-9a-f]{32}$/);
    const id = lastOf(answer);
    clock.advance(60_000);
    const changed = await given.call('PUT', `/klips/${id}`, { body: { name: 'Sold', description: null, schema: {} } });
    expect(changed.body).toEqual({ meta: { success: true, status: 200 }, data: {} });
    const detail = {
      id,
      company: 'Acme',
      created_by: 'acme-admin',
      date_created: '2026-03-01T12:00:00Z',
      last_updated: '2026-03-01T12:01:00Z',
      name: 'Sold',
      description: 'of all',
    };
    expect((await given.call('GET', `/klips/${id}`)).body.data).toEqual(detail);
    expect((await given.call('GET', `/klips/${id}?full=false`)).body.data).toEqual(detail);
    expect((await given.call('GET', '/klips')).body).toEqual({
      meta: { success: true, status: 200, count: 1, total: 1 },
      data: { klips: [{ id, name: 'Sold', description: 'of all' }] },
    });
    expect((await given.call('DELETE', `/klips/${id}`)).status).toBe(200);
    expect((await given.call('DELETE', `/klips/${id}`)).status).toBe(404);
    expect((await given.call('GET', '/klips')).body.meta.total).toBe(0);
  });

  it('includes its share rights and the data sources that the caller can see in its full form', async () => {
    const given = await bench({ given: withPeople() });
    const one = await given.source({ name: 'One' });
    const two = await given.source({ name: 'Two' });
    const id = await newKlip(given, { schema: schemaNaming(two, one, two) });
    await given.call('PUT', `/klips/${id}/share-rights`, {
      body: { groups: [{ group_id: 'acme-team', can_edit: true }], users: [{ user_id: 'acme-lib' }] },
    });
    const shares = {
      share_rights: [{ group_id: 'acme-team', group_name: 'Team', can_edit: true }],
      user_share_rights: [{ user_id: 'acme-lib', first_name: '', last_name: '', can_edit: false }],
    };
    const sources = [
      { id: one, name: 'One' },
      { id: two, name: 'Two' },
    ];
    const full = await detailOf(given, id);
    expect(full).toMatchObject({ ...shares, datasets: [] });
    expect(full.datasources).toHaveLength(2);
    expect(full.datasources).toEqual(expect.arrayContaining(sources));
    expect(await detailOf(given, id, { key: people.lib })).toMatchObject({ ...shares, datasources: [], datasets: [] });
  });

  it('keeps names in any script unchanged', async () => {
    const given = await bench();
    for (const name of [
      'Ünï\u202ecode 🦥',
      "'; drop table klips; --",
      '<script>',
      'a\u0000b',
      '\u{1f468}\u200d\u{1f469}',
      '%s{{x}}',
    ]) {
      const id = await newKlip(given, { name, description: name });
      expect((await given.call('GET', `/klips/${id}`)).body.data).toMatchObject({ name, description: name });
    }
  });

  it("is visible only to its creator, to the users and groups it's shared with, and to Klip administrators", async () => {
    const given = await bench({ given: withPeople() });
    const id = await newKlip(given, {}, { key: people.bo });
    const seen = async (key: string): Promise<boolean[]> => [
      ids(await given.call('GET', '/klips', { key })).includes(id),
      (await given.call('GET', `/klips/${id}`, { key })).status === 200,
      (await given.call('GET', `/klips/${id}/share-rights`, { key })).status === 200,
    ];
    const yes = [true, true, true];
    const no = [false, false, false];
    for (const key of [people.bo, keys.acmeAdmin, keys.acmeEditor]) expect(await seen(key)).toEqual(yes);
    for (const key of [people.mo, people.lib, keys.acmeViewer, keys.otherAdmin]) expect(await seen(key)).toEqual(no);
    await shareWithTeam(given, id);
    expect(await seen(people.mo)).toEqual(yes);
    expect(await seen(people.lib)).toEqual(no);
    const users = { groups: [], users: [{ user_id: 'acme-lib' }] };
    await given.call('PUT', `/klips/${id}/share-rights`, { body: users });
    expect(await seen(people.lib)).toEqual(yes);
    await given.call('DELETE', `/klips/${id}/share-rights`, { body: users });
    expect(await seen(people.lib)).toEqual(no);
  });

  it("that is shared for viewing can't be changed without can_edit", async () => {
    const given = await bench({ given: withPeople() });
    const id = await newKlip(given);
    const changes: [string, string, object][] = [
      ['PUT', `/klips/${id}`, { name: 'B' }],
      ['PUT', `/klips/${id}/schema`, schemaNaming()],
      ['PUT', `/klips/${id}/share-rights`, { groups: [] }],
      ['DELETE', `/klips/${id}/share-rights`, { groups: [] }],
      ['DELETE', `/klips/${id}`, {}],
    ];
    const attempt = async (): Promise<number[]> => {
      const statuses: number[] = [];
      for (const [method, path, body] of changes) {
        statuses.push((await given.call(method, path, { key: people.mo, body })).status);
      }
      return statuses;
    };
    expect(await attempt()).toEqual([404, 404, 404, 404, 404]);
    await shareWithTeam(given, id);
    expect(await attempt()).toEqual([403, 403, 403, 403, 403]);
    expect((await given.call('GET', `/klips/${id}/schema`, { key: people.mo })).status).toBe(200);
    await shareWithTeam(given, id, true);
    expect(await attempt()).toEqual([200, 200, 200, 200, 200]);
  });

  it('is deleted with its shares, annotations and instances', async () => {
    const given = await bench();
    const id = await newKlip(given, { schema: schemaNaming(await given.source()) });
    await shareWithTeam(given, id);
    const note = lastOf(await given.call('POST', `/klips/${id}/annotations`, { body: { body: 'A dip' } }));
    const tab = lastOf(await given.call('POST', '/tabs', { body: { name: 'Board' } }));
    await given.call('PUT', `/tabs/${tab}/klip-instances`, { body: { klips: [{ klip_id: id }] } });
    expect((await given.call('DELETE', `/klips/${id}`)).status).toBe(200);
    for (const path of ['', '/schema', '/share-rights', '/annotations', `/annotations/${note}`, '/client-instances']) {
      expect([path, (await given.call('GET', `/klips/${id}${path}`)).status]).toEqual([path, 404]);
    }
    expect((await given.call('GET', `/tabs/${tab}/klip-instances`)).body.data.klip_instances).toEqual([]);
  });

  it('survives a restart with schema, shares and annotations', async () => {
    const folder = await scratch();
    const before = await bench({ data: { folder } });
    const source = await before.source();
    const id = await newKlip(before, { schema: schemaNaming(source) });
    await shareWithTeam(before, id, true);
    await before.call('POST', `/klips/${id}/annotations`, { body: { body: 'A dip' } });
    const paths = ['?full=true', '/schema', '/share-rights', '/annotations'].map((path) => `/klips/${id}${path}`);
    const read = async (given: Bench): Promise<string[]> => {
      const answers = [];
      for (const path of [...paths, `/klips?datasource_id=${source}`])
        answers.push((await given.call('GET', path)).text);
      return answers;
    };
    const kept = await read(before);
    await before.close();
    expect(await read(await bench({ data: { folder } }))).toEqual(kept);
    expect(kept.join()).toContain('A dip');
  });
});

describe('the list of Klips (4.6)', () => {
  it('is paged in creation order, with the total count', async () => {
    const clock = new SteppingClock('2026-03-01T12:00:00Z');
    const given = await bench({ clock });
    const all: string[] = [];
    for (let i = 0; i < 27; i++) {
      all.push(await newKlip(given, { name: `n${30 - i}` }));
      clock.advance(1);
    }
    const page = async (query: string): Promise<unknown[]> => {
      const answer = await given.call('GET', `/klips${query}`);
      return [answer.body.meta.count, answer.body.meta.total, ids(answer)];
    };
    expect(await page('')).toEqual([25, 27, all.slice(0, 25)]);
    expect(await page('?offset=25')).toEqual([2, 27, all.slice(25)]);
    expect(await page('?offset=26&limit=1')).toEqual([1, 27, all.slice(26)]);
    expect(await page('?offset=27')).toEqual([0, 27, []]);
  });

  it('with datasource_id contains only Klips whose schema references the source, even after the schema has changed', async () => {
    const given = await bench({ given: withPeople() });
    const one = await given.source();
    const two = await given.source();
    const both = await newKlip(given, { schema: schemaNaming(one, two) });
    const first = await newKlip(given, { schema: schemaNaming(one) });
    await newKlip(given);
    const using = async (source: string): Promise<string[]> =>
      ids(await given.call('GET', `/klips?datasource_id=${source}`)).toSorted();
    expect(await using(one)).toEqual([both, first].toSorted());
    expect(await using(two)).toEqual([both]);
    await given.call('PUT', `/klips/${both}/schema`, { body: schemaNaming(one) });
    expect(await using(two)).toEqual([]);
    const page = await given.call('GET', `/klips?datasource_id=${one}&limit=1&offset=1`);
    expect([page.body.meta.count, page.body.meta.total]).toEqual([1, 2]);
    await given.call('DELETE', `/datasources/${one}`);
    expect(errorOf(await given.call('GET', `/klips?datasource_id=${one}`))).toEqual([404, 'not_found']);
    expect((await detailOf(given, both)).datasources).toEqual([]);
  });

  it("can't be filtered by sources that the caller can't see", async () => {
    const given = await bench({ given: withPeople() });
    const theirs = await given.source({}, { key: keys.otherAdmin });
    const clients = await given.source({ client_id: 'bakery' });
    const hidden = await given.source();
    for (const id of [theirs, clients, 'unknown']) {
      expect(errorOf(await given.call('GET', `/klips?datasource_id=${id}`))).toEqual([404, 'not_found']);
    }
    expect((await given.call('GET', `/klips?datasource_id=${hidden}`, { key: people.lib })).status).toBe(404);
  });
});

describe("other accounts' Klips (4.6)", () => {
  it("aren't found by another company, or by a client or its company without client_id", async () => {
    const given = await bench();
    const theirs = await newKlip(given, {}, { key: keys.otherAdmin });
    const clients = await newKlip(given, { client_id: 'bakery' });
    const note = (sent: object): Promise<Answer> =>
      given.call('POST', `/klips/${theirs}/annotations`, { body: { body: 'Mine' }, ...sent });
    const annotation = lastOf(await note({ key: keys.otherAdmin }));
    const calls: [string, string, object?][] = [
      ['GET', ''],
      ['GET', '?full=true'],
      ['PUT', '', { name: 'mine now' }],
      ['DELETE', ''],
      ['GET', '/client-instances'],
      ['GET', '/schema'],
      ['PUT', '/schema', schemaNaming()],
      ['GET', '/share-rights'],
      ['PUT', '/share-rights', { groups: [{ group_id: 'acme-team' }] }],
      ['DELETE', '/share-rights', { groups: [{ group_id: 'acme-team' }] }],
      ['GET', '/annotations'],
      ['POST', '/annotations', { body: 'x' }],
      ['GET', `/annotations/${annotation}`],
      ['PUT', `/annotations/${annotation}`, { body: 'x' }],
      ['DELETE', `/annotations/${annotation}`],
    ];
    for (const id of [theirs, clients]) {
      for (const [method, path, body] of calls) {
        const answer = await given.call(method, `/klips/${id}${path}`, { body: body ?? null });
        expect([method, path, ...(errorOf(answer) as unknown[])]).toEqual([method, path, 404, 'not_found']);
        const unknown = await given.call(method, `/klips/${'f'.repeat(32)}${path}`, { body: body ?? null });
        expect(answer.body.meta.error_desc).toBe(unknown.body.meta.error_desc!.replaceAll('f'.repeat(32), id));
      }
    }
    expect((await given.call('GET', `/klips/${theirs}`, { key: keys.otherAdmin })).body.data.name).toBe('Sales');
    expect((await given.call('GET', `/klips/${clients}`, { key: keys.clientAdmin })).body.data.name).toBe('Sales');
    expect(ids(await given.call('GET', '/klips'))).toEqual([]);
  });

  it("can be used by a client's company with client_id, in the query or in the body", async () => {
    const given = await bench();
    const inQuery = lastOf(await given.call('POST', '/klips?client_id=bakery', { body: { name: 'Rolls' } }));
    const inBody = await newKlip(given, { name: 'Bread', client_id: 'bakery' });
    expect(ids(await given.call('GET', '/klips?client_id=bakery')).toSorted()).toEqual([inQuery, inBody].toSorted());
    expect((await given.call('GET', `/klips/${inBody}?client_id=bakery`)).body.data.company).toBe('Bakery');
    expect((await given.call('PUT', `/klips/${inBody}`, { body: { name: 'B', client_id: 'bakery' } })).status).toBe(
      200,
    );
    const written = { ...schemaNaming(), client_id: 'bakery' };
    expect((await given.call('PUT', `/klips/${inBody}/schema`, { body: written })).status).toBe(200);
    expect((await given.call('GET', `/klips/${inBody}/schema?client_id=bakery`)).body.data.schema).toEqual(
      schemaNaming(),
    );
    expect((await given.call('DELETE', `/klips/${inBody}?client_id=bakery`)).status).toBe(200);
    expect(ids(await given.call('GET', '/klips', { key: keys.clientAdmin }))).toEqual([inQuery]);
  });
});
