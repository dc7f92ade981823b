import file from '../../connectors/file/index.ts';
import { cellText } from '../../src/sdk/index.ts';
import { contextOf } from './harness.ts';

/** Run in a process of its own under a small heap: reads the file named and prints rows and the sum of the first column. */
const path = process.argv[2]!;
const { batches } = await file.extract(contextOf(file, { source: {}, query: { path }, folder: '/' }));
let rows = 0;
let sum = 0;
for await (const batch of batches) {
  rows += batch.length;
  for (let r = 0; r < batch.length; r++) sum += Number(cellText(batch.cells[0]!, 'text', r));
}
process.stdout.write(JSON.stringify({ rows, sum, peakMegabytes: Math.round(process.resourceUsage().maxRSS / 1024) }));
