import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { folderOfTest } from './tables.ts';

it("two tables that don't fit into the heap are compared exactly", async () => {
  const child = join(import.meta.dirname, 'memory-child.ts');
  // As objects, the larger table's rows alone would need more than twice this heap.
  const heap = ['--max-old-space-size=16', '--max-semi-space-size=1'];
  const { stdout } = await promisify(execFile)(process.execPath, [...heap, child, folderOfTest(), '120000']);
  expect(JSON.parse(stdout)).toEqual({ by: { kind: 'found', columns: ['id'] }, added: 0, removed: 40_000, changed: 0 });
});
