import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { SqliteDatabase } from '../../src/lib/sqlite.ts';
import { makeFolder } from '../journey/process.ts';
import { adminKey, type World } from '../journey/world.ts';
import { freePort } from '../servers/free-port.ts';
import { type CommandBlock, root } from './command-lines.ts';

/** The result of a command. */
export interface Typed {
  readonly place: string;
  /** The command's exit code; undefined if it was recorded instead of run. */
  readonly code: number | undefined;
  readonly words: readonly string[];
}

export interface Walk {
  readonly typed: readonly Typed[];
  /** All output, which shows why a command failed. On a terminal, titles separate the page's blocks. */
  readonly output: string;
  /** Whether the shell reached the end of the page. */
  readonly isWhole: boolean;
  /** Where the commands ran; it exists until the test ends. */
  readonly folder: string;
}

/** Small programs that every Debian has and that a page can use unchanged. */
const tools = ['cat', 'cp', 'curl', 'date', 'find', 'mkdir', 'mkfifo', 'openssl', 'rm', 'sed'];

/** Names on a page that are replaced here: the reader's addresses, ports and folders, and commands that take long. */
async function replacements(world: World): Promise<[string, string][]> {
  const free = await freePort();
  return [
    ['http://127.0.0.1:8080/api/1.0', world.url],
    ['http://127.0.0.1:9464', `http://127.0.0.1:${free}`],
    ['--monitor 9464', `--monitor ${free}`],
    ['127.0.0.1:4317', '127.0.0.1:9'],
    ['127.0.0.1:4318', '127.0.0.1:9'],
    ['/etc/sluice', '$PWD/etc'],
    ['/backups', '$PWD/backups'],
    ['SLUICE_API_KEY=...', `SLUICE_API_KEY=${adminKey}`],
    ['timeout_ms=30000', 'timeout_ms=1'],
    // A process for each day takes long.
    ['--to 2026-02-01', '--to 2026-01-04'],
  ];
}

/** A folder with everything that the pages assume: a shop's database and files, a config, a key. */
async function makeMachine(world: World, { keeps }: { readonly keeps: boolean }): Promise<string> {
  const folder = await makeFolder();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const tool of tools) symlinkSync(`/usr/bin/${tool}`, join(bin, tool));
  const db = new SqliteDatabase(join(folder, 'shop.db'));
  db.exec(`create table orders (id integer primary key, customer text, amount decimal, created_at datetime);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 200)
    insert into orders select i, 'customer ' || i, i || '.50', datetime('2026-01-01', '+' || (i * 5) || ' hours') || 'Z' from n`);
  db.close();
  const config = {
    version: 1,
    destinations: { main: { url: world.url, api_key: `\${env:SLUICE_API_KEY}` } },
    sources: {
      shop: { connector: 'db', driver: 'sqlite', file: join(folder, 'shop.db') },
      files: { connector: 'file', folder },
    },
    jobs: {
      orders: {
        source: 'shop',
        query: {
          sql: 'select id, customer, amount, created_at from orders',
          ...(keeps ? { cursor: 'created_at' } : {}),
        },
        ...(keeps ? { write: { disposition: 'merge', key: ['id'] } } : {}),
        guards: { row_change: { down: '50%', from: 1 } },
        target: { datasource: { name: `Orders ${folder}`, format: 'csv' } },
        schedule: '0 6 * * *',
      },
    },
  };
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify(config));
  writeFileSync(join(folder, 'orders.csv'), 'id,amount\n1,2.50\n');
  for (const name of ['fixtures.yaml', 'more.yaml', 'other.yaml']) {
    const users = [{ email: 'ann@acme.test', role: 'Admin', api_keys: [adminKey] }];
    writeFileSync(join(folder, name), JSON.stringify({ companies: [{ name: 'Acme', plan: 'grow', users }] }));
  }
  const register = join(folder, 'global/@opentelemetry/auto-instrumentations-node/build/src');
  mkdirSync(register, { recursive: true });
  writeFileSync(join(register, 'register.js'), '');
  return folder;
}

export interface Script {
  readonly blocks: readonly CommandBlock[];
  /** Lines to run before a line on the page that contains this text; they must succeed. */
  readonly before?: Readonly<Record<string, string>>;
  /** The job keeps its rows. */
  readonly keeps?: boolean;
  /** Runs the commands on a terminal, at fixed times, and includes them in the output. */
  readonly terminal?: boolean;
}

/** Runs all blocks in one shell, one after another, in a separate folder. */
export async function typeAll(
  world: World,
  { blocks, before = {}, keeps = false, terminal = false }: Script,
): Promise<Walk> {
  const folder = await makeMachine(world, { keeps });
  const swaps = new Map(await replacements(world));
  // In one pass, because the port in an inserted address may begin with digits that are replaced too.
  const names = new RegExp([...swaps.keys()].map(RegExp.escape).join('|'), 'g');
  const known = (text: string): string => text.replaceAll(names, (name) => swaps.get(name)!);
  const prepared = (line: string, place: string): string[] => {
    const lines = Object.entries(before).flatMap(([mark, text]) => (line.includes(mark) ? [text] : []));
    const own = lines.length === 0 ? [] : [`at 'before ${place}'`, ...lines, `at '${place}'`];
    const shown = terminal && line !== '' ? [`show '${line.replaceAll("'", "'\\''")}'`] : [];
    return [...own.map(known), ...shown, known(line)];
  };
  const parts = blocks.flatMap(({ place, text }) => [
    `at '${place}'`,
    ...text.split('\n').flatMap((line) => prepared(line, place)),
  ]);
  const script = [readFileSync(join(import.meta.dirname, 'machine.sh'), 'utf8'), ...parts, 'at end', 'record 0 end'];
  const file = join(folder, 'page.sh');
  writeFileSync(file, script.join('\n'));
  const record = join(folder, 'record');
  writeFileSync(record, '');
  const output = await bash(
    terminal ? ['/usr/bin/script', '-qefc', `exec /bin/bash ${file}`, '/dev/null'] : ['/bin/bash', file],
    {
      cwd: folder,
      stdio: [terminal ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      env: {
        HOME: folder,
        TMPDIR: folder,
        PATH: join(folder, 'bin'),
        NODE: process.execPath,
        DOOR: inject('door'),
        TOOLS: import.meta.dirname,
        XDG_CACHE_HOME: join(root, 'node_modules/.cache'),
        ...(terminal ? { TERM: 'xterm-256color', TZ: 'UTC' } : { NO_COLOR: '1' }),
        RECORD: record,
        SLUICE_API_KEY: adminKey,
        KEY: adminKey,
        SERVICE: world.url,
        ID: world.instances.csv,
      },
    },
  );
  const typed = readFileSync(record, 'utf8').split('\n').slice(0, -1).map(typedOf);
  return {
    typed: typed.filter(({ place }) => place !== 'end'),
    output,
    isWhole: typed.at(-1)?.place === 'end',
    folder,
  };
}

function typedOf(line: string): Typed {
  const [place = '', code = '', words = ''] = line.split('\t');
  return { place, code: code === '-' ? undefined : Number(code), words: unquoted(words) };
}

/** The words after `printf %q`. */
function unquoted(text: string): string[] {
  const words = [...text.matchAll(/(?:\$'(?:\\.|[^'])*'|\\.|[^\s\\])+|''/gs)].map(([word]) => word);
  return words.map((word) => (word === "''" ? '' : word.replaceAll(/^\$'|'$/g, '').replaceAll(/\\(.)/gs, '$1')));
}

/** A command asks, or a server is ready. */
const waitsForEnter = /\[y\/N\] |daemon\.started|service is listening\. Press/g;

/** Runs a shell and presses Enter whenever its terminal waits for it. */
function bash(
  [program = '', ...words]: readonly string[],
  how: {
    readonly cwd: string;
    readonly env: NodeJS.ProcessEnv;
    readonly stdio: [input: 'pipe' | 'ignore', 'pipe', 'pipe'];
  },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const shell = spawn(program, words, how);
    let output = '';
    let entered = 0;
    for (const stream of [shell.stdout!, shell.stderr!]) {
      stream.setEncoding('utf8').on('data', (piece: string) => {
        output += piece;
        const due = [...output.matchAll(waitsForEnter)].length;
        for (; entered < due; entered++) shell.stdin?.write('\n');
      });
    }
    shell.on('error', reject).on('close', () => resolve(output));
  });
}
