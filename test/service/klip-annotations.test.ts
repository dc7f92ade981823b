import { describe, expect, it } from 'vitest';
import { SteppingClock } from '../clocks.ts';
import { errorOf, lastOf, newKlip, people, shareWithTeam, withPeople } from './klip-fixtures.ts';
import { type Answer, type Bench, bench, keys } from './service.ts';

const annotate = async (given: Bench, id: string, body: string, key: string = keys.acmeAdmin): Promise<string> =>
  lastOf(await given.call('POST', `/klips/${id}/annotations`, { key, body: { body } }));
const bodies = (answer: Answer): string[] =>
  (answer.body.data.annotations as { body: string }[]).map(({ body }) => body);

describe('an annotation (4.7)', () => {
  it('has its author and creation time, and keeps both if its text is changed', async () => {
    const clock = new SteppingClock('2026-03-01T12:00:00Z');
    const given = await bench({ given: withPeople(), clock });
    const id = await newKlip(given);
    await shareWithTeam(given, id);
    const answer = await given.call('POST', `/klips/${id}/annotations`, {
      key: people.wes,
      body: { body: 'A dip 🦥', created_by: 'acme-admin', date_created: '1999-01-01T00:00:00Z' },
    });
    expect([answer.status, answer.body.data]).toEqual([201, {}]);
    const note = lastOf(answer);
    expect(answer.body.meta.location).toBe(`/klips/${id}/annotations/${note}`);
    const path = `/klips/${id}/annotations/${note}`;
    const expected = {
      id: note,
      createdBy: { id: 'acme-wes', name: 'Wes' },
      date_created: '2026-03-01T12:00:00Z',
      body: 'A dip 🦥',
    };
    expect((await given.call('GET', path)).body.data).toEqual(expected);
    clock.advance(60_000);
    expect((await given.call('PUT', path, { key: people.wes, body: { body: 'A rise' } })).body.data).toEqual({});
    expect((await given.call('PUT', path, { key: people.wes, body: { body: null } })).status).toBe(200);
    expect((await given.call('GET', path)).body.data).toEqual({ ...expected, body: 'A rise' });
    expect((await given.call('DELETE', path, { key: people.wes })).body.data).toEqual({});
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect(errorOf(await given.call(method, path, { body: {} }))).toEqual([404, 'not_found']);
    }
  });

  it("by a user without a name shows the user's email address", async () => {
    const given = await bench();
    const id = await newKlip(given);
    const note = await annotate(given, id, 'A dip');
    expect((await given.call('GET', `/klips/${id}/annotations/${note}`)).body.data.createdBy).toEqual({
      id: 'acme-admin',
      name: 'admin@acme.test',
    });
  });

  it("remains after its author is deleted, with the author's name", async () => {
    const given = await bench({ given: withPeople() });
    const id = await newKlip(given);
    await shareWithTeam(given, id);
    const note = await annotate(given, id, 'A dip', people.wes);
    expect((await given.call('DELETE', '/users/acme-wes')).status).toBe(200);
    expect((await given.call('GET', `/klips/${id}/annotations/${note}`)).body.data).toMatchObject({
      createdBy: { id: 'acme-wes', name: 'Wes' },
      body: 'A dip',
    });
  });

  it('can be read only by users who can see the Klip and have the permission', async () => {
    const given = await bench({ given: withPeople() });
    const id = await newKlip(given);
    const note = await annotate(given, id, 'A dip');
    const read = async (key: string): Promise<unknown[]> => [
      (await given.call('GET', `/klips/${id}/annotations`, { key })).status,
      (await given.call('GET', `/klips/${id}/annotations/${note}`, { key })).status,
      (await given.call('POST', `/klips/${id}/annotations`, { key, body: { body: 'x' } })).status,
    ];
    expect(await read(people.wes)).toEqual([404, 404, 404]);
    await shareWithTeam(given, id);
    expect(await read(people.wes)).toEqual([200, 200, 201]);
    expect(await read(people.wilma)).toEqual([404, 404, 404]);
    expect(await read(people.mo)).toEqual([401, 401, 401]);
    expect(await read(keys.acmeViewer)).toEqual([404, 404, 401]);
  });

  // The vendor's documentation names dashboard.annotation.edit as the only permission for it (section 4.7).
  it('can be changed by everyone who can see the Klip and has the permission, not only by its author', async () => {
    const given = await bench({ given: withPeople() });
    const id = await newKlip(given);
    const note = await annotate(given, id, 'A dip');
    await given.call('PUT', `/klips/${id}/share-rights`, { body: { groups: [], users: [{ user_id: 'acme-wilma' }] } });
    const path = `/klips/${id}/annotations/${note}`;
    expect((await given.call('PUT', path, { key: people.wilma, body: { body: 'x' } })).status).toBe(200);
    expect((await given.call('GET', path)).body.data.body).toBe('x');
    expect((await given.call('PUT', path, { key: people.wes, body: { body: 'y' } })).status).toBe(404);
    expect((await given.call('PUT', path, { key: people.mo, body: { body: 'y' } })).status).toBe(401);
    expect((await given.call('DELETE', path, { key: people.wilma })).status).toBe(200);
  });

  it('is found only under its own Klip', async () => {
    const given = await bench();
    const id = await newKlip(given);
    const other = await newKlip(given);
    const note = await annotate(given, id, 'A dip');
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await given.call(method, `/klips/${other}/annotations/${note}`, { body: { body: 'x' } });
      expect(errorOf(answer)).toEqual([404, 'not_found']);
    }
    expect((await given.call('GET', `/klips/${id}/annotations/${note}`)).body.data.body).toBe('A dip');
  });

  it('of a client is created with client_id', async () => {
    const given = await bench();
    const id = await newKlip(given, { client_id: 'bakery' });
    const path = `/klips/${id}/annotations`;
    const note = lastOf(await given.call('POST', path, { body: { body: 'Rolls', client_id: 'bakery' } }));
    expect(bodies(await given.call('GET', `${path}?client_id=bakery`))).toEqual(['Rolls']);
    expect((await given.call('GET', `${path}/${note}`)).status).toBe(404);
    const body = { body: 'Bread', client_id: 'bakery' };
    expect((await given.call('PUT', `${path}/${note}`, { body })).status).toBe(200);
    expect(bodies(await given.call('GET', path, { key: keys.clientAdmin }))).toEqual(['Bread']);
    expect((await given.call('DELETE', `${path}/${note}?client_id=bakery`)).status).toBe(200);
  });
});

describe('the list of annotations (4.7)', () => {
  it('is limited by start_date and end_date, both inclusive, and paged in creation order', async () => {
    const clock = new SteppingClock('2026-03-01T12:00:00Z');
    const first = Date.parse('2026-03-01T12:00:00Z') / 1000;
    const given = await bench({ clock });
    const id = await newKlip(given);
    for (const text of ['one', 'two', 'three', 'four']) {
      await annotate(given, id, text);
      clock.advance(10_500);
    }
    const list = (query: string): Promise<Answer> => given.call('GET', `/klips/${id}/annotations?${query}`);
    const within = async (query: string): Promise<string[]> => bodies(await list(query));
    expect(await within('')).toEqual(['one', 'two', 'three', 'four']);
    expect(await within(`start_date=${first}`)).toEqual(['one', 'two', 'three', 'four']);
    expect(await within(`start_date=${first + 1}`)).toEqual(['two', 'three', 'four']);
    expect(await within(`end_date=${first}`)).toEqual(['one']);
    expect(await within(`end_date=${first + 9}`)).toEqual(['one']);
    // The annotation was created half a second into that second, which the range includes as a whole.
    expect(await within(`end_date=${first + 10}`)).toEqual(['one', 'two']);
    expect(await within(`start_date=${first + 21}&end_date=${first + 21}`)).toEqual(['three']);
    expect(await within(`start_date=${first + 1000}`)).toEqual([]);
    const page = await list(`start_date=${first + 1}&limit=1&offset=1`);
    expect([bodies(page), page.body.meta.count, page.body.meta.total]).toEqual([['three'], 1, 3]);
    expect(bodies(await list('offset=4'))).toEqual([]);
  });
});
