import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import rest from '../../../connectors/simple_rest/index.ts';
import { PayloadTable } from '../../../src/formats/payload-table.ts';
import { batchText } from '../../../src/sdk/index.ts';
import { contextOf } from '../harness.ts';

/** Runs in its own process with a small heap. Requests the parents in a payload (JSON), and prints the first column. */
const [url = '', path = ''] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), 'sluice-child-'));
const rowsOf = async () => ({
  ...(await PayloadTable.open({ path, format: 'json', options: {} })).extraction(),
  asOf: 0,
});
const query = { for_each: { job: 'orders', column: 'id' }, path: '/{{ parent.id }}' };
try {
  const { batches } = await rest.extract({ ...contextOf(rest, { source: { url }, query, folder }), rowsOf });
  const found: (string | null)[] = [];
  for await (const batch of batches) found.push(...batchText(batch).map(([id]) => id ?? null));
  process.stdout.write(JSON.stringify(found));
} finally {
  await rm(folder, { recursive: true, force: true });
}
