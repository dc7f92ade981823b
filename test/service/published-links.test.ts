import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { SteppingClock } from '../clocks.ts';
import { createTab, linkOf, look, linksPath as path, publish } from './dashboards.ts';
import { errorOf } from './people.ts';
import { bench, keys } from './service.ts';

describe('published links (2.1, 4.2)', () => {
  it('are created with a name, returned in full, and found by ID and by dashboard', async () => {
    const given = await bench({ clock: new SteppingClock('2026-03-01T10:00:00Z') });
    const tab = await createTab(given);
    const created = await given.call('POST', `${path}/${tab}`, {
      key: keys.acmeEditor,
      headers: { host: 'dash.test:8080' },
      body: { name: 'Über Sales & Co.' },
    });
    const id = created.body.meta.location!.split('/')[2]!;
    const link = {
      id,
      published_link_name: 'Über Sales & Co.',
      dashboard_url: `dash.test:8080/published/${id}/uber-sales-co`,
      visibility: 'anyone_with_link',
      date_created: '2026-03-01T10:00:00Z',
      created_by: { user_public_id: 'acme-editor', user_name: 'Ed It' },
      date_last_accessed: null,
    };
    expect(created.body).toEqual({ meta: { success: true, status: 201, location: `${path}/${id}` }, data: link });
    const headers = { host: 'dash.test:8080' };
    expect((await given.call('GET', `${path}/${id}`, { headers })).body.data).toEqual(link);
    expect((await given.call('GET', `${path}?dashboard_id=${tab}`, { headers })).body).toEqual({
      meta: { success: true, status: 200, count: 1, total: 1 },
      data: { published_links: [link] },
    });
    const other = await createTab(given);
    expect((await given.call('GET', `${path}?dashboard_id=${other}`)).body.data).toEqual({ published_links: [] });
    expect(errorOf(await given.call('GET', `${path}?dashboard_id=unknown`))).toEqual([404, 'not_found']);
  });

  it.each([
    [{}, 'anyone_with_link'],
    [{ isPublic: false }, 'anyone_with_link'],
    [{ isPublic: null, password: null }, 'anyone_with_link'],
    [{ password: '' }, 'anyone_with_link'],
    [{ isPublic: true }, 'public_searchable'],
    [{ isPublic: true, password: 'sesame' }, 'public_searchable'],
    [{ password: 'sesame' }, 'anyone_with_link_and_password'],
    [{ isPublic: false, password: 'sesame' }, 'anyone_with_link_and_password'],
  ])('created with %j are visible as %s', async (settings, visibility) => {
    const given = await bench();
    const id = await publish(given, await createTab(given), settings);
    expect((await linkOf(given, id)).visibility).toBe(visibility);
  });

  it('can be changed field by field, and the response contains their new state', async () => {
    const given = await bench();
    const id = await publish(given, await createTab(given));
    const change = async (body: object): Promise<unknown> => {
      const answer = await given.call('PUT', `${path}/${id}`, { body });
      expect(answer.body.data).toEqual(await linkOf(given, id));
      return answer.body.data.visibility;
    };
    expect(await change({ password: 'sesame', isPublic: false })).toBe('anyone_with_link_and_password');
    expect(await change({ name: 'Renamed', theme: 'dark' })).toBe('anyone_with_link_and_password');
    expect(await change({ isPublic: true })).toBe('public_searchable');
    expect((await look(given, id)).status).toBe(401);
    expect(await change({ isPublic: false, password: null })).toBe('anyone_with_link_and_password');
    expect(await change({ password: '' })).toBe('anyone_with_link');
    const { published_link_name, dashboard_url } = await linkOf(given, id);
    expect([published_link_name, dashboard_url]).toEqual([
      'Renamed',
      `${new URL(given.origin).host}/published/${id}/renamed`,
    ]);
  });

  it.each([
    ['Für  Älle!', 'fur-alle'],
    ['  --  ', 'dashboard'],
    ['名前 2', encodeURIComponent('名前-2')],
    ['a/b?c#d', 'a-b-c-d'],
    ['<script>\'"', 'script'],
    ['👩‍👩‍👧', 'dashboard'],
  ])('named %j end with the slug %s, at which they can be viewed', async (name, slug) => {
    const given = await bench();
    const id = await publish(given, await createTab(given), { name });
    const { dashboard_url } = await linkOf(given, id);
    expect(dashboard_url).toBe(`${new URL(given.origin).host}/published/${id}/${slug}`);
    expect((await request(`http://${dashboard_url}`)).statusCode).toBe(200);
  });

  it('are deleted permanently, and are also deleted with their dashboard', async () => {
    const given = await bench();
    const tab = await createTab(given);
    const [first, second] = [await publish(given, tab), await publish(given, tab)];
    const answer = await given.call('DELETE', `${path}/${first}`);
    expect(answer.body).toEqual({ meta: { success: true, status: 200 }, data: {} });
    expect((await given.call('DELETE', `${path}/${first}`)).status).toBe(404);
    expect((await look(given, first)).status).toBe(404);
    expect((await look(given, second)).status).toBe(200);
    await given.call('DELETE', `/tabs/${tab}`);
    expect((await given.call('GET', `${path}/${second}`)).status).toBe(404);
    expect((await look(given, second)).status).toBe(404);
  });

  it('are paged in creation order', async () => {
    const clock = new SteppingClock('2026-03-01T10:00:00Z');
    const given = await bench({ clock });
    const tab = await createTab(given);
    const all: string[] = [];
    for (let i = 0; i < 26; i++) {
      all.push(await publish(given, tab));
      clock.advance(1);
    }
    const page = async (query: string): Promise<unknown> => {
      const { meta, data } = (await given.call('GET', `${path}?dashboard_id=${tab}${query}`)).body;
      return [meta.count, meta.total, (data.published_links as { id: string }[]).map(({ id }) => id)];
    };
    expect(await page('')).toEqual([25, 26, all.slice(0, 25)]);
    expect(await page('&offset=24&limit=5')).toEqual([2, 26, all.slice(24)]);
    expect(await page('&offset=26')).toEqual([0, 26, []]);
  });

  it("of another company, of a client, or for dashboards that the user can't see aren't found", async () => {
    const given = await bench();
    const tab = await createTab(given, {}, { key: keys.otherAdmin });
    const theirs = (await given.call('POST', `${path}/${tab}`, { key: keys.otherAdmin, body: { name: 'A' } })).body;
    const clients = await createTab(given, { client_id: 'bakery' });
    const made = await given.call('POST', `${path}/${clients}`, { body: { name: 'A', client_id: 'bakery' } });
    expect(made.status).toBe(201);
    for (const [dashboard, link] of [
      [tab, theirs.data.id],
      [clients, made.body.data.id],
    ]) {
      const calls: [string, string, object?][] = [
        ['POST', `${path}/${dashboard}`, { name: 'mine' }],
        ['GET', `${path}?dashboard_id=${dashboard}`],
        ['GET', `${path}/${link}`],
        ['PUT', `${path}/${link}`, { name: 'mine' }],
        ['DELETE', `${path}/${link}`],
      ];
      for (const [method, address, body] of calls) {
        const answer = await given.call(method, address, { body: body ?? null });
        expect([address, errorOf(answer)]).toEqual([address, [404, 'not_found']]);
        const named = address.split(/[/=]/).at(-1)!;
        expect(answer.body.meta.error_desc).toContain(named);
        expect(named === dashboard || !answer.text.includes(dashboard as string)).toBe(true);
      }
    }
    expect((await given.call('GET', `${path}/${made.body.data.id}?client_id=bakery`)).status).toBe(200);
    expect((await given.call('GET', `${path}/${made.body.data.id}`, { key: keys.clientAdmin })).status).toBe(200);
  });
});

describe("a published link's creator and host", () => {
  it('remain readable after the creator is deleted', async () => {
    const given = await bench();
    const tab = await createTab(given);
    const made = await given.call('POST', `${path}/${tab}`, { key: keys.acmeEditor, body: { name: 'A' } });
    const id = made.body.data.id as string;
    const creator = { user_public_id: 'acme-editor', user_name: 'Ed It' };
    await given.call('PUT', '/users/acme-editor', { body: { last_name: 'Itor' } });
    expect((await linkOf(given, id)).created_by).toEqual({ ...creator, user_name: 'Ed Itor' });
    expect((await given.call('DELETE', '/users/acme-editor')).status).toBe(200);
    expect((await linkOf(given, id)).created_by).toEqual(creator);
  });

  it('include the email address if the creator has no name', async () => {
    const given = await bench();
    const id = await publish(given, await createTab(given));
    expect((await linkOf(given, id)).created_by).toEqual({
      user_public_id: 'acme-admin',
      user_name: 'admin@acme.test',
    });
  });

  it("default to the service's own address if a client sends no host", async () => {
    const given = await bench();
    const id = await publish(given, await createTab(given));
    const socket = connect(given.service.port, '127.0.0.1');
    socket.end(`GET /api/1${path}/${id} HTTP/1.0\r\nkf-api-key: ${keys.acmeAdmin}\r\n\r\n`);
    expect(await text(socket)).toContain(`"127.0.0.1:${given.service.port}/published/${id}/for-all"`);
  });
});
