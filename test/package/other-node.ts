import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { installNodes } from './installed/nodes.ts';

/**
 * `npm run test:other-node`: the unit tests again, under the supported major versions of Node that `npm test` does not use. They are
 * the rooms that start no process of Sluice and no server: what differs between versions of Node shows in them.
 */
const rooms = [
  'architecture',
  'config',
  'console',
  'formats',
  'guards',
  'lib',
  'models',
  'pipeline',
  'schedule',
  'sdk',
];
const more = ['sets', 'simulate', 'state', 'transforms'];

const root = resolve(import.meta.dirname, '../..');
const own = Number.parseInt(process.versions.node, 10);
const folder = await mkdtemp(join(tmpdir(), 'sluice-nodes-'));
try {
  const others = (await installNodes(folder, root)).filter(({ major }) => major !== own);
  for (const { major, path } of others) {
    process.stdout.write(`The unit tests under Node ${major}\n`);
    const tests = [...rooms, ...more].map((room) => `test/${room}/`);
    const flags = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/vitest.config.ts'];
    const { status } = spawnSync(path, [...flags, ...tests], { cwd: root, stdio: 'inherit' });
    process.exitCode ||= status ?? 1;
  }
} finally {
  await rm(folder, { recursive: true });
}
