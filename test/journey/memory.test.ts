import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeWithServer } from '../servers/describe.ts';
import type { TestServer } from '../servers/server.ts';
import { adminKey, type Format, makeFolder, makeWorld, type World } from './world.ts';

const million = 1_000_000;
const sizeLimit = 10_000_000_000;
/**
 * The peak is 150 to 185 MB on a quiet machine, and 207 MB on one where twenty processes wait for two cores: how much
 * freed memory the allocator keeps depends on how threads are scheduled. If memory grew with the rows, 30 bytes per row
 * would add 30 MB.
 */
const mostMegabytes = 230;
/**
 * A quarter of Node's default, too small to hold the rows even a few times. When Node loads sources instead of the
 * package, its young generation is 30 MB larger (heaps of 66 and 41 MB while rows pass); 4 MB for each of its halves
 * make the two comparable.
 */
const smallHeap = ['--max-old-space-size=96', '--max-semi-space-size=4'];

/** Rows that the server generates while it sends them. */
const rowsUpTo = (count: number): string => `
  select i as id, 'Customer ' || i as customer, (i % 1000)::numeric(12,2) / 8 as amount,
    timestamptz '2024-01-01 00:00+00' + i * interval '1 second' as created_at,
    case when i % 3 > 0 then 'said "yes", twice' end as note
  from (select generate_series(1, ${count}) as i) numbers`;

interface Peaks {
  readonly cli: number;
  readonly service: number;
}

/** Moves this many rows with a CLI process that has a small heap. Returns the peak resident set sizes in megabytes. */
async function carry(
  count: number,
  { server, world, format = 'csv', job = {} }: { server: TestServer; world: World; format?: Format; job?: object },
): Promise<Peaks> {
  const home = await world.home();
  await home.config({
    destinations: { service: { url: world.url, api_key: adminKey, upload_limit_bytes: sizeLimit } },
    sources: { db: { connector: 'db', url: server.url } },
    jobs: { rows: { source: 'db', query: rowsUpTo(count), format, target: world.instances[format], ...job } },
  });
  const peakFile = join(home.folder, 'peak');
  const { jobs } = await home.sync({ node: smallHeap, preload: ['peak'], env: { PEAK_FILE: peakFile } });
  expect(jobs).toMatchObject([{ state: 'delivered', rows: count }]);
  return { cli: Number(await readFile(peakFile, 'utf8')), service: await peakOfService(world) };
}

async function peakOfService(world: World): Promise<number> {
  const { pid } = JSON.parse(await readFile(join(world.folder, 'ready.json'), 'utf8')) as { pid: number };
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) / 1024;
}

describeWithServer({ servers: 'PostgreSQL' }, 'memory use', (server) => {
  it('of the command and the service hardly grows from one to four million rows with a 96 MB heap', async () => {
    const data = await makeFolder();
    const world = await makeWorld({ data, serve: ['--upload-limit', String(sizeLimit)] });
    const one = await carry(million, { server: server(), world });
    const four = await carry(4 * million, { server: server(), world });
    expect(one.cli).toBeLessThan(mostMegabytes);
    expect(four.cli).toBeLessThan(Math.min(mostMegabytes, 1.5 * one.cli));
    expect(four.service).toBeLessThan(1.5 * one.service);
  });

  const kinds: readonly { what: string; format?: Format; job?: object }[] = [
    { what: 'json', format: 'json' },
    { what: 'xml', format: 'xml' },
    { what: 'rows merged into kept ones', job: { write: { disposition: 'merge', key: 'id' } } },
    { what: 'rows appended to kept ones', job: { write: { disposition: 'append' } } },
  ];

  it.for(kinds)("of the command doesn't grow with the number of rows with a 96 MB heap: $what", async (kind) => {
    const world = await makeWorld({ serve: ['--upload-limit', String(sizeLimit)] });
    const few = await carry(million / 5, { server: server(), world, ...kind });
    const many = await carry(million, { server: server(), world, ...kind });
    expect(many.cli).toBeLessThan(Math.min(mostMegabytes, 1.25 * few.cli));
  });
});
