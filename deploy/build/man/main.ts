import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Build } from '../../../src/lib/build.ts';
import { manPages } from './pages.ts';

/**
 * `npm run build` runs this after the bundle. Writes the manual pages to dist/man/, with the version and date of the
 * build.
 */
const dist = join(import.meta.dirname, '../../../dist');
const { version, committed_at: at = '' } = JSON.parse(await readFile(join(dist, 'build.json'), 'utf8')) as Build;

await mkdir(join(dist, 'man'), { recursive: true });
for (const [name, text] of await manPages({ version, date: at.slice(0, 10) })) {
  await writeFile(join(dist, 'man', name), text);
}
