import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { bytesText, countText } from '../src/cli/output/format.ts';
import { renderTable } from '../src/cli/output/table.ts';
import { startPostgres } from '../test/servers/postgres.ts';
import type { TestServer } from '../test/servers/server.ts';
import { fillPostgres, orderColumns, shell } from './data.ts';
import { type Cost, measure, median } from './measure.ts';

/**
 * `npm run bench:kept [-- --rows 1000000 --changed 10000 --runs 5]`: compares a job that keeps its rows and reads only
 * changes with a job that reads all rows in every run. Both jobs must send identical payloads.
 */
const given = new Map<string, string>();
for (let i = 2; i < process.argv.length; i += 2) given.set(process.argv[i]!, process.argv[i + 1] ?? '');
const rows = Number(given.get('--rows') ?? 1_000_000);
const changed = Number(given.get('--changed') ?? 10_000);
const runs = Number(given.get('--runs') ?? 5);

const sluice = new URL('../src/cli/sluice.js', import.meta.url).pathname;
const columns = orderColumns.join(', ');

interface Sink {
  readonly url: string;
  /** Size and hash of the last body, as `<bytes> <sha256>`. */
  last(): Promise<string>;
  stop(): void;
}

async function startSink(folder: string): Promise<Sink> {
  const [ready, last] = [join(folder, 'sink'), join(folder, 'sink.last')];
  const child = spawn(process.execPath, [new URL('sink.ts', import.meta.url).pathname, ready, last], {
    stdio: 'inherit',
  });
  const read = async (file: string): Promise<string> => {
    while (!existsSync(file) || (await readFile(file, 'utf8')) === '') await wait(10);
    return readFile(file, 'utf8');
  };
  const url = `http://127.0.0.1:${await read(ready)}/api/1.0`;
  return { url, last: () => read(last), stop: () => child.kill() };
}

async function writeConfig(folder: string, { pg, sink }: { pg: TestServer; sink: Sink }): Promise<string> {
  const file = join(folder, 'sluice.json');
  const job = { source: 'pg', format: 'csv' };
  const destination = { url: sink.url, api_key: 'bench', requests_per_day: 100_000, upload_limit_bytes: 1e11 };
  const query = { sql: `select ${columns} from orders`, cursor: 'created_at' };
  const jobs = {
    all: { ...job, query: `select ${columns} from orders order by id`, target: 'all', always: true },
    kept: { ...job, query, write: { disposition: 'merge', key: 'id' }, target: 'kept' },
  };
  const sources = { pg: { connector: 'db', driver: 'postgres', url: pg.url } };
  await writeFile(
    file,
    JSON.stringify({ version: 1, state: './state', destinations: { sink: destination }, sources, jobs }),
  );
  return file;
}

const psql = (pg: TestServer, sql: string): Promise<string> => shell(`psql -q -v ON_ERROR_STOP=1 "${pg.url}"`, sql);

async function run(folder: string, pg: TestServer, sink: Sink): Promise<void> {
  const config = await writeConfig(folder, { pg, sink });
  const sync = (job: string): Promise<Cost> =>
    measure(`"${process.execPath}" "${sluice}" sync ${job} --config "${config}" --json >/dev/null`);
  await fillPostgres(pg, rows);
  await psql(pg, 'create index on orders (created_at)');
  const costs = { all: [] as Cost[], kept: [] as Cost[], same: [] as Cost[] };
  const first = await sync('kept');
  for (let i = 0; i < runs; i++) {
    await psql(
      pg,
      `update orders set amount = amount + 1, created_at = timestamptz '2026-06-01 00:00Z' + ${i} * interval '1 hour' + id * interval '1 microsecond'
       where id % ${Math.round(rows / changed)} = ${i}; vacuum orders`,
    );
    costs.all.push(await sync('all'));
    const right = await sink.last();
    costs.kept.push(await sync('kept'));
    if ((await sink.last()) !== right) throw new Error('the kept rows differ from the table');
    costs.same.push(await sync('kept'));
  }
  const line = (name: string, { wall, cpu, peakMb }: Cost): string[] => [
    name,
    wall.toFixed(2),
    cpu.toFixed(2),
    peakMb.toFixed(0),
  ];
  const table = [
    line('all rows read, all sent', median(costs.all)),
    line('the first run of a job that keeps them', first),
    line(`${countText(changed)} changed read, all sent`, median(costs.kept)),
    line('nothing changed, nothing sent', median(costs.same)),
  ];
  const right = { align: 'right' as const };
  const titles = [
    { title: 'sync' },
    { title: 's', ...right },
    { title: 'CPU s', ...right },
    { title: 'peak MB', ...right },
  ];
  const size = bytesText(Number((await sink.last()).split(' ')[0]));
  process.stdout.write(
    `${countText(rows)} rows, ${size} of csv, medians of ${runs}, load ${loadavg()[0]!.toFixed(1)}\n\n${renderTable(titles, table)}\n`,
  );
}

const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
const pg = await startPostgres();
const sink = await startSink(folder);
try {
  await run(folder, pg, sink);
} finally {
  sink.stop();
  await pg.stop();
  await rm(folder, { recursive: true, force: true });
}
