import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { openCatalog } from '../src/config/catalog/catalog.ts';
import { cellText, storedRow } from '../src/sdk/index.ts';
import { contextOf } from '../test/connectors/harness.ts';

/**
 * Reads a whole source once, then prints the row count and the total text length of all cells, which proves that the
 * reader skipped no data. `ours CONNECTOR SOURCE QUERY [touch]` reads with Sluice's connector; with `touch`, it also
 * converts each cell to a JavaScript string. If Node exposes its garbage collector, `ours` also prints the memory that
 * is in use before the first row, when `simple_rest` has read all pages. To measure another reader, pass its name and a
 * file.
 */
const [who, ...rest] = process.argv.slice(2);

interface Count {
  rows: number;
  characters: number;
  /** Megabytes of live JavaScript objects and buffers. */
  liveMb?: number;
}

async function ours([id, source, query, touch]: readonly string[]): Promise<Count> {
  const connector = (await (await openCatalog()).load(id!))!;
  const scratch = await mkdtemp(join(tmpdir(), 'sluice-bench-read-'));
  const run = { source: JSON.parse(source!), query: JSON.parse(query!), folder: tmpdir(), scratch };
  const count: Count = { rows: 0, characters: 0 };
  try {
    const { columns, batches } = await connector.extract(contextOf(connector, run));
    if (globalThis.gc !== undefined) count.liveMb = liveMb(globalThis.gc);
    for await (const batch of batches) {
      count.rows += batch.length;
      if (touch === undefined) continue;
      for (const [c, { type }] of columns.entries()) {
        for (let r = 0; r < batch.length; r++) {
          count.characters += cellText(batch.cells[c]!, type, storedRow(batch, r))?.length ?? 0;
        }
      }
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  return count;
}

function liveMb(collect: NodeJS.GCFunction): number {
  // The first collection finds objects that only the second one can free.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

function add(count: Count, row: readonly unknown[]): void {
  count.rows++;
  for (const cell of row) count.characters += cell === null ? 0 : String(cell).length;
}

const peers: Readonly<Record<string, (file: string) => Promise<Count>>> = {
  async 'csv-parse'(file) {
    const { parse } = await import('csv-parse');
    const count: Count = { rows: -1, characters: 0 };
    for await (const row of createReadStream(file).pipe(parse())) {
      if (count.rows === -1) count.rows = 0;
      else add(count, row as string[]);
    }
    return count;
  },
  async papaparse(file) {
    const { default: papa } = await import('papaparse');
    const count: Count = { rows: 0, characters: 0 };
    await new Promise<void>((resolve, reject) => {
      const step = ({ data }: { data: unknown }) => {
        for (const row of data as string[][]) add(count, row);
      };
      papa.parse(createReadStream(file, 'utf8'), {
        skipFirstNLines: 1,
        skipEmptyLines: true,
        chunk: step,
        complete: () => resolve(),
        error: reject,
      });
    });
    return count;
  },
  async 'JSON.parse of the whole'(file) {
    const { readFile } = await import('node:fs/promises');
    const count: Count = { rows: 0, characters: 0 };
    for (const row of JSON.parse(await readFile(file, 'utf8')) as object[]) add(count, Object.values(row));
    return count;
  },
  async 'readline and JSON.parse'(file) {
    const count: Count = { rows: 0, characters: 0 };
    for await (const line of createInterface({ input: createReadStream(file) })) {
      add(count, Object.values(JSON.parse(line) as object));
    }
    return count;
  },
  async 'saxes alone'(file) {
    const { SaxesParser } = await import('saxes');
    const count: Count = { rows: 0, characters: 0 };
    const parser = new SaxesParser();
    let depth = 0;
    parser.on('opentag', () => void depth++);
    parser.on('closetag', () => void (--depth === 1 && count.rows++));
    parser.on('text', (text) => {
      if (depth === 3) count.characters += text.length;
    });
    for await (const text of createReadStream(file, 'utf8')) parser.write(text as string);
    parser.close();
    return count;
  },
};

const read = who === 'ours' ? ours(rest) : peers[who!]!(rest[0]!);
process.stdout.write(`${JSON.stringify(await read)}\n`);
