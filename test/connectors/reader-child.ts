import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import file from '../../connectors/file/index.ts';
import rest from '../../connectors/simple_rest/index.ts';
import { cellText, type Extraction } from '../../src/sdk/index.ts';
import { contextOf } from './harness.ts';

/**
 * Runs in its own process with a small heap. Reads the given file, or URL with a query as JSON, and prints the number
 * of rows and the sum of the first column.
 */
const place = process.argv[2]!;
const folder = await mkdtemp(join(tmpdir(), 'sluice-child-'));
try {
  process.stdout.write(JSON.stringify(await total(await begin())));
} finally {
  await rm(folder, { recursive: true, force: true });
}

function begin(): Promise<Extraction> {
  if (!place.startsWith('http')) return file.extract(contextOf(file, { source: {}, query: { path: place }, folder }));
  return rest.extract(contextOf(rest, { source: { url: place }, query: JSON.parse(process.argv[3] ?? '{}'), folder }));
}

async function total({ batches }: Extraction): Promise<{ rows: number; sum: number }> {
  let rows = 0;
  let sum = 0;
  for await (const batch of batches) {
    rows += batch.length;
    for (let r = 0; r < batch.length; r++) sum += Number(cellText(batch.cells[0]!, 'text', r));
  }
  return { rows, sum };
}
