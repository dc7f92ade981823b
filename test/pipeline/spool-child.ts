import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import csv from '../../src/formats/all/csv.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Problem } from '../../src/lib/problem.ts';
import { runPipeline } from '../../src/pipeline/run-pipeline.ts';
import type { Batch, ByteCells } from '../../src/sdk/batch.ts';
import type { Column } from '../../src/sdk/column.ts';
import { defineConnector } from '../../src/sdk/connector.ts';
import { withDefaults } from '../../src/sdk/option.ts';
import compute from '../../src/transforms/all/compute.ts';
import filter from '../../src/transforms/all/filter.ts';

/** Runs in its own process. `hang` writes and then waits to be killed, `fill` writes too much, `many` measures. */
const [, , task, spool] = process.argv;

const columns: readonly Column[] = [
  { name: 'id', type: 'integer' },
  { name: 'country', type: 'text' },
  { name: 'amount', type: 'decimal' },
];

/** A thousand rows in new memory, as a driver would return them. */
function batchFrom(first: number): Batch {
  const parts: Buffer[] = [];
  const spans = new Int32Array(2 * 3 * 1000);
  let used = 0;
  for (let r = 0; r < 1000; r++) {
    for (const [c, text] of [String(first + r), r % 2 ? 'DE' : 'AT', `${r}.50`].entries()) {
      const at = 2 * (3 * r + c);
      spans[at] = used;
      parts.push(Buffer.from(text));
      used += text.length;
      spans[at + 1] = used;
    }
  }
  const bytes = Buffer.concat(parts);
  const cells = columns.map((_, slot): ByteCells => ({ kind: 'bytes', bytes, spans, stride: 3, slot }));
  return { columns, cells, length: 1000 };
}

async function* generated(rows: number): AsyncGenerator<Batch> {
  const pattern = batchFrom(1_000_000);
  for (let at = 0; at < rows; at += 1000) {
    const bytes = Buffer.from((pattern.cells[0] as ByteCells).bytes);
    yield { ...pattern, cells: pattern.cells.map((cells) => ({ ...(cells as ByteCells), bytes })) };
  }
  if (task === 'hang') {
    process.stdout.write('written\n');
    await systemClock.sleep(600_000);
  }
}

const rows = task === 'many' ? 5_000_000 : 300_000;
const connector = defineConnector({
  id: 'generated',
  title: 'Generated',
  summary: 'For tests.',
  source: {},
  query: {},
  check: async () => 'fine',
  extract: async (context) => {
    if (task === 'hang') await writeFile(join(context.scratch, 'page'), 'x');
    return { columns, batches: generated(rows) };
  },
});

try {
  const draft = await runPipeline({
    extract: {
      source: { name: 'made', connector, options: {} },
      query: {},
      transforms:
        task === 'many'
          ? [
              { transform: compute, given: { country: 'lower(country)' } },
              { transform: filter, given: 'amount >= 0' },
            ]
          : [],
      format: csv,
      formatOptions: withDefaults(csv.options, {}),
      stallTimeoutMs: 60_000,
    },
    folder: '/',
    spool: spool!,
    signal: new AbortController().signal,
    clock: systemClock,
    emit: () => {},
    log: { debug: () => {}, info: () => {}, warn: () => {} },
    warn: () => {},
    job: 'orders',
    run: 'r1',
  });
  if ('unchanged' in draft) throw new Error('nothing has changed');
  await draft.seal();
  process.stdout.write(JSON.stringify({ rows: draft.rows, rss: process.resourceUsage().maxRSS / 1024 }));
} catch (thrown) {
  if (!(thrown instanceof Problem)) throw thrown;
  const { code, family, where } = thrown;
  process.stdout.write(JSON.stringify({ code, family, where }));
}
