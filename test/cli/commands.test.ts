import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeFolder, type Start, start, until } from '../journey/process.ts';
import { adminKey, makeWorld, type World } from '../journey/world.ts';

const door = new URL('../../src/cli/sluice.js', import.meta.url).pathname;

const sluice = (args: readonly string[], how?: Start) => start(args, how).ended;

/** A destination, a csv file, and a job that declares its data source. */
async function setUp(world: World, target: unknown = { datasource: { name: 'Orders', format: 'csv' } }) {
  const home = await world.home();
  await home.write('rows.csv', 'id,name\n1,a\n2,b\n');
  const config = (more: object = {}) => ({
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs: {
      orders: { source: 'files', query: 'rows.csv', target, ...(typeof target === 'string' ? { format: 'csv' } : {}) },
    },
    ...more,
  });
  await home.config(config());
  return { home, config };
}

const withoutEscapes = ({ stdout, stderr }: { stdout: string; stderr: string }) =>
  expect(stdout + stderr).not.toContain('\u001b');

describe('sluice demo', () => {
  it('shows that rows arrive and a second run finds them unchanged, exits with 0 and leaves nothing behind', async () => {
    const folder = await makeFolder();
    const ended = await sluice(['demo'], { env: { TMPDIR: folder } });
    expect(ended.code).toBe(0);
    expect(ended.stdout.match(/ delivered$/gm)).toHaveLength(3);
    expect(ended.stdout.match(/ unchanged$/gm)).toHaveLength(3);
    expect(readdirSync(folder)).toEqual([]);
    withoutEscapes(ended);
  });

  it("exits with 130 and leaves nothing behind if it's interrupted", async () => {
    const folder = await makeFolder();
    const demo = start(['demo'], { env: { TMPDIR: folder } });
    await until('the demo to start', () => demo.output().includes('2. '));
    demo.child.kill('SIGINT');
    const { code, stderr } = await demo.ended;
    expect(code).toBe(130);
    expect(stderr).not.toContain('bug in Sluice');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('sluice init', () => {
  it("adds --config to the commands that it prints if the file isn't in the default place", async () => {
    const cwd = await makeFolder();
    const init = await sluice(['init', 'sub/mine.yaml'], { cwd });
    const which = '--config sub/mine.yaml';
    expect(init.stdout).toContain(`check --connect ${which}\n  sluice apply --yes ${which} && sluice sync ${which}\n`);
  });

  it('prints exactly the commands that lead to a first delivery', async () => {
    const cwd = await makeFolder();
    const [file, ready] = [join(cwd, 'sluice.yaml'), join(cwd, 'ready.json')];
    const init = await sluice(['init'], { cwd });
    expect(init.stdout).toContain('sluice check --connect\n  sluice apply --yes && sluice sync');
    const service = start(['serve', '--port', '0', '--ready-file', ready], { cwd, serves: true });
    await until('the service to listen', () => existsSync(ready));
    const { url } = JSON.parse(await readFile(ready, 'utf8')) as { url: string };
    await writeFile(file, (await readFile(file, 'utf8')).replace('http://127.0.0.1:8080/api/1.0', url));
    const key = /^ {2}([0-9a-f]{40})$/m.exec(service.output())?.[1] ?? '';
    const env = { SLUICE_API_KEY: key };
    for (const line of [['check', '--connect'], ['apply', '--yes'], ['sync']]) {
      expect(await sluice(line, { cwd, env }), line.join(' ')).toMatchObject({ code: 0 });
    }
    expect((await sluice(['sync'], { cwd, env })).stdout).toContain('unchanged');
    service.child.kill('SIGINT');
    expect((await service.ended).code).toBe(0);
  });

  it('keeps an existing config', async () => {
    const cwd = await makeFolder();
    await writeFile(join(cwd, 'sluice.yaml'), 'mine');
    const { code, stderr } = await sluice(['init'], { cwd });
    expect([code, await readFile(join(cwd, 'sluice.yaml'), 'utf8')]).toEqual([2, 'mine']);
    expect(stderr).toContain('--force');
  });
});

describe('sluice check', () => {
  it("marks warnings so that they aren't mistaken for errors", async () => {
    const cwd = await makeFolder();
    const target = (id: string) => `{ source: files, query: a.csv, format: csv, target: ${id} }`;
    const head = 'version: 1\ndestinations: { main: { url: "https://app.example.com", api_key: abc } }\n';
    await writeFile(
      join(cwd, 'sluice.yaml'),
      `${head}sources: { files: { connector: file } }\njobs:\n  a: ${target('short')}\n  b: ${target('""')}\n`,
    );
    const { stderr } = await sluice(['check'], { cwd });
    expect(stderr).toMatch(/^warning CONFIG_ID: /);
    expect(stderr).toMatch(/^CONFIG_\w+: /m);
  });

  it('reports all errors at once, each with its line, and exits with 2', async () => {
    const cwd = await makeFolder();
    const lines = [
      'version: 1',
      'destinations:',
      '  main: {url: nonsense, api_key: k}',
      'sources:',
      '  a: {connector: fil}',
    ];
    await writeFile(join(cwd, 'sluice.yaml'), [...lines, 'jobs:', '  j: {source: b, colour: red}', ''].join('\n'));
    const plain = await sluice(['check'], { cwd });
    expect(plain.code).toBe(2);
    for (const line of [3, 5, 7]) expect(plain.stderr).toContain(`sluice.yaml:${line}`);
    const { code, stdout } = await sluice(['check', '--json'], { cwd });
    const said = JSON.parse(stdout) as { problems: { code: string; where: { line: number } }[] };
    expect(code).toBe(2);
    expect(new Set(said.problems.map(({ where }) => where.line))).toEqual(new Set([3, 5, 7]));
  });

  it('with --connect, sends at most two requests, and exits with 0 on success, 3 on a bad key and 1 on a missing folder', async () => {
    const world = await makeWorld();
    const { home, config } = await setUp(world);
    const before = (await world.requests()).length;
    expect(await home.sluice(['check', '--connect'])).toMatchObject({ code: 0 });
    // The service logs a request after its response.
    const spent = async () => (await world.requests()).length - before;
    await until('the log to have the requests', async () => (await spent()) > 0);
    expect(await spent()).toBeLessThanOrEqual(2);
    await home.config(config({ destinations: { main: { url: world.url, api_key: 'f'.repeat(40) } } }));
    expect((await home.sluice(['check', '--connect'])).code).toBe(3);
    await home.config(config({ sources: { files: { connector: 'file', folder: 'gone' } } }));
    const told = await home.sluice(['check', '--connect']);
    expect(told.stdout).toMatch(/source +files +NO +FILE_\w+, see below/);
    expect(told.stdout).toMatch(/\nFILE_\w+: .*\n {2}where {4}source files\n[\s\S]* {2}next {5}\S/);
    const away = await home.sluice(['check', '--connect', '--json']);
    expect([away.code, JSON.parse(away.stdout).connections]).toMatchObject([
      1,
      [{ name: 'files', ok: false }, { ok: true }],
    ]);
  });
});

describe('sluice apply', () => {
  it('shows changes, applies them only if confirmed, and never applies them twice', async () => {
    const world = await makeWorld({ serve: ['--no-limits'] });
    const { home } = await setUp(world);
    const datasources = async () => (await world.call('GET', '/datasources')).body.data?.datasources as unknown[];
    const before = (await datasources()).length;
    expect((await home.sluice(['apply'])).stdout).toContain('create "Orders"');
    expect(await datasources()).toHaveLength(before);
    expect(await home.sluice(['apply', '--yes'])).toMatchObject({ code: 0 });
    expect(await datasources()).toHaveLength(before + 1);
    const again = await home.sluice(['apply', '--yes', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ changes: false });
    expect(await datasources()).toHaveLength(before + 1);
    expect((await home.sync()).jobs).toMatchObject([{ state: 'delivered' }]);
    await home.config({ destinations: { main: { url: world.url, api_key: adminKey } }, sources: {}, jobs: {} });
    await home.sluice(['apply', '--yes']);
    expect(await datasources()).toHaveLength(before + 1);
  });

  it("is suggested by sync if the data source doesn't exist yet", async () => {
    const { home } = await setUp(await makeWorld());
    const { code, stderr } = await home.sluice(['sync']);
    expect(code).toBe(1);
    expect(stderr).toContain('sluice apply --yes');
  });
});

describe('sluice sync', () => {
  it("with --dry-run, shows the result's size but sends no request and creates no state", async () => {
    const world = await makeWorld();
    const { home } = await setUp(world, world.instances.csv);
    const before = (await world.requests()).length;
    const ended = await home.sluice(['sync', '--dry-run']);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain('2 rows, 16 B of csv; would be sent with one request');
    expect(existsSync(join(home.folder, 'state'))).toBe(false);
    expect(await world.requests()).toHaveLength(before);
    const json = JSON.parse((await home.sluice(['sync', '-n', '--json'])).stdout);
    expect(json).toMatchObject({ exit_code: 0, jobs: [{ job: 'orders', rows: 2, bytes: 16, format: 'csv' }] });
  });

  it('with --json, always prints a document that contains the exit code', async () => {
    const world = await makeWorld();
    const { home, config } = await setUp(world, world.instances.csv);
    const documentOf = async (...args: string[]) => {
      const { code, stdout } = await home.sluice(['sync', '--json', ...args]);
      const document = JSON.parse(stdout) as Record<string, unknown>;
      expect(document.exit_code).toBe(code);
      return document;
    };
    expect(await documentOf('nowhere')).toEqual({
      exit_code: 2,
      jobs: [],
      refused: [],
      faults: [],
      problem: {
        code: 'CLI_UNKNOWN_JOB',
        family: 'config',
        message: expect.any(String),
        where: expect.any(Object),
        seen: 'nowhere',
        allowed: 'orders',
      },
    });
    const gone = { problem: { code: 'CONFIG_UNUSABLE' }, faults: [{ code: 'CONFIG_UNREADABLE' }] };
    expect(await documentOf('--config', join(home.folder, 'gone.yaml'))).toMatchObject(gone);
    await home.config(config({ jobs: { ...config().jobs, bad: { source: 'nowhere' } } }));
    const named = await documentOf('bad');
    expect(named).toMatchObject({ problem: { code: 'CONFIG_JOB_REFUSED' } });
    expect(named.faults).toContainEqual(expect.objectContaining({ code: 'CONFIG_UNKNOWN_SOURCE', family: 'config' }));
    await home.write('rows.csv', 'id,name\n1,"a\n');
    const dry = await documentOf('--dry-run');
    expect(dry).toMatchObject({ exit_code: 2, refused: ['bad'] });
    expect(dry.jobs).toEqual([
      expect.objectContaining({ problem: expect.objectContaining({ family: 'job', where: expect.any(Object) }) }),
    ]);
    await writeFile(join(home.folder, 'state'), 'no folder');
    expect(await documentOf('orders')).toMatchObject({ jobs: [], problem: { code: expect.any(String) } });
  });

  it("and later commands show times in the config's time zone, with its UTC offset", async () => {
    const world = await makeWorld();
    const { home, config } = await setUp(world, world.instances.csv);
    await home.config(config({ timezone: 'Asia/Kolkata' }));
    await home.sync();
    for (const command of [['status'], ['explain', 'orders'], ['history'], ['health']]) {
      const { stdout } = await home.sluice(command);
      expect([command, stdout]).toEqual([command, expect.not.stringMatching(/\d:\d\d(:\d\d)?(\.\d+)?Z/)]);
      if (command[0] !== 'health') expect(stdout).toMatch(/\d\d:\d\d:\d\d\+05:30/);
    }
    const { stdout } = await home.sluice(['history', '--json']);
    expect(stdout).toMatch(/"started_at": "[^"]*Z"/);
  });

  it('prints state changes as plain lines, followed by a table, if its output is piped', async () => {
    const world = await makeWorld();
    const { home } = await setUp(world, world.instances.csv);
    const ended = await home.sluice(['sync']);
    withoutEscapes(ended);
    expect(ended.stderr.split('\n').map((line) => line.slice(22, 41).trim())).toEqual([
      'reading',
      'ready to send',
      'sending',
      'delivered',
      '',
    ]);
    expect(ended.stdout).toMatch(/^orders +2 +16 B +1 .* delivered$/m);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('on %s during a hanging upload, exits with %i and leaves the payload owed', async (signal, code) => {
    const world = await makeWorld();
    const { home, config } = await setUp(world, world.instances.csv);
    let uploads = 0;
    const silent = createServer((request) => void request.resume().on('end', () => uploads++)).listen(0, '127.0.0.1');
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    await until('the silent server to listen', () => silent.listening);
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/api/1.0`;
    await home.config(config({ destinations: { main: { url, api_key: adminKey } } }));
    const sync = home.start(['sync']);
    await until('the upload to hang', () => uploads > 0);
    sync.child.kill(signal);
    expect(await sync.ended).toMatchObject({ code, signal: null });
    expect(home.state().outbox).toMatchObject([{ state: 'owed' }]);
  });

  it('exits with the code of the most severe problem: 2, then 3, then 1', async () => {
    const world = await makeWorld();
    const { home, config } = await setUp(world, world.instances.csv);
    const lost = { source: 'files', query: 'gone.csv', format: 'csv', target: world.instances.json };
    const { orders } = config().jobs;
    const refused = { url: world.url, api_key: 'f'.repeat(40) };
    const main = config().destinations.main;
    await home.config(config({ jobs: { orders, lost } }));
    expect((await home.sluice(['sync'])).code).toBe(1);
    const bad = { ...orders, destination: 'bad', target: world.instances.xml };
    const destinations = { main, bad: refused };
    const jobs = { orders: { ...orders, destination: 'main' }, lost: { ...lost, destination: 'main' }, bad };
    await home.config(config({ destinations, jobs }));
    expect((await home.sluice(['sync'])).code).toBe(3);
    await home.config(config({ destinations, jobs: { ...jobs, wrong: { source: 'nowhere' } } }));
    expect((await home.sluice(['sync'])).code).toBe(2);
  });

  it('exits with 2 and a suggestion for an unknown job or flag', async () => {
    const { home } = await setUp(await makeWorld(), '0'.repeat(32));
    const job = await home.sluice(['sync', 'oders']);
    expect(job.code).toBe(2);
    expect(job.stderr).toContain('did you mean "orders"?');
    const flag = await home.sluice(['sync', '--dryrun']);
    expect(flag.code).toBe(2);
    expect(flag.stderr).toContain('--dry-run');
    const command = await sluice(['snyc']);
    expect(command.code).toBe(2);
    expect(command.stderr).toContain('sync');
    for (const args of [
      ['run', '--log', 'loud'],
      ['sync', '--wait', 'soon'],
    ]) {
      expect((await home.sluice(args)).code).toBe(2);
    }
  });
});

describe('sluice status', () => {
  it("doesn't create a state folder if nothing has run yet", async () => {
    const { home } = await setUp(await makeWorld(), '0'.repeat(32));
    const ended = await home.sluice(['status']);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/^orders +never ran/m);
    expect(existsSync(join(home.folder, 'state'))).toBe(false);
  });

  it('exits with 2 if a job has a config error, names that job, and shows the others', async () => {
    const { home, config } = await setUp(await makeWorld(), '0'.repeat(32));
    await home.config(config({ jobs: { ...config().jobs, wrong: { source: 'nowhere' } } }));
    const ended = await home.sluice(['status']);
    expect(ended.code).toBe(2);
    expect(ended.stdout).toMatch(/^orders +never ran/m);
    expect(ended.stderr).toContain('nowhere');
    const machines = await home.sluice(['status', '--json']);
    expect(machines.code).toBe(2);
    expect(JSON.parse(machines.stdout)).toMatchObject({ jobs: [{ job: 'orders' }], left_out: ['wrong'] });
  });

  it('reports what was delivered, what is owed, what failed and what is unused', async () => {
    const world = await makeWorld();
    const { home, config } = await setUp(world, world.instances.csv);
    const state = async () => JSON.parse((await home.sluice(['status', '--json'])).stdout);
    await home.sync();
    expect(await state()).toMatchObject({ jobs: [{ job: 'orders', state: 'delivered', owed: [] }] });
    await home.write('rows.csv', 'id,name\n');
    await home.sync();
    expect(await state()).toMatchObject({ jobs: [{ state: 'failed', last_run: { code: 'EMPTY_REFUSED' } }] });
    await home.write('rows.csv', 'id,name\n3,c\n');
    await home.config(config({ destinations: { main: { url: 'http://127.0.0.1:1/api/1.0', api_key: adminKey } } }));
    expect((await home.sync({ args: ['--wait', '0'] })).code).toBe(1);
    expect(await state()).toMatchObject({ jobs: [{ state: expect.stringMatching(/^owed/), owed: [{ rows: 1 }] }] });
    const { main: other } = config().destinations;
    await home.config(config({ destinations: { other } }));
    expect(await state()).toMatchObject({
      stranded: [{ job: 'orders', destination: 'main', deliverable: false, payloads: 1 }],
    });
    expect((await home.sluice(['status'])).stdout).toContain('job orders has 1 unsent payload for destination main');
  });

  it('exits if the reader of its output closes the pipe', async () => {
    const { home } = await setUp(await makeWorld(), '0'.repeat(32));
    const child = spawn(
      'sh',
      [
        '-c',
        `{ "$0" "$1" status --config "$2"; echo "code $?" >&2; } | true`,
        process.execPath,
        door,
        join(home.folder, 'sluice.yaml'),
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let stderr = '';
    child.stderr.on('data', (piece) => {
      stderr += piece;
    });
    await new Promise((resolve) => child.on('close', resolve));
    expect(stderr).toBe('code 0\n');
  });
});
