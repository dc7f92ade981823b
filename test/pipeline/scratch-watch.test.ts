import { linkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { DiskSpace } from '../../src/lib/disk-space.ts';
import { ScratchWatch } from '../../src/pipeline/scratch-watch.ts';
import { makeFolder } from '../journey/process.ts';

it("reserves space for a source's own files, and none for other names of files that exist anyway", async () => {
  const [payloads, scratch] = [await makeFolder(), await makeFolder()];
  writeFileSync(join(payloads, 'payload'), 'x'.repeat(1000));
  linkSync(join(payloads, 'payload'), join(scratch, 'rows-of-job'));
  writeFileSync(join(scratch, 'page'), 'x'.repeat(10));
  const claim = vi.fn<DiskSpace['claim']>();
  const watch = new ScratchWatch({ scratch, room: { claim } as unknown as DiskSpace, full: () => undefined });
  onTestFinished(() => watch.end());
  await expect.poll(() => claim.mock.calls.length).toBe(1);
  expect(claim.mock.calls).toEqual([[10]]);
});
