import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { SteppingClock } from '../clocks.ts';
import { createKlip, createTab, linkOf, look, linksPath as path, placeKlips, publish } from './dashboards.ts';
import { bench, scratch } from './service.ts';

const basic = (text: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(text).toString('base64')}`,
});

describe("a published link's password", () => {
  it('is never returned and is stored only as a hash', async () => {
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

  it('opens the dashboard, either as a Basic password with any user name or in the query', async () => {
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

  it("can't be brute-forced from one address, and correct attempts don't count as failures", async () => {
    const given = await bench({ limits: true, clock: new SteppingClock('2026-03-01T10:00:00Z') });
    const id = await publish(given, await createTab(given), { password: 'sesame' });
    for (let i = 0; i < 3; i++) expect((await look(given, id, { query: '?password=sesame' })).status).toBe(200);
    for (let i = 0; i < 20; i++) expect((await look(given, id, { query: `?password=${i}` })).status).toBe(401);
    const refused = await look(given, id, { query: '?password=sesame' });
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60']);
    expect((await given.call('GET', `${path}/${id}`)).status).toBe(200);
  });
});

describe('views of published links', () => {
  it('are counted per hour for the account, and are kept after the link is deleted', async () => {
    const folder = await scratch();
    const clock = new SteppingClock('2026-03-01T10:59:59.999Z');
    const given = await bench({ data: { folder }, clock });
    const tab = await createTab(given);
    const [open, closed] = [await publish(given, tab), await publish(given, tab, { password: 'sesame' })];
    await look(given, open);
    clock.advance(1);
    await given.call('PUT', `/tabs/${tab}`, { body: { name: 'Renamed' } });
    await Promise.all([look(given, open), look(given, open), look(given, closed)]);
    await look(given, closed, { query: '?password=sesame' });
    await given.call('PUT', `${path}/${open}`, { body: { isPublic: true } });
    await look(given, open);
    await given.call('DELETE', `${path}/${open}`);
    await given.service.close();
    const db = new SqliteDatabase(join(folder, 'service.db'), { readOnly: true });
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
  it('shows the dashboard and its Klips to everyone, and updates the time of the last access', async () => {
    const clock = new SteppingClock('2026-03-01T10:00:00Z');
    const given = await bench({ clock });
    const tab = await createTab(given, { name: 'Sales <b>&', description: '"quoted"' });
    await placeKlips(given, tab, [{ klip_id: await createKlip(given, { name: '<script>alert(1)</script>' }) }]);
    const logo = 'https://x.test/"><script>';
    const id = await publish(given, tab, { isPublic: true, theme: 'dark', logo, social: true, wantsAdvertising: true });
    clock.advance(5_000);
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
    expect((await linkOf(given, id)).date_last_accessed).toBe('2026-03-01T10:00:05Z');
  });

  it("is hidden from search engines unless it's public, and is plain by default", async () => {
    const given = await bench();
    const { headers, text: html } = await look(given, await publish(given, await createTab(given)));
    expect(headers['x-robots-tag']).toBe('noindex');
    expect(html).toContain('content="light"');
    expect(html).not.toMatch(/<img|mailto|<footer/);
  });

  it("isn't found while the account is disabled or isn't allowed to publish", async () => {
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

  it("can be viewed without counting as an API call, and HEAD doesn't count as a view", async () => {
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
