import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

const child = new URL('memory-child.ts', import.meta.url).pathname;

/**
 * V8's young generation sometimes grows by 50 MB and sometimes doesn't, which depends on time, not on the rows. So it's
 * small here.
 */
const flags = ['--max-old-space-size=48', '--max-semi-space-size=4'];

async function put(rows: number, what = 'rows'): Promise<{ rows: number; peakMb: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sets-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, child, folder, String(rows), what]);
  return JSON.parse(stdout) as { rows: number; peakMb: number };
}

it('keeping two million rows takes hardly more memory than keeping one million, with a 48 MB heap', async () => {
  const small = await put(1_000_000);
  const large = await put(2_000_000);
  expect([small.rows, large.rows]).toEqual([1_000_000, 2_000_000]);
  expect(large.peakMb).toBeLessThan(1.3 * small.peakMb);
  expect(large.peakMb).toBeLessThan(250);
});

it('comparing one million keys takes hardly more memory than comparing half as many, with a 48 MB heap', async () => {
  const small = await put(500_000, 'keys');
  const large = await put(1_000_000, 'keys');
  expect([small.rows, large.rows]).toEqual([450_000, 900_000]);
  expect(large.peakMb).toBeLessThan(1.3 * small.peakMb);
  expect(large.peakMb).toBeLessThan(300);
});
