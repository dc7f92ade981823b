import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { bytesText, countText } from '../src/cli/output/format.ts';
import { renderTable } from '../src/cli/output/table.ts';
import { startMariadb } from '../test/servers/mariadb.ts';
import { startPostgres } from '../test/servers/postgres.ts';
import type { TestServer } from '../test/servers/server.ts';
import { type Case, casesFor, configFor, isSmall, jobOf, largestPayloadRows, smallJob } from './cases.ts';
import { fillMariadb, fillPostgres, shell } from './data.ts';
import { installPackage } from './install-package.ts';
import { type Cost, measure, median } from './measure.ts';
import { verifyRows } from './verify.ts';
import { startWarm } from './warm.ts';

/**
 * `npm run bench -- [--rows 95000] [--runs 5] [--only TEXT]`: sends a table to a loopback receiver, alternately with
 * Sluice and with a shell pipeline. The default table makes the largest payload that the service accepts. A million or
 * ten million rows show how Sluice scales. Sluice is measured twice: first as `sluice sync` of the built package, which
 * includes process start, config, extract, encode, spool with hash and fsync, outbox, PUT and receipt; then as the same
 * run in a process that is already running.
 */
interface Options {
  readonly rows: number;
  readonly runs: number;
  readonly only: string;
}

interface Bench {
  readonly folder: string;
  readonly options: Options;
  readonly pg: TestServer;
  readonly maria: TestServer;
  /** Path of the installed package's `sluice` command. */
  readonly sluice: string;
}

interface Sink {
  readonly url: string;
  /** Size and hash of the last body, as `<bytes> <sha256>`. */
  last(): Promise<string>;
  stop(): void;
}

function readOptions(): Options {
  const given = new Map<string, string>();
  for (let i = 2; i < process.argv.length; i += 2) given.set(process.argv[i]!, process.argv[i + 1] ?? '');
  return {
    rows: Number(given.get('--rows') ?? largestPayloadRows),
    runs: Number(given.get('--runs') ?? 5),
    only: given.get('--only') ?? '',
  };
}

async function startSink(folder: string, keep?: string): Promise<Sink> {
  const ready = join(folder, `sink-${Math.random().toString(36).slice(2)}`);
  const last = `${ready}.last`;
  const script = new URL('sink.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [script, ready, last, ...(keep === undefined ? [] : [keep])], {
    stdio: 'inherit',
  });
  const port = await readWritten(ready);
  return { url: `http://127.0.0.1:${port}/api/1.0`, last: () => readWritten(last), stop: () => child.kill() };
}

/** Waits for a file that another process writes, and returns its text. */
async function readWritten(file: string): Promise<string> {
  for (;;) {
    const text = existsSync(file) ? await readFile(file, 'utf8') : '';
    if (text !== '') return text;
    await wait(10);
  }
}

async function writeConfig(bench: Bench, cases: readonly Case[], sink: Sink): Promise<string> {
  const file = join(bench.folder, `config-${sink.url.replace(/\D/g, '')}.json`);
  await writeFile(file, configFor({ ...bench, cases, sink: sink.url }));
  return file;
}

const ours = ({ sluice }: Bench, one: Case, config: string): string =>
  `"${process.execPath}" "${sluice}" sync ${jobOf(one)} --config "${config}" --json >/dev/null`;

/** Runs Sluice once, compares the body with the reference, and returns the body's size and hash. */
async function verify(bench: Bench, one: Case): Promise<string> {
  const file = join(bench.folder, 'kept');
  const reference = join(bench.folder, `reference-${one.source}.csv`);
  const sink = await startSink(bench.folder, file);
  try {
    await measure(ours(bench, one, await writeConfig(bench, [one], sink)));
    await verifyRows({ file, format: one.format }, reference, one.transformed);
    return await sink.last();
  } finally {
    sink.stop();
    await rm(file, { force: true });
  }
}

async function writeReferences({ folder, pg }: Bench): Promise<void> {
  const select = `select id, customer, country, amount, to_char(created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') created_at, note from orders`;
  const write = (rows: string, file: string): Promise<string> =>
    shell(
      `psql -q "${pg.url}" -c "\\copy (${select} ${rows}) to stdout with (format csv, header, null '\\N')" > ${folder}/${file}`,
      '',
    );
  await write('order by id', 'reference-pg.csv');
  await write(`where note is not null order by id limit ${smallJob.rows}`, smallJob.file);
  await shell(`cd ${folder}; cp reference-pg.csv reference-maria.csv; cp ${smallJob.file} reference-file.csv`, '');
}

/** The median runs. */
interface Result {
  readonly pipe: Cost;
  readonly ours: Cost;
  /** Runs the same job in a process that is already running, like the daemon. */
  readonly warm: Cost;
}

/**
 * Number of warm-up rounds. While a benchmark checks rows, a virtual machine may return free memory to its host, and
 * the next process may wait half a second to get that memory back.
 */
const uncounted = 2;

/**
 * Pause after each round of a small job. Faster rounds would exceed five requests per second, so the measured times
 * would include waits for the rate limit.
 */
const pauseMs = 500;

/**
 * Runs one case, alternating between pipeline, sync and daemon, so that any other load on the machine affects all
 * three.
 */
async function runCase(bench: Bench, one: Case, right: string): Promise<Result> {
  const sink = await startSink(bench.folder);
  try {
    const config = await writeConfig(bench, [one], sink);
    const costs = { pipe: [] as Cost[], ours: [] as Cost[], warm: [] as Cost[] };
    const warm = await startWarm(config, jobOf(one));
    for (let run = 0; run < uncounted + bench.options.runs; run++) {
      costs.pipe.push(await measure(one.pipe, { SINK: `${sink.url}/datasource-instances/pipe/data` }));
      const piped = await sink.last();
      const expected = one.sends ? right : piped;
      costs.ours.push(await measure(ours(bench, one, config)));
      await assertRight(sink, { one, right: expected });
      costs.warm.push(await warm.run());
      await assertRight(sink, { one, right: expected });
      if (isSmall(one)) await wait(pauseMs);
    }
    warm.stop();
    const middle = (all: readonly Cost[]): Cost => median(all.slice(uncounted));
    return { pipe: middle(costs.pipe), ours: middle(costs.ours), warm: middle(costs.warm) };
  } finally {
    sink.stop();
  }
}

/** Throws if a run sent content that differs from the verified body. */
async function assertRight(sink: Sink, { one, right }: { one: Case; right: string }): Promise<void> {
  if ((await sink.last()) !== right) throw new Error(`${one.name}: the bytes differ from the verified ones`);
}

function verdict(one: Case, { wall }: Cost, pipe: Cost): string {
  const [aim, floor] = one.limits;
  const figure = isSmall(one) ? wall : wall / pipe.wall;
  if (figure <= aim) return 'goal met';
  return figure <= floor ? `goal ${aim} missed` : `LIMIT ${floor} EXCEEDED`;
}

function rowOf(one: Case, cost: Result): string[] {
  const seconds = (value: number): string => value.toFixed(isSmall(one) ? 3 : 2);
  const against = (own: Cost): string[] => [
    seconds(own.wall),
    (own.wall / cost.pipe.wall).toFixed(2),
    verdict(one, own, cost.pipe),
  ];
  return [
    one.name,
    seconds(cost.pipe.wall),
    ...against(cost.ours),
    ...against(cost.warm),
    `${seconds(cost.pipe.cpu)} / ${seconds(cost.ours.cpu)} / ${seconds(cost.warm.cpu)}`,
    `${cost.pipe.peakMb.toFixed(0)} / ${cost.ours.peakMb.toFixed(0)} / ${cost.warm.peakMb.toFixed(0)}`,
  ];
}

async function runAll(bench: Bench): Promise<string[][]> {
  await fillPostgres(bench.pg, bench.options.rows);
  await fillMariadb(bench.pg, bench.maria);
  await writeReferences(bench);
  const table: string[][] = [];
  for (const one of casesFor({ ...bench, ...bench.options }).filter(({ name }) => name.includes(bench.options.only))) {
    const right = await verify(bench, one);
    process.stderr.write(
      `${one.name}: ${countText(bench.options.rows)} rows checked, ${bytesText(Number(right.split(' ')[0]))}\n`,
    );
    const row = rowOf(one, await runCase(bench, one, right));
    process.stderr.write(`  ${row.slice(1).join('  ')}\n`);
    table.push(row);
  }
  return table;
}

const options = readOptions();
const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
const pg = await startPostgres();
const maria = await startMariadb({ settings: { local_infile: 1 } });
try {
  const table = await runAll({ folder, options, pg, maria, sluice: await installPackage(folder) });
  const right = { align: 'right' as const };
  const titles = [
    'case',
    'pipe s',
    'sync s',
    'ratio',
    'verdict',
    'daemon s',
    'ratio',
    'verdict',
    'cpu s pipe / sync / daemon',
    'peak MB',
  ];
  const columns = titles.map((title, c) => (c === 0 || c === 4 || c === 7 ? { title } : { title, ...right }));
  process.stdout.write(
    `\n${countText(options.rows)} rows, medians of ${options.runs}, Node ${process.version}, ${cpus().length} cores, load ${loadavg()[0]!.toFixed(1)}\n\n${renderTable(columns, table)}\n`,
  );
} finally {
  await Promise.all([pg.stop(), maria.stop()]);
  await rm(folder, { recursive: true, force: true });
}
