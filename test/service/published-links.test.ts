import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import SQLite from 'better-sqlite3';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { createKlip, createTab, placeKlips, publish } from './dashboards.ts';
import { type Answer, type Bench, bench, keys, StillClock, scratch } from './service.ts';

const path = '/dashboard-published-links';
const errorOf = ({ status, body }: Answer): unknown => [status, body.meta.error_code];
const linkOf = async (given: Bench, id: string): Promise<Record<string, unknown>> =>
  (await given.call('GET', `${path}/${id}`)).body.data;

/** What somebody without an account is answered at a link's address. */
async function look(
  given: Bench,
  id: string,
  {
    query = '',
    headers = {},
    method = 'GET',
  }: { query?: string; headers?: Record<string, string>; method?: string } = {},
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  const answer = await request(`${given.origin}/published/${id}/any${query}`, { method: method as 'GET', headers });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

const basic = (text: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(text).toString('base64')}`,
});

describe('published links (2.1, 4.2)', () => {
  it('are created with a name, answered whole, found by id and by dashboard', async () => {
    const given = await bench({ clock: new StillClock('2026-03-01T10:00:00Z') });
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
      date_created: '2026-03-01T10:00:00.000Z',
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

  it('are changed field by field, and answer what they have become', async () => {
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
    ['\ud800x', 'x'],
  ])('named %j end with the slug %s, at which they are seen', async (name, slug) => {
    const given = await bench();
    const id = await publish(given, await createTab(given), { name });
    const { dashboard_url } = await linkOf(given, id);
    expect(dashboard_url).toBe(`${new URL(given.origin).host}/published/${id}/${slug}`);
    expect((await request(`http://${dashboard_url}`)).statusCode).toBe(200);
  });

  it('are deleted for good, and vanish with their dashboard', async () => {
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

  it('come in pages, in the order of creation', async () => {
    const clock = new StillClock('2026-03-01T10:00:00Z');
    const given = await bench({ clock });
    const tab = await createTab(given);
    const all: string[] = [];
    for (let i = 0; i < 26; i++) {
      all.push(await publish(given, tab));
      clock.pass(1);
    }
    const page = async (query: string): Promise<unknown> => {
      const { meta, data } = (await given.call('GET', `${path}?dashboard_id=${tab}${query}`)).body;
      return [meta.count, meta.total, (data.published_links as { id: string }[]).map(({ id }) => id)];
    };
    expect(await page('')).toEqual([25, 26, all.slice(0, 25)]);
    expect(await page('&offset=24&limit=5')).toEqual([2, 26, all.slice(24)]);
    expect(await page('&offset=26')).toEqual([0, 26, []]);
  });

  it('of another company, of a client and of dashboards that one does not see are not there', async () => {
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

describe('who and where a published link is from', () => {
  it('stays readable when its creator is gone', async () => {
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

  it('is named by its e-mail where it has no other name', async () => {
    const given = await bench();
    const id = await publish(given, await createTab(given));
    expect((await linkOf(given, id)).created_by).toEqual({
      user_public_id: 'acme-admin',
      user_name: 'admin@acme.test',
    });
  });

  it('is the address of the service for a client that names no host', async () => {
    const given = await bench();
    const id = await publish(given, await createTab(given));
    const socket = connect(given.service.port, '127.0.0.1');
    socket.end(`GET /api/1${path}/${id} HTTP/1.0\r\nkf-api-key: ${keys.acmeAdmin}\r\n\r\n`);
    expect(await text(socket)).toContain(`"127.0.0.1:${given.service.port}/published/${id}/for-all"`);
  });
});

describe('the password of a published link', () => {
  it('is answered nowhere and stored only as a hash', async () => {
    const folder = await scratch();
    const given = await bench({ data: { folder } });
    const tab = await createTab(given);
    const password = 'open sesame, please';
    const created = await given.call('POST', `${path}/${tab}`, { body: { name: 'A', password } });
    const { id } = created.body.data;
    const answers = [
      created,
      await given.call('PUT', `${path}/${id}`, { body: { password: `${password}!` } }),
      await given.call('GET', `${path}/${id}`),
      await given.call('GET', `${path}?dashboard_id=${tab}`),
    ];
    for (const { text } of answers) expect(text).not.toMatch(/sesame|scrypt/);
    await given.service.close();
    const files = (await readdir(folder)).filter((file) => file.startsWith('service.db'));
    const kept = Buffer.concat(await Promise.all(files.map((file) => readFile(join(folder, file)))));
    expect([kept.includes('sesame'), kept.includes('scrypt$')]).toEqual([false, true]);
  });

  it('opens the dashboard as Basic credentials of anybody, or in the query', async () => {
    const given = await bench();
    const id = await publish(given, await createTab(given), { password: 'pass:wörd &' });
    const asked = await look(given, id);
    expect([asked.status, asked.headers['www-authenticate']]).toEqual([
      401,
      'Basic realm="dashboard", charset="UTF-8"',
    ]);
    expect(asked.text).not.toContain('Sales');
    const query = (password: string): { query: string } => ({ query: `?password=${encodeURIComponent(password)}` });
    for (const right of [
      query('pass:wörd &'),
      { headers: basic('anybody:pass:wörd &') },
      { headers: basic(':pass:wörd &') },
    ]) {
      expect((await look(given, id, right)).status).toBe(200);
    }
    const wrong = [
      query('pass'),
      query(''),
      query('Pass:wörd &'),
      { headers: basic('anybody:wrong') },
      { headers: basic('x') },
    ];
    for (const one of [...wrong, { query: '?password=pass:w%C3%B6rd%20%26&password=x' }]) {
      expect((await look(given, id, one)).status).toBe(401);
    }
    expect((await linkOf(given, id)).date_last_accessed).not.toBe(null);
  });

  it('cannot be guessed from one address for long, and a right one costs nothing', async () => {
    const given = await bench({ limits: true, clock: new StillClock('2026-03-01T10:00:00Z') });
    const id = await publish(given, await createTab(given), { password: 'sesame' });
    for (let i = 0; i < 3; i++) expect((await look(given, id, { query: '?password=sesame' })).status).toBe(200);
    for (let i = 0; i < 20; i++) expect((await look(given, id, { query: `?password=${i}` })).status).toBe(401);
    const refused = await look(given, id, { query: '?password=sesame' });
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
    expect((await given.call('GET', `${path}/${id}`)).status).toBe(200);
  });
});

describe('views of published links', () => {
  it('are counted by the hour for the account, and outlast the link', async () => {
    const folder = await scratch();
    const clock = new StillClock('2026-03-01T10:59:59.999Z');
    const given = await bench({ data: { folder }, clock });
    const tab = await createTab(given);
    const [open, closed] = [await publish(given, tab), await publish(given, tab, { password: 'sesame' })];
    await look(given, open);
    clock.pass(1);
    await given.call('PUT', `/tabs/${tab}`, { body: { name: 'Renamed' } });
    await Promise.all([look(given, open), look(given, open), look(given, closed)]);
    await look(given, closed, { query: '?password=sesame' });
    await given.call('PUT', `${path}/${open}`, { body: { isPublic: true } });
    await look(given, open);
    await given.call('DELETE', `${path}/${open}`);
    await given.service.close();
    const db = new SQLite(join(folder, 'service.db'), { readonly: true });
    const rows = db.prepare('select * from published_link_views order by hour, views').all();
    db.close();
    const hour = Date.parse('2026-03-01T10:00:00Z');
    const row = { account_id: 'acme', hour: hour + 3_600_000, tab_name: 'Renamed', is_public: 0, has_password: 0 };
    expect(rows).toEqual([
      { ...row, hour, link_id: open, tab_name: 'Sales', views: 1 },
      { ...row, link_id: closed, has_password: 1, views: 1 },
      { ...row, link_id: open, is_public: 1, views: 3 },
    ]);
  });
});

describe('the page at a published link', () => {
  it('shows the dashboard and its Klips to everybody, and moves the last access', async () => {
    const clock = new StillClock('2026-03-01T10:00:00Z');
    const given = await bench({ clock });
    const tab = await createTab(given, { name: 'Sales <b>&', description: '"quoted"' });
    await placeKlips(given, tab, [{ klip_id: await createKlip(given, { name: '<script>alert(1)</script>' }) }]);
    const logo = 'https://x.test/"><script>';
    const id = await publish(given, tab, { isPublic: true, theme: 'dark', logo, social: true, wantsAdvertising: true });
    clock.pass(5_000);
    const { status, headers, text } = await look(given, id);
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    for (const part of [
      '<h1>Sales &lt;b&gt;&amp;</h1>',
      '<p>&quot;quoted&quot;</p>',
      '<li>&lt;script&gt;alert(1)&lt;/script&gt;</li>',
      '<img src="https://x.test/&quot;&gt;&lt;script&gt;" alt="">',
      'content="dark"',
      'mailto:',
      '<footer>',
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain('<script');
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(headers).not.toHaveProperty('x-robots-tag');
    expect((await linkOf(given, id)).date_last_accessed).toBe('2026-03-01T10:00:05.000Z');
  });

  it('is kept from search engines unless it is public, and plain unless told', async () => {
    const given = await bench();
    const { headers, text: html } = await look(given, await publish(given, await createTab(given)));
    expect(headers['x-robots-tag']).toBe('noindex');
    expect(html).toContain('content="light"');
    expect(html).not.toMatch(/<img|mailto|<footer/);
  });

  it('is not there while the account is closed, or may not publish', async () => {
    const given = await bench();
    const tab = await createTab(given, { client_id: 'bakery' });
    const make = async (body: object): Promise<string> =>
      (await given.call('POST', `${path}/${tab}`, { body: { name: 'A', client_id: 'bakery', ...body } })).body.data
        .id as string;
    const [hidden, open] = [await make({}), await make({ isPublic: true })];
    const seen = async (): Promise<number[]> => [(await look(given, hidden)).status, (await look(given, open)).status];
    const set = async (part: string, body: object): Promise<void> => {
      expect((await given.call('PUT', `/clients/bakery${part}`, { body })).status).toBe(200);
    };
    const feature = (name: string, enabled: boolean): Promise<void> =>
      set('/features', { features: [{ name, enabled }] });
    expect(await seen()).toEqual([200, 200]);
    await set('', { status: 'disabled' });
    expect(await seen()).toEqual([404, 404]);
    await set('', { status: 'active' });
    expect(await seen()).toEqual([200, 200]);
    await feature('public_dashboards', false);
    expect(await seen()).toEqual([200, 404]);
    await feature('published_dashboards', false);
    expect(await seen()).toEqual([404, 404]);
    await feature('published_dashboards', true);
    await feature('public_dashboards', true);
    expect(await seen()).toEqual([200, 200]);
  });

  it('is looked at without a call being counted, and a look at its head is no view', async () => {
    const given = await bench();
    const id = await publish(given, await createTab(given));
    const head = await look(given, id, { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await linkOf(given, id)).date_last_accessed).toBe(null);
    await look(given, id);
    const usage = await given.call('GET', '/usage-overview/api-usage?start_date=0&end_date=4000000000');
    expect(usage.body.data.overview).toMatchObject([{ api_usage: '4' }]);
    expect((await look(given, id, { method: 'POST' })).status).not.toBe(200);
    expect((await look(given, 'f'.repeat(32))).status).toBe(404);
  });
});
