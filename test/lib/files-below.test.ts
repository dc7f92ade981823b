import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { filesBelow } from '../../src/lib/files-below.ts';

/** Creates and removes folders until it's stopped. */
const busyFolders = `
const { mkdirSync, rmSync, writeFileSync } = require('node:fs');
const { parentPort, workerData } = require('node:worker_threads');
parentPort.postMessage('ready');
for (let n = 0; ; n++) {
  const folder = workerData + '/' + (n % 8);
  mkdirSync(folder + '/a/b', { recursive: true });
  writeFileSync(folder + '/a/b/file', '');
  rmSync(folder, { recursive: true });
}`;

describe('the files below a folder', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-files-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('are listed at any depth, without links and other entries', () => {
    mkdirSync(join(folder, 'a/b'), { recursive: true });
    for (const name of ['one', 'a/two', 'a/b/three']) writeFileSync(join(folder, name), '');
    symlinkSync(join(folder, 'a'), join(folder, 'link'));
    expect(filesBelow(folder).sort()).toEqual(['a/b/three', 'a/two', 'one'].map((name) => join(folder, name)));
    expect(filesBelow(join(folder, 'none'))).toEqual([]);
  });

  it('are listed while other processes create and remove folders', async () => {
    const kept = join(folder, 'kept');
    writeFileSync(kept, '');
    const worker = new Worker(busyFolders, { eval: true, workerData: folder });
    await new Promise((resolve) => worker.once('message', resolve));
    try {
      for (let n = 0; n < 5000; n++) expect(filesBelow(folder)).toContain(kept);
    } finally {
      await worker.terminate();
    }
  });
});
