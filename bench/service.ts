import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { renderTable } from '../src/cli/output/table.ts';
import { measureMemory, measureStarts, type Peaks } from './service-process.ts';
import { listName, measureRates, type Rate } from './service-rates.ts';
import { measureUploads, type Upload } from './service-uploads.ts';
import { makeServiceWorld, type Person, people } from './service-world.ts';

/**
 * `npm run bench:service -- [--runs 5] [--seconds 1] [--json]`: compares the embedded service with the fastest possible
 * servers on the same machine. Each server runs in its own process; this process is the client.
 */
const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
});

/** A measurement and its reference. A ratio of 1 means that both are equally fast; a larger ratio is better. */
interface Line {
  readonly what: string;
  readonly beside: string;
  readonly ratio: number;
  /** The ratio of the servers' CPU times, which is less sensitive to other load on the machine. */
  readonly cpuRatio: number;
  readonly aim: number | undefined;
}

function rateLines(rates: readonly Rate[]): Line[] {
  const lists = (Object.keys(people) as Person[]).map((person) =>
    rateLine(rates, listName('large', person), listName('small', person), 0.5),
  );
  return [
    rateLine(rates, 'detail', 'node:http hello', undefined),
    rateLine(rates, 'detail', 'Fastify hello', 0.6),
    ...lists,
  ];
}

function rateLine(rates: readonly Rate[], what: string, beside: string, aim: number | undefined): Line {
  const [one, other] = [what, beside].map((wanted) => rates.find(({ name }) => name === wanted)!) as [Rate, Rate];
  const cpuRatio = other.cpuMicroseconds / one.cpuMicroseconds;
  return { what, beside, ratio: one.perSecond / other.perSecond, cpuRatio, aim };
}

function uploadLines(uploads: readonly Upload[]): Line[] {
  return uploads
    .filter(({ name }) => name.endsWith('service'))
    .flatMap((one) => {
      const format = one.name.split(' ', 1)[0];
      return [
        [`${format} ten lines`, 0.7],
        [`${format} ten lines, synced`, undefined],
      ].map(([beside, aim]) => {
        const other = uploads.find(({ name }) => name === beside)!;
        const cpuRatio = other.cpuSeconds / one.cpuSeconds;
        return { what: one.name, beside, ratio: other.seconds / one.seconds, cpuRatio, aim } as Line;
      });
    });
}

const verdict = ({ ratio, aim }: Line): string =>
  aim === undefined ? '' : ratio >= aim ? `goal ${aim} met` : `GOAL ${aim} MISSED`;

const numbers = (...titles: string[]) => titles.map((title) => ({ title, align: 'right' as const }));

function show(tables: readonly string[]): void {
  const machine = `${cpus().length} cores, Node ${process.version}, load ${loadavg()[0]!.toFixed(1)}`;
  process.stdout.write(`\nMedians of ${options.runs}, ${machine}\n\n${tables.join('\n\n')}\n`);
}

function asTables(given: {
  rates: Rate[];
  uploads: Upload[];
  lines: Line[];
  peaks: Peaks[];
  starts: Starts;
}): string[] {
  const { rates, uploads, lines, peaks, starts } = given;
  return [
    renderTable(
      [{ title: 'asked for' }, ...numbers('a second', 'µs of CPU each')],
      rates.map((one) => [one.name, one.perSecond.toFixed(0), one.cpuMicroseconds.toFixed(1)]),
    ),
    renderTable(
      [{ title: '10 MB to' }, ...numbers('ms', 'ms of CPU')],
      uploads.map((one) => [one.name, (one.seconds * 1000).toFixed(1), (one.cpuSeconds * 1000).toFixed(1)]),
    ),
    renderTable(
      [{ title: 'what' }, { title: 'beside' }, ...numbers('ratio', 'by CPU'), { title: 'verdict' }],
      lines.map((one) => [one.what, one.beside, one.ratio.toFixed(2), one.cpuRatio.toFixed(2), verdict(one)]),
    ),
    renderTable(
      [{ title: 'peak MB after' }, ...numbers('start', '3 × 10 MB', '100 MB')],
      peaks.map((one) => [one.format, ...[one.idle, one.ten, one.hundred].map((peak) => peak.toFixed(0))]),
    ),
    `sluice serve --memory responds ${(starts.service * 1000).toFixed(0)} ms after its start; node -e 0 ends after ${(starts.node * 1000).toFixed(0)} ms`,
  ];
}

type Starts = Awaited<ReturnType<typeof measureStarts>>;

const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
try {
  await makeServiceWorld(folder);
  const rounds = { runs: Number(options.runs), milliseconds: Number(options.seconds) * 1000 };
  const rates = await measureRates(folder, rounds);
  const uploads = await measureUploads(folder, rounds);
  const lines = [...rateLines(rates), ...uploadLines(uploads)];
  const peaks = await measureMemory(folder);
  const starts = await measureStarts(folder, rounds.runs);
  if (options.json) process.stdout.write(`${JSON.stringify({ rates, uploads, lines, peaks, starts }, null, 2)}\n`);
  else show(asTables({ rates, uploads, lines, peaks, starts }));
} finally {
  await rm(folder, { recursive: true, force: true });
}
