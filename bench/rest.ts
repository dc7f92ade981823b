import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { countText } from '../src/cli/output/format.ts';
import { renderTable } from '../src/cli/output/table.ts';
import { type Cost, measure, median } from './measure.ts';

/**
 * `npm run bench:rest -- [--runs 3]`: measures how many rows per second `simple_rest` reads from many pages and of many
 * parents, its CPU time and peak memory, and the live memory after the last page, which must not depend on the number of
 * pages. V8 lets garbage accumulate, so peak memory grows to what it finds appropriate. The server is this process, and
 * each read is a process of its own.
 */
const { values: options } = parseArgs({ options: { runs: { type: 'string', default: '3' } } });

const rowsPerPage = 100;
const page = JSON.stringify(
  Array.from({ length: rowsPerPage }, (_, id) => ({ id, name: `Jürgen ${id}`, total: id / 4, note: null })),
);

interface Read {
  readonly what: string;
  readonly query: object;
  readonly rows: number;
}

const pages = (count: number): Read => ({
  what: `${countText(count)} pages`,
  query: {
    path: `/pages/${count}`,
    records: 'data',
    max_pages: count,
    paging: { kind: 'cursor', cursor: 'next' },
  },
  rows: count * rowsPerPage,
});
const parents = (count: number): Read => ({
  what: `${countText(count)} parents`,
  query: { for_each: { path: `/parents/${count}` }, path: '/parent/{{ parent.id }}' },
  rows: count * rowsPerPage,
});
const reads = [pages(100), pages(1_000), pages(10_000), parents(100), parents(1_000)];

const server = createServer(({ url }, response) => {
  const { pathname, searchParams } = new URL(url!, 'http://h');
  const [, kind, count] = pathname.split('/');
  response.setHeader('content-type', 'application/json');
  if (kind === 'parents') {
    response.end(JSON.stringify(Array.from({ length: Number(count) }, (_, id) => ({ id }))));
  } else if (kind === 'parent') {
    response.end(page);
  } else {
    const number = Number(searchParams.get('cursor') ?? 1);
    response.end(`{"data":${page},"next":${number < Number(count) ? number + 1 : null}}`);
  }
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;

const child = `"${process.execPath}" --expose-gc "${new URL('connectors-child.ts', import.meta.url).pathname}"`;

interface ReadCost extends Cost {
  readonly liveMb: number;
}

async function costOf({ what, query, rows }: Read): Promise<ReadCost> {
  const cost = await measure(
    `${child} ours simple_rest '${JSON.stringify({ url: `http://127.0.0.1:${port}` })}' '${JSON.stringify(query)}'`,
  );
  const { rows: count, liveMb } = JSON.parse(cost.said) as { rows: number; liveMb: number };
  if (count !== rows) throw new Error(`${what}: ${count} rows were read instead of ${rows}`);
  process.stderr.write(`${what}: ${cost.wall.toFixed(2)} s\n`);
  return { ...cost, liveMb };
}

try {
  const costs = new Map<Read, ReadCost[]>(reads.map((read) => [read, []]));
  for (let run = 0; run < Number(options.runs); run++) {
    for (const read of reads) costs.get(read)!.push(await costOf(read));
  }
  const titles = ['read', 'rows', 'rows/s', 'wall s', 'CPU s', 'peak MB', 'live MB'];
  const columns = titles.map((title, c) => (c === 0 ? { title } : { title, align: 'right' as const }));
  const cells = [...costs].map(([{ what, rows }, all]) => {
    const { wall, cpu, peakMb, liveMb } = median(all);
    return [
      what,
      countText(rows),
      countText(Math.round(rows / wall)),
      wall.toFixed(2),
      cpu.toFixed(2),
      peakMb.toFixed(0),
      liveMb.toFixed(1),
    ];
  });
  const head = `pages of ${rowsPerPage} rows, medians of ${options.runs}, Node ${process.version}, load ${loadavg()[0]!.toFixed(1)}`;
  process.stdout.write(`\n${head}\n\n${renderTable(columns, cells)}\n`);
} finally {
  server.close();
}
