import { readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder, start } from '../journey/process.ts';

const sluice = (cwd: string, ...args: string[]) => start(['connectors', ...args], { cwd }).ended;

const plugin = (id: string) => `
import { defineConnector, option, Problem } from 'sluice/sdk';
export default defineConnector({
  id: '${id}', title: 'Mine', summary: 'Reads what is mine alone.',
  source: { shelf_label: option.text({ required: true, secret: true, about: 'Which shelf it is.', example: 'top' }) }, query: {},
  check: async () => { throw new Problem({ code: 'MINE_AWAY', family: 'try_later', message: 'no server is there' }); },
  extract: async () => { throw new Error('no'); },
});`;

/** A config that names a folder of connectors, one of them broken, and a package. */
async function setUp(): Promise<string> {
  const folder = await makeFolder();
  await mkdir(join(folder, 'own'));
  await mkdir(join(folder, 'node_modules/sluice-connector-packed'), { recursive: true });
  const manifest = { name: 'sluice-connector-packed', sluice: { connectors: { packed: './packed.mjs' } } };
  await writeFile(join(folder, 'own/mine.mjs'), plugin('mine'));
  await writeFile(join(folder, 'own/bad.mjs'), 'throw new Error("boom")');
  await writeFile(join(folder, 'node_modules/sluice-connector-packed/packed.mjs'), plugin('packed'));
  await writeFile(join(folder, 'node_modules/sluice-connector-packed/package.json'), JSON.stringify(manifest));
  const config = `
connectors: ./own
connector_packages: [sluice-connector-packed]
destinations: {main: {url: 'http://127.0.0.1:9/api/1.0', api_key: abcdefabcdef}}
sources: {shelf: {connector: mine, shelf_label: upper}, other: {connector: packed, shelf_label: lower}}
jobs: {books: {source: shelf, format: csv, target: ${'ab'.repeat(16)}}}
`;
  await writeFile(join(folder, 'sluice.yaml'), config);
  return folder;
}

describe('sluice connectors list', () => {
  it('shows the built-in connectors even without a config', async () => {
    const { code, stdout } = await sluice(await makeFolder(), 'list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^db +Reads .* sluice$/m);
    expect(stdout).toMatch(/^simple_rest +Reads .* sluice$/m);
  });

  it("also lists the connectors in the config's folder and packages, and names a broken one", async () => {
    const { code, stdout, stderr } = await sluice(await setUp(), 'list', '--json');
    const listed = JSON.parse(stdout) as { id: string; from: string; oauth: boolean; resumes: boolean }[];
    expect(listed.find(({ id }) => id === 'mine')).toMatchObject({ oauth: false, resumes: false, title: 'Mine' });
    expect(listed.find(({ id }) => id === 'mine')!.from).toMatch(/own$/);
    expect(listed.find(({ id }) => id === 'packed')!.from).toBe('sluice-connector-packed');
    expect(listed.find(({ id }) => id === 'db')!.from).toBe('sluice');
    expect(stderr).toContain('CONFIG_CONNECTOR_BROKEN: The "bad" connector cannot be used: boom');
    expect(code).toBe(2);
  });
});

describe("a connector that can't be loaded", () => {
  it('is reported with the file, line and column of the error, even if the error is in an imported file', async () => {
    const folder = await makeFolder();
    const faults = {
      'script.mjs': ['// first\nconst x = ;\n', 'script.mjs:2:11'],
      'typed.mts': ['const x: number = 1;\nlet = = 3;\n', 'typed.mts:2:7'],
      'untyped.ts': ['\n\nenum A { x }\n', 'untyped.ts:3:1'],
      'thrower.mts': ['type A = 1;\nthrow new Error("boom");\n', 'thrower.mts:2:7'],
      'importer.mts': ["import './_part.mts';\n", '_part.mts:3:12'],
      'absent.mjs': ['import { nope } from "node:fs";\n', 'absent.mjs:1:10'],
      'half.mjs': ["export default { id: 'half' };\n", 'half.mjs'],
      'defined.mjs': ["import { option } from 'sluice/sdk';\n\nexport default option.text();\n", 'defined.mjs:3:23'],
    };
    await mkdir(join(folder, 'own'));
    for (const [name, [text]] of Object.entries(faults)) await writeFile(join(folder, 'own', name), text!);
    await writeFile(join(folder, 'own/_part.mts'), 'export const y = 1;\n\nlet z = 1 +;\n');
    const places = Object.values(faults).map(([, place]) => `  where    ${join(folder, 'own')}/${place}`);
    await writeFile(join(folder, 'sluice.yaml'), 'connectors: ./own\n');
    const { stderr } = await sluice(folder, 'list', '--json');
    const told = stderr.split('\n').filter((line) => line.includes('/own/'));
    expect(told.sort()).toEqual(places.sort());
  });
});

describe('an external connector', () => {
  it('uses the SDK from the Sluice that runs it, even if nothing is installed next to it', async () => {
    const folder = await setUp();
    await writeFile(join(folder, 'own/bad.mjs'), plugin('bad'));
    const { stdout } = await start(['check', '--connect'], { cwd: folder }).ended;
    expect(stdout).toMatch(/MINE_AWAY: no server is there\n +where +source shelf\n/);
    expect(stdout).toMatch(/MINE_AWAY: no server is there\n +where +source other\n/);
  });
});

describe('sluice check --connect', () => {
  it('exits with 70 if a part of the installed package is missing, even if something else is also wrong', async () => {
    const folder = await setUp();
    const ours = new URL('../../src/sdk/records/archive.ts', import.meta.url).pathname;
    const program = { node: process.execPath, door: new URL('../../src/cli/sluice.js', import.meta.url).pathname };
    const gone = `Object.assign(new Error("Cannot find package 'yauzl' imported from ${ours}"), { code: 'ERR_MODULE_NOT_FOUND' })`;
    const broken = plugin('mine').replace(/throw new Problem\(.*?\); /, `throw ${gone}; `);
    await writeFile(join(folder, 'own/mine.mjs'), broken);
    await writeFile(join(folder, 'own/bad.mjs'), plugin('bad'));
    const { code, stdout } = await start(['check', '--connect'], { cwd: folder, program }).ended;
    expect(stdout).toContain('INSTALLATION_INCOMPLETE: The installation of Sluice is incomplete');
    expect(stdout).toContain('MINE_AWAY: no server is there');
    expect(code).toBe(70);
  });
});

describe('a run', () => {
  it('imports only the connectors that its sources use, even if the folder contains others', async () => {
    const folder = await setUp();
    await writeFile(
      join(folder, 'own/bad.mjs'),
      'process.stderr.write("imported although no source named it"); throw 1;',
    );
    const { stdout, stderr } = await start(['sync', '--dry-run'], { cwd: folder }).ended;
    expect(stdout).toContain('books');
    expect(stderr).not.toContain('imported although');
    expect(stderr).not.toContain('CONFIG_');
    expect((await start(['check'], { cwd: folder }).ended).stderr).toContain('imported although');
  });
});

describe('sluice connectors describe', () => {
  it('shows all source and query options, with defaults and examples, and says which are secret', async () => {
    const { code, stdout } = await sluice(await makeFolder(), 'describe', 'db');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^db: Database$/m);
    expect(stdout).toMatch(/^ {2}password: text\n.*\n +\[secret; such as /m);
    expect(stdout).toMatch(/^ {2}connections: .*\n.*\n +\[default 4\]$/m);
    expect(stdout).toMatch(/^ {2}sql: text\n.*\n +\[such as select /m);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThan(160);
  });

  it("prints the same information as JSON, and also describes the config's connectors", async () => {
    const { stdout } = await sluice(await setUp(), 'describe', 'mine', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      id: 'mine',
      source: [{ name: 'shelf_label', required: true, secret: true, values: 'text', example: 'top' }],
      query: [],
      limits: [],
    });
  });

  it("suggests the closest name for an unknown connector, and says why a broken one can't be described", async () => {
    const folder = await setUp();
    const unknown = await sluice(folder, 'describe', 'simple_rset');
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('did you mean "simple_rest"?') });
    const broken = await sluice(folder, 'describe', 'bad');
    expect(broken).toMatchObject({ code: 2, stderr: expect.stringContaining('CONFIG_CONNECTOR_BROKEN') });
  });
});

describe('sluice connectors scaffold', () => {
  it('writes a connector that passes all checks in Sluice and in a test runner, and can run a job', async () => {
    const folder = await makeFolder();
    const written = await sluice(folder, 'scaffold', 'help_desk');
    expect(written).toMatchObject({ code: 0, stderr: '' });
    const test = /^ {2}sluice connectors (test .*)$/m.exec(written.stdout)![1]!;
    const tested = await sluice(folder, ...test.split(' '));
    expect(tested.stdout).toContain('help_desk passes all checks');
    expect(tested).toMatchObject({ code: 0, stderr: '' });
    expect(tested.stdout.match(/^ {2}ok /gm)!.length).toBeGreaterThan(15);
    const config = `
connectors: ./my-connectors
destinations: {main: {url: 'http://127.0.0.1:9/api/1.0', api_key: abcdefabcdef}}
${/example: `([^`]*)`/.exec(await readFile(join(folder, 'my-connectors/help_desk.mts'), 'utf8'))![1]!.replace(/\\\$/, '$')}
    format: csv
    target: ${'ab'.repeat(16)}
`;
    await writeFile(join(folder, 'sluice.yaml'), config);
    const env = { HELP_DESK_TOKEN: 'some-token' };
    const checked = await start(['check'], { cwd: folder, env }).ended;
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining('1 job, no errors') });
  });

  it('keeps existing files, and rejects names that are taken or invalid', async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, 'desk.world.mts'), 'mine');
    const there = await sluice(folder, 'scaffold', 'desk', '--into', '.');
    expect(there).toMatchObject({ code: 2, stderr: expect.stringContaining('CONNECTOR_EXISTS') });
    for (const name of ['db', 'Desk', 'a-b', '../x']) {
      expect(await sluice(folder, 'scaffold', name)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('CONNECTOR_NAME'),
      });
    }
    expect(readdirSync(folder)).toEqual(['desk.world.mts']);
    await writeFile(join(folder, 'file'), '');
    expect(await sluice(folder, 'scaffold', 'desk', '--into', 'file/x')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('CONNECTOR_UNWRITABLE'),
    });
  });
});

describe('sluice connectors test', () => {
  it('reports every failed check, and exits with 1', async () => {
    const folder = await makeFolder();
    await sluice(folder, 'scaffold', 'desk', '--into', '.');
    const file = join(folder, 'desk.mts');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace("next = 'Make", "nothing = 'Make").replace('seen, next }', 'seen }'));
    const { code, stdout } = await sluice(folder, 'test', 'desk.mts');
    expect(code).toBe(1);
    expect(stdout).toMatch(/FAIL +reports wrong credentials .*\n +DESK_TOKEN does not say what to do next/);
    expect(stdout).toContain('desk fails 1 check');
  });

  it("exits with 2 if the world file is missing, or if a file can't be loaded as a connector", async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, 'mine.mjs'), plugin('mine'));
    const alone = await sluice(folder, 'test', 'mine.mjs');
    expect(alone).toMatchObject({ code: 2, stderr: expect.stringMatching(/CONNECTOR_WORLD.*\n.*mine\.world\.mjs/) });
    const gone = await sluice(folder, 'test', 'gone.mjs');
    expect(gone).toMatchObject({ code: 2, stderr: expect.stringMatching(/^CONNECTOR_FILE: No such file: \/.*gone/) });
    await writeFile(join(folder, 'desk.mjs'), '\nconst x = ;\n');
    const faulty = await sluice(folder, 'test', 'desk.mjs');
    expect(faulty).toMatchObject({ code: 2, stderr: expect.stringMatching(/where +\/.*\/desk\.mjs:2:11$/m) });
  });
});
