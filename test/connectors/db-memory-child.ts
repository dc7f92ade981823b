import { countRows, extract } from './db-reader.ts';

/**
 * Reads `rows` rows slowly enough for the garbage collector to keep up, and prints the number of rows and the peak
 * memory in megabytes.
 */
const [url, sql] = process.argv.slice(2);
const { batches } = await extract({ url }, sql!);
const rows = await countRows(batches);
process.stdout.write(JSON.stringify({ rows, peak: process.resourceUsage().maxRSS / 1024 }));
