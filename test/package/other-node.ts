import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { installNodes } from './installed/nodes.ts';

/**
 * `npm run test:other-node`: runs the unit tests again, with the supported major versions of Node that `npm test`
 * doesn't use. The rooms that they test start neither Sluice processes nor servers, and differences between Node
 * versions show up there.
 */
const rooms = [
  'architecture',
  'config',
  'console',
  'formats',
  'guards',
  'kept-rows',
  'lib',
  'models',
  'pipeline',
  'schedule',
  'sdk',
  'simulate',
  'state',
  'transforms',
];

const root = resolve(import.meta.dirname, '../..');
// Vitest uses these as filters, so a renamed folder would be skipped silently.
const absent = rooms.filter((room) => !existsSync(join(root, 'test', room)));
if (absent.length > 0)
  throw new Error(`test/ has no folder ${absent.join(', ')}: correct the list in ${import.meta.filename}`);
const own = Number.parseInt(process.versions.node, 10);
const folder = await mkdtemp(join(tmpdir(), 'sluice-nodes-'));
try {
  const others = (await installNodes(folder, root)).filter(({ major }) => major !== own);
  for (const { major, path } of others) {
    process.stdout.write(`The unit tests under Node ${major}\n`);
    const tests = rooms.map((room) => `test/${room}/`);
    const flags = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
    const { status } = spawnSync(path, [...flags, ...tests], { cwd: root, stdio: 'inherit' });
    process.exitCode ||= status ?? 1;
  }
} finally {
  await rm(folder, { recursive: true });
}
