import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { splitAtPasswords } from '../../src/cli/discover/source-at.ts';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { sendJson, TestServer } from '../connectors/http-server.ts';
import { makeFolder, start } from '../journey/process.ts';

const config = `
destinations: {main: {url: 'http://127.0.0.1:9/api/1.0', api_key: abcdefabcdef}}
sources:
  shop: {connector: db, driver: sqlite, file: shop.sqlite}
  away: {connector: db, url: 'postgres://u:secret-word@127.0.0.1:1/x'}
  api: {connector: simple_rest, url: 'http://127.0.0.1:9/'}
jobs: {}
`;

/** A folder with a config, a SQLite file, and two csv files, one of which is broken. */
async function setUp(): Promise<(...args: string[]) => ReturnType<typeof start>['ended']> {
  const cwd = await makeFolder();
  const db = new SqliteDatabase(join(cwd, 'shop.sqlite'));
  db.exec('create table orders (id integer primary key, updated_at timestamp); create view v as select 1 as n;');
  db.close();
  await writeFile(join(cwd, 'sluice.yaml'), config);
  await writeFile(join(cwd, 'rows.csv'), 'id,name\n1,a\n');
  await writeFile(join(cwd, 'bad.json'), '{');
  return (...args) => start(['discover', ...args], { cwd }).ended;
}

const orders = {
  name: 'orders',
  kind: 'table',
  columns: [
    { name: 'id', type: 'INTEGER' },
    { name: 'updated_at', type: 'timestamp' },
  ],
  key: ['id'],
  cursors: ['updated_at', 'id'],
  query: { sql: 'select "id", "updated_at" from "orders" order by "id"' },
};

describe('sluice discover', () => {
  it("lists a source's tables, as text and as JSON", async () => {
    const discover = await setUp();
    const text = await discover('shop');
    expect(text).toMatchObject({ code: 0, stderr: '' });
    expect(text.stdout).toBe(
      'orders (table; key: id; cursor: updated_at or id)\n  id          INTEGER\n  updated_at  timestamp\n\nv (view)\n  n\n\n2 tables\n',
    );
    const { code, stdout } = await discover('shop', 'o*', '--json');
    expect(code).toBe(0);
    const config = expect.stringContaining('jobs:\n  ');
    expect(JSON.parse(stdout)).toEqual({ source: 'shop', connector: 'db', datasets: [orders], config });
  });

  it("lists a SQLite file's tables without a config", async () => {
    const discover = await setUp();
    const { stdout } = await discover('./shop.sqlite', '--json', '--config', 'none.yaml');
    expect(JSON.parse(stdout)).toMatchObject({ connector: 'db', datasets: [orders, { name: 'v' }] });
  });

  it('exits with 1 if one of several files is broken, but lists the others', async () => {
    const discover = await setUp();
    const { code, stdout } = await discover('./');
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^bad\.json \(file\)\nJSON_TRUNCATED: [\s\S]*rows\.csv \(file\)\n {2}id {4}integer\n {2}name {2}text\n/,
    );
  });

  it("lists the config's sources if the given name is unknown", async () => {
    const discover = await setUp();
    const { code, stderr } = await discover('shp');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^CLI_UNKNOWN_SOURCE: [\s\S]*did you mean "shop"\?/);
  });

  it.each([
    ['postgres://u:p@ss@a:1,b/d?host=/s', { texts: ['postgres://u:', '@a:1,b/d?host=/s'], passwords: ['p@ss'] }],
    ['postgres://u:p%40@/d', { texts: ['postgres://u:', '@/d'], passwords: ['p%40'] }],
    ['postgres://u@h/a:b@c', { texts: ['postgres://u@h/a:b@c'], passwords: [] }],
    ['mysql://u:@h', { texts: ['mysql://u:@h'], passwords: [] }],
    ['postgres://h/d?user=u&password=p&a=b', { texts: ['postgres://h/d?user=u&password=', '&a=b'], passwords: ['p'] }],
    ['mysql://u:p@h?Password=q', { texts: ['mysql://u:', '@h?Password=', ''], passwords: ['p', 'q'] }],
  ])('finds the passwords in %s', (url, parts) => {
    expect(splitAtPasswords(url)).toEqual(parts);
  });

  it('reports a missing API path, an unreachable server and an invalid URL without showing the password', async () => {
    const discover = await setUp();
    const [api, away, url, bad] = await Promise.all([
      discover('api'),
      discover('away'),
      discover('postgres://u:secret-word@127.0.0.1:1/x'),
      discover('postgres://u:secret-word@127.0.0.1:1,[::1]:1/x?sslmode=prefer'),
    ]);
    expect(api).toMatchObject({ code: 2, stderr: expect.stringMatching(/^DISCOVER_PATH/) });
    expect(away).toMatchObject({ code: 1, stderr: expect.stringMatching(/^DB_UNREACHABLE[\s\S]*source away/) });
    expect(url).toMatchObject({ code: 1, stderr: expect.stringMatching(/^DB_UNREACHABLE/) });
    expect(bad).toMatchObject({ code: 2, stderr: expect.stringMatching(/^CLI_ADDRESS/) });
    for (const { stdout, stderr } of [api, away, url, bad]) expect(stdout + stderr).not.toContain('secret-word');
  });
});

describe('sluice discover for a file', () => {
  it('prints a config that works when pasted', async () => {
    const cwd = await makeFolder();
    await writeFile(join(cwd, 'sales.txt'), 'Tag;Betrag\n31.01.2025;1.234,50\n01.02.2025;7,00\n');
    const { code, stdout } = await start(['discover', './sales.txt'], { cwd }).ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^sales\.txt \(file\)\n {2}Tag {5}date {2}dd\.MM\.yyyy\n {2}Betrag {2}decimal {2}1\.234,56\n/,
    );
    const config = stdout.slice(stdout.indexOf('version: 1'));
    await writeFile(join(cwd, 'sluice.yaml'), config);
    const env = { SLUICE_API_KEY: 'abcdefabcdef' };
    const sync = await start(['sync', 'sales', '--to', 'out.csv'], { cwd, env }).ended;
    expect(sync.stderr + sync.stdout).toContain('out.csv');
    expect(await readFile(join(cwd, 'out.csv'), 'utf8')).toBe('Tag,Betrag\n2025-01-31,1234.50\n2025-02-01,7.00\n');
    const json = await start(['discover', './sales.txt', '--json'], { cwd }).ended;
    expect(JSON.parse(json.stdout).config).toBe(config);
  });
});

describe('sluice discover for an API path', () => {
  it('prints a job that reads all pages', async () => {
    const server = await new TestServer().start();
    onTestFinished(() => server.stop());
    server.answer = ({ searchParams }, response) => {
      const page = Number(searchParams.get('p') ?? 1);
      sendJson(response, { items: [{ id: page }, { id: -page }], next: page < 3 ? `/orders?p=${page + 1}` : null });
    };
    const cwd = await makeFolder();
    const head = `destinations: {main: {url: 'http://127.0.0.1:9/api/1.0', api_key: abcdefabcdef}}
sources: {api: {connector: simple_rest, url: '${server.url}'}}
`;
    await writeFile(join(cwd, 'sluice.yaml'), `${head}jobs: {}\n`);
    const { code, stdout } = await start(['discover', 'api', '--path', '/orders'], { cwd }).ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\/orders \(stream; key: id\)\n {2}id {2}integer\n {2}note: /);
    await writeFile(join(cwd, 'sluice.yaml'), `${head}${stdout.slice(stdout.indexOf('jobs:'))}`);
    const sync = await start(['sync', 'orders', '--to', 'out.csv'], { cwd }).ended;
    expect(sync.code).toBe(0);
    expect(await readFile(join(cwd, 'out.csv'), 'utf8')).toBe('id\n1\n-1\n2\n-2\n3\n-3\n');
  });

  it('takes the URL of an API, and shows no key, whether it is in the URL or in the path', async () => {
    const server = await new TestServer().start();
    onTestFinished(() => server.stop());
    server.answer = ({ searchParams }, response) => {
      if (searchParams.get('api_key') !== 'a-key-of-the-api') response.writeHead(401).end();
      else sendJson(response, [{ id: 1 }, { id: 2 }]);
    };
    const cwd = await makeFolder();
    const key = 'api_key=a-key-of-the-api&author=jane&keyword=new';
    for (const words of [
      [`${server.url}/orders?${key}`],
      [`${server.url}/orders?discount=%zz&${key}`],
      [server.url, '--path', `/orders?${key}`],
    ]) {
      const { code, stdout, stderr } = await start(['discover', ...words, '--json'], { cwd }).ended;
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(JSON.parse(stdout)).toMatchObject({ connector: 'simple_rest', datasets: [{ key: ['id'] }] });
      expect(stdout).not.toContain('a-key-of-the-api');
      expect(stdout).toContain('author=jane&keyword=new');
    }
    expect(server.requests.map(({ method }) => method)).toEqual(Array.from({ length: 6 }, () => 'GET'));
  });
});
