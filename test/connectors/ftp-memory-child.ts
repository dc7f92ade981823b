import ftp from '../../connectors/ftp/index.ts';
import { ftpContext } from './ftp-harness.ts';

/** Reads all rows of a file on a server and prints the number of rows and the peak memory in megabytes. */
const [source, query, folder] = process.argv.slice(2);
const context = ftpContext({ source: JSON.parse(source!), query: JSON.parse(query!) }, folder!);
const { batches } = await ftp.extract(context);
let rows = 0;
for await (const { length } of batches) rows += length;
process.stdout.write(JSON.stringify({ rows, peak: process.resourceUsage().maxRSS / 1024 }));
