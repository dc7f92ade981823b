import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { cleanUp, newFolder, newStore } from './fixtures.ts';

const run = promisify(execFile);
afterEach(cleanUp);

/** Opens as many files as allowed, closes two and opens the state. SQLite reports only that it can't open a file. */
const starved = (folder: string) => `
import { closeSync, openSync } from 'node:fs';
import { openStore } from ${JSON.stringify(new URL('../../src/state/store.ts', import.meta.url).href)};
import { systemClock as clock } from ${JSON.stringify(new URL('../../src/lib/clock.ts', import.meta.url).href)};
const opened = [];
try {
  for (;;) opened.push(openSync('/dev/null', 'r'));
} catch {
  for (const file of opened.splice(0, 2)) closeSync(file);
}
const code = await openStore(${JSON.stringify(folder)}, { clock }).then(() => 'opened', (error) => error.code);
for (const file of opened) closeSync(file);
console.log(code);
`;

it('a store error distinguishes a limit on open files from a failing disk', async () => {
  const folder = newFolder();
  await newStore({ clock: systemClock, folder });
  const { stdout } = await run('prlimit', [
    '--nofile=64',
    process.execPath,
    '--input-type=module',
    '--eval',
    starved(folder),
  ]);
  expect(stdout).toBe('OPEN_FILES_LIMIT\n');
});
