import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import mysql from 'mysql2';
import pg from 'pg';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { sendJson, TestServer } from '../connectors/http-server.ts';
import { makeFolder, start } from '../journey/process.ts';
import { adminKey, makeWorld } from '../journey/world.ts';
import { describeWithServer } from '../servers/describe.ts';

const door = new URL('../../src/cli/sluice.js', import.meta.url).pathname;
const key = 'f'.repeat(40);

const schema = `
  create table orders (id integer primary key, customer text, updated_at timestamp);
  insert into orders values (1, 'Ada', '2026-01-31 08:00:00'), (2, 'Bob', '2026-01-31 09:00:00');
  create table "a \${b}" ("\${c}" integer);`;

async function folderWithShop(): Promise<string> {
  const folder = await makeFolder();
  const db = new SqliteDatabase(join(folder, 'shop.sqlite'));
  db.exec(schema);
  db.close();
  return folder;
}

const init = (cwd: string, ...args: string[]) => start(['init', ...args], { cwd }).ended;
const configIn = (cwd: string) => readFile(join(cwd, 'sluice.yaml'), 'utf8');

/** Types the answers on a pseudo-terminal, each one when its question is waiting. */
async function walk(cwd: string, args: string, { answers, env = {} }: { answers: string[]; env?: NodeJS.ProcessEnv }) {
  const child = spawn('script', ['-qec', `"${process.execPath}" "${door}" init ${args}`, '/dev/null'], {
    cwd,
    env: { ...process.env, ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  const left = [...answers];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (/(: |\[y\/N\] )$/.test(output) && left.length > 0) child.stdin.write(`${left.shift()}\n`);
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output, left };
}

describe('sluice init --url', () => {
  it('with --yes, writes jobs for all tables, and the config loads even if names look like variables', async () => {
    const cwd = await folderWithShop();
    const { code, stdout } = await init(cwd, '--url', './shop.sqlite', '--yes');
    expect(code).toBe(0);
    expect(stdout).toContain('sluice.yaml: 2 jobs, no errors');
    expect(stdout).toMatch(/1 +Ada +2026-01-31T08:00:00\n2 +Bob/);
    const { config, problems } = await loadConfig(join(cwd, 'sluice.yaml'), { env: { SLUICE_API_KEY: key } });
    expect(problems).toEqual([]);
    expect([...config!.jobs.keys()]).toEqual(['a_b', 'orders']);
    expect(config!.jobs.get('a_b')!.extract!.query.sql).toBe('select "$\u007bc}" from "a $\u007bb}"');
    // A cursor is only suggested, because it would miss deleted rows.
    expect(config!.jobs.get('orders')!.extract!.query.cursor).toBeUndefined();
    expect(await configIn(cwd)).toContain('# To read only changed rows');
  });

  it("writes a CSV file's number and date formats, encoding and footer into the job, and shows the rows as read", async () => {
    const cwd = await makeFolder();
    const text = 'Tag;Kunde;Betrag\n31.01.2026;M\xfcller;1.234,50\n01.02.2026;Sch\xf6n;7,00\nSumme;;1.241,50\n';
    await writeFile(join(cwd, 'umsatz.csv'), Buffer.from(text, 'latin1'));
    const { code, stdout } = await init(cwd, '--url', './umsatz.csv', '--yes');
    expect(code).toBe(0);
    expect(stdout).toMatch(/2026-01-31 +Müller +1234\.50\n2026-02-01 +Schön +7\.00\n/);
    const { config } = await loadConfig(join(cwd, 'sluice.yaml'), { env: { SLUICE_API_KEY: key } });
    expect(config!.jobs.get('umsatz')!.extract!.query).toMatchObject({
      encoding: 'windows-1252',
      skip_footer: 1,
      types: { Tag: { type: 'date', format: 'dd.MM.yyyy' }, Betrag: { type: 'decimal', format: '1.234,56' } },
    });
  });

  it("writes a CSV file's delimiter and types into the job", async () => {
    const cwd = await makeFolder();
    await writeFile(join(cwd, 'rows.csv'), 'id;net\n1;1.50\n');
    expect(await init(cwd, '--url', './rows.csv', '--table', 'rows.csv')).toMatchObject({ code: 0 });
    const { config } = await loadConfig(join(cwd, 'sluice.yaml'), { env: { SLUICE_API_KEY: key } });
    const { query } = config!.jobs.get('rows')!.extract!;
    expect(query).toMatchObject({ path: 'rows.csv', delimiter: ';', types: { id: 'integer', net: 'decimal' } });
  });

  it('writes a job that reads all pages of an API, and keeps a key in the URL out of the config and the output', async () => {
    const server = await new TestServer().start();
    onTestFinished(() => server.stop());
    server.answer = ({ searchParams }, response) => {
      if (searchParams.get('api_key') !== 'a-key-of-the-api') response.writeHead(401);
      const page = Number(searchParams.get('p') ?? 1);
      const next = page < 3 ? `/v1/orders?status=open&p=${page + 1}` : null;
      sendJson(response, { items: [{ id: page }, { id: -page }], next });
    };
    const cwd = await makeFolder();
    const url = `${server.url}/v1/orders?status=open&api_key=a-key-of-the-api`;
    const { code, stdout, stderr } = await init(cwd, '--url', url, '--yes');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const text = await configIn(cwd);
    expect(stdout + text).not.toContain('a-key-of-the-api');
    expect(stdout).toContain('export API_KEY=');
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET']);
    const env = { SLUICE_API_KEY: key, API_KEY: 'a-key-of-the-api' };
    const sync = await start(['sync', 'v1_orders', '--to', 'out.csv'], { cwd, env }).ended;
    expect(sync.stderr + sync.stdout).toContain('out.csv');
    expect(await readFile(join(cwd, 'out.csv'), 'utf8')).toBe('id\n1\n-1\n2\n-2\n3\n-3\n');
  });

  it('writes nothing if no table is chosen or the table is unknown', async () => {
    const cwd = await folderWithShop();
    const none = await init(cwd, '--url', './shop.sqlite');
    expect(none).toMatchObject({ code: 2, stderr: expect.stringMatching(/^INIT_CHOOSE/) });
    const unknown = await init(cwd, '--url', './shop.sqlite', '--table', 'order', '--yes');
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringMatching(/^INIT_UNKNOWN[\s\S]*mean "orders"/) });
    expect(existsSync(join(cwd, 'sluice.yaml'))).toBe(false);
  });

  it('refuses to replace an existing config before it connects, unless --force is set', async () => {
    const cwd = await folderWithShop();
    await writeFile(join(cwd, 'sluice.yaml'), 'mine');
    const kept = await init(cwd, '--url', './shop.sqlite', '--yes');
    expect(kept).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^INIT_EXISTS/) });
    expect(await configIn(cwd)).toBe('mine');
    expect(await init(cwd, '--url', './shop.sqlite', '--yes', '--force')).toMatchObject({ code: 0 });
    expect(await configIn(cwd)).toContain('jobs:');
  });
});

describe('sluice init on a terminal', () => {
  it('asks for the source, the tables and the cursor, and sends rows if the user agrees', async () => {
    const world = await makeWorld();
    const cwd = await folderWithShop();
    const answers = ['./shop.sqlite', 'orders', 'y', 'y'];
    const env = { SLUICE_API_KEY: adminKey };
    const { code, output, left } = await walk(cwd, `--destination ${world.url}`, { answers, env });
    expect({ code, left }).toEqual({ code: 0, left: [] });
    expect(output).toMatch(/delivered/);
    const { config } = await loadConfig(join(cwd, 'sluice.yaml'), { env: { SLUICE_API_KEY: key } });
    const { query, write } = config!.jobs.get('orders')!.extract!;
    expect([query.cursor, write?.key]).toEqual(['updated_at', ['id']]);
  });

  it('sends nothing if the user answers no, and writes nothing if no table is chosen', async () => {
    const world = await makeWorld();
    const cwd = await folderWithShop();
    const env = { SLUICE_API_KEY: adminKey };
    const before = (await world.requests()).length;
    const none = await walk(cwd, '--url ./shop.sqlite', { answers: [''], env });
    expect(none.output).toContain('No dataset was selected, so nothing was written.');
    expect(existsSync(join(cwd, 'sluice.yaml'))).toBe(false);
    const args = `--url ./shop.sqlite --destination ${world.url}`;
    expect(await walk(cwd, args, { answers: ['orders', 'n', 'n'], env })).toMatchObject({ code: 0, left: [] });
    expect(await configIn(cwd)).toContain('jobs:');
    expect((await world.requests()).length).toBe(before);
  });

  it('treats the end of the input (Ctrl-D) as an empty answer to all remaining questions', async () => {
    const cwd = await folderWithShop();
    const env = { SLUICE_API_KEY: adminKey };
    const { code, output } = await walk(cwd, '--url ./shop.sqlite --table orders', { answers: ['\u0004'], env });
    expect(code).toBe(0);
    expect(output).toContain('sluice check --connect');
  });

  it('writes the starter config if the first answer is empty', async () => {
    const cwd = await makeFolder();
    const { code, output } = await walk(cwd, '', { answers: [''] });
    expect(code).toBe(0);
    expect(output).toContain('sample rows');
  });
});

describeWithServer({ servers: ['PostgreSQL', 'MariaDB'] }, 'sluice init with the URL of a server', (server) => {
  const password = 'p@ss/w%rd:$\u007bx}#';

  beforeAll(async () => {
    const admin = new pg.Client(server('PostgreSQL').url);
    await admin.connect();
    await admin.query(`${schema}; create role alice login password '${password}'; grant select on orders to alice`);
    await admin.end();
    const other = mysql.createConnection({ uri: server('MariaDB').url, multipleStatements: true });
    const sql = `create table orders (id int primary key, customer text); insert into orders values (1, 'Ada'); create user alice identified by '${password}';
      grant select on test.* to alice`;
    await new Promise((done, fail) => other.query(sql, (failure) => (failure ? fail(failure) : done(undefined))));
    other.destroy();
  });

  it.each([
    ['PostgreSQL', 'postgres', 'its login'],
    ['PostgreSQL', 'postgres', 'a parameter'],
    ['MariaDB', 'mysql', 'its login'],
  ] as const)(
    'keeps the password out of the config, and connects with a variable instead: %s, %s://, password in %s',
    async (kind, scheme, part) => {
      const cwd = await makeFolder();
      const { host, port } = server(kind);
      const database = kind === 'MariaDB' ? 'test' : 'postgres';
      const escaped = encodeURIComponent(password);
      const place = `${host}:${port}/${database}`;
      const [before, after] = part === 'its login' ? ['alice:', `@${place}`] : [`${place}?user=alice&password=`, ''];
      const url = `${scheme}://${before}${escaped}${after}`;
      const written = await init(cwd, '--url', url, '--yes');
      expect(written).toMatchObject({ code: 0, stdout: expect.stringContaining('1 job, no errors') });
      const variable = `${database.toUpperCase()}_PASSWORD`;
      expect(written.stdout).toContain(`export ${variable}=`);
      const text = await configIn(cwd);
      expect(text).toContain(`${before}\${env:${variable}}${after}`);
      for (const secret of [password, escaped]) {
        expect(text).not.toContain(secret);
        expect(written.stdout + written.stderr).not.toContain(secret);
      }
      const env = { SLUICE_API_KEY: key, [variable]: escaped };
      const preview = await start(['sync', '--dry-run'], { cwd, env }).ended;
      expect(preview).toMatchObject({ code: 0, stdout: expect.stringContaining('would be sent') });
    },
  );
});
