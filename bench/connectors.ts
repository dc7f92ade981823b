import { spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { countText } from '../src/cli/output/format.ts';
import { renderTable } from '../src/cli/output/table.ts';
import { makeCertificates } from '../test/servers/certificates.ts';
import { startProftpd } from '../test/servers/proftpd.ts';
import { writeForms } from './connectors-data.ts';
import { type Cost, measure, median } from './measure.ts';

/**
 * `npm run bench:connectors -- [--rows 1000000] [--runs 3] [--only TEXT] [--json]`: measures rows per second, CPU and
 * peak memory of the readers for files, HTTP and file servers, and compares them with the best libraries and with tools
 * that only copy bytes. Each reader runs in its own process, and the process's startup time is included. All readers
 * that convert cells to text must report the same number of characters.
 */
const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    runs: { type: 'string', default: '3' },
    only: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
  },
});
const rows = Number(options.rows);

interface Reader {
  readonly what: string;
  readonly command: string;
  /**
   * Whether the reader counts only rows, or rows and characters. All readers of a format must report the same counts.
   */
  readonly counts?: 'rows' | 'texts';
  readonly file: string;
}

const child = `"${process.execPath}" "${new URL('connectors-child.ts', import.meta.url).pathname}"`;
const quoted = (value: object): string => `'${JSON.stringify(value)}'`;

function ours(given: { what: string; id: string; source: object; query: object; file: string }): Reader[] {
  const { what, id, source, query, file } = given;
  const command = `${child} ours ${id} ${quoted(source)} ${quoted(query)}`;
  return [
    { what, command, counts: 'rows', file },
    { what: `${what}, every cell a string`, command: `${command} touch`, counts: 'texts', file },
  ];
}

interface Places {
  readonly folder: string;
  readonly web: string;
  readonly ftp: Awaited<ReturnType<typeof startProftpd>>;
}

function readersOf({ folder, web, ftp }: Places): Reader[] {
  const at = (form: string): string => join(folder, `orders.${form}`);
  const peer = (name: string, form: string): Reader => ({
    what: name,
    command: `${child} '${name}' '${at(form)}'`,
    counts: 'texts',
    file: at(form),
  });
  const bare = (what: string, command: string, form: string): Reader => ({ what, command, file: at(form) });
  const local = (form: string): Reader[] =>
    ours({ what: `file ${form}`, id: 'file', source: { folder }, query: { path: `orders.${form}` }, file: at(form) });
  const rest = (form: string): Reader[] => [
    bare(`curl ${form} | wc -c`, `curl -sS '${web}/orders.${form}' | wc -c`, form),
    ...ours({
      what: `simple_rest ${form}`,
      id: 'simple_rest',
      source: { url: web },
      query: { path: `/orders.${form}` },
      file: at(form),
    }),
  ];
  const { host, port, user, password } = ftp;
  const login = { host, port, user, password, protocol: 'ftps', tls: { mode: 'encrypt' } };
  return [
    bare('cat csv | wc -c', `cat '${at('csv')}' | wc -c`, 'csv'),
    ...local('csv'),
    peer('csv-parse', 'csv'),
    peer('papaparse', 'csv'),
    ...local('json'),
    peer('JSON.parse of the whole', 'json'),
    ...local('jsonl'),
    peer('readline and JSON.parse', 'jsonl'),
    ...local('xml'),
    peer('saxes alone', 'xml'),
    ...rest('csv'),
    ...rest('json'),
    bare(
      'curl FTPS csv | wc -c',
      `curl -sS -k --ssl-reqd -u ${user}:${password} 'ftp://${host}:${port}/orders.csv' | wc -c`,
      'csv',
    ),
    ...ours({
      what: 'ftp csv (FTPS)',
      id: 'ftp',
      source: login,
      query: { path: 'orders.csv', settle_seconds: 0 },
      file: at('csv'),
    }),
  ];
}

/**
 * The row and character counts that the child processes printed. All readers of the same file must report the same
 * counts.
 */
const characters = new Map<string, number>();
function assertWhole({ what, counts, file }: Reader, { said }: Cost): void {
  if (counts === undefined) return;
  const count = JSON.parse(said) as { rows: number; characters: number };
  if (count.rows !== rows) throw new Error(`${what} read ${count.rows} rows instead of ${rows}`);
  if (counts === 'rows') return;
  const known = characters.get(file) ?? count.characters;
  characters.set(file, known);
  if (known !== count.characters) throw new Error(`${what} read ${count.characters} characters, others ${known}`);
}

async function startWeb(folder: string): Promise<{ url: string; stop: () => void }> {
  const script = `const s=require('node:http').createServer((q,r)=>{r.setHeader('content-type',q.url.endsWith('json')?'application/json':'text/csv');require('node:fs').createReadStream(process.argv[1]+q.url,{highWaterMark:1<<18}).pipe(r)}).listen(0,'127.0.0.1',()=>console.log(s.address().port))`;
  const server = spawn(process.execPath, ['-e', script, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<string>((resolve) =>
    server.stdout.once('data', (text) => resolve(String(text).trim())),
  );
  return { url: `http://127.0.0.1:${port}`, stop: () => server.kill() };
}

async function measureAll(readers: readonly Reader[]): Promise<Map<Reader, Cost>> {
  const costs = new Map<Reader, Cost[]>(readers.map((reader) => [reader, []]));
  for (let run = 0; run < Number(options.runs); run++) {
    for (const reader of readers) {
      const cost = await measure(reader.command);
      assertWhole(reader, cost);
      costs.get(reader)!.push(cost);
      process.stderr.write(`${reader.what}: ${cost.wall.toFixed(2)} s\n`);
    }
  }
  return new Map([...costs].map(([reader, all]) => [reader, median(all)]));
}

const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-connectors-'));
const { key, cert } = await makeCertificates(['IP:127.0.0.1']);
const ftp = await startProftpd({ tls: { key, cert } });
const web = await startWeb(folder);
try {
  await writeForms(folder, rows);
  await copyFile(join(folder, 'orders.csv'), join(ftp.files, 'orders.csv'));
  const readers = readersOf({ folder, web: web.url, ftp }).filter(({ what }) => what.includes(options.only));
  const lines = [];
  for (const [{ what, file }, { wall, cpu, peakMb }] of await measureAll(readers)) {
    const megabytes = (await stat(file)).size / 1e6;
    lines.push({ what, wall, cpu, peakMb, rowsPerSecond: rows / wall, megabytesPerSecond: megabytes / wall });
  }
  const head = `${countText(rows)} rows, medians of ${options.runs}, Node ${process.version}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}`;
  const right = { align: 'right' as const };
  const titles = ['reader', 'rows/s', 'MB/s', 'wall s', 'CPU s', 'peak MB'];
  const columns = titles.map((title, c) => (c === 0 ? { title } : { title, ...right }));
  const cells = lines.map((line) => [
    line.what,
    countText(Math.round(line.rowsPerSecond)),
    line.megabytesPerSecond.toFixed(0),
    line.wall.toFixed(2),
    line.cpu.toFixed(2),
    line.peakMb.toFixed(0),
  ]);
  process.stdout.write(
    options.json ? `${JSON.stringify({ head, lines })}\n` : `\n${head}\n\n${renderTable(columns, cells)}\n`,
  );
} finally {
  web.stop();
  await ftp.stop();
  await rm(folder, { recursive: true, force: true });
}
