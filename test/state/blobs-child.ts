import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openStore } from '../../src/state/store.ts';

/** Stores a file of some megabytes as a blob, fetches it on another machine, and prints the peak memory. */
const [, , database, folder, megabytes] = process.argv;
const open = (name: string) => openStore(join(folder!, name), { database: JSON.parse(database!) });
const [one, other] = [await open('one'), await open('other')];
const name = join('sets', 'run', `${megabytes}.rows`);
mkdirSync(dirname(join(one.folder, name)), { recursive: true });
const file = openSync(join(one.folder, name), 'w');
const megabyte = Buffer.alloc(1024 * 1024);
for (let n = 0; n < Number(megabytes); n++) writeSync(file, megabyte.fill(`${n}`));
closeSync(file);
await one.blobs.put([{ path: join(one.folder, name) }]);
const state = await other.blobs.fetch(join(other.folder, name));
await one.close();
await other.close();
writeFileSync(1, JSON.stringify({ state, peak: process.resourceUsage().maxRSS * 1024 }));
