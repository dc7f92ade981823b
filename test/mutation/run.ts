import { existsSync, globSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Stryker } from '@stryker-mutator/core';

/**
 * `npm run test:mutation -- src/guards [test/guards/check-guards.test.ts …]`: changes the code wherever a change should
 * matter, and shows the changes that no test notices. If no tests are named, runs those of the same room
 * (`test/guards`). Stryker works in a copy outside the tree and deletes it at the end.
 */
const named = process.argv.slice(2).map((path) => path.replace(/^\.\//, '').replace(/\/+$/, ''));
const sources = named.filter((path) => !path.startsWith('test/'));
const tests = named.filter((path) => path.startsWith('test/'));

/** The folder of tests for a room: `src/guards/check-guards.ts` is tested in `test/guards`. */
function roomOfTests(source: string): string {
  const [top, room = ''] = source.split('/');
  return top === 'src' ? `test/${room}` : 'test/connectors';
}

/** A folder means all files in it that have that extension. */
function filesIn(path: string, ending: string): string[] {
  if (!existsSync(path)) throw new Error(`There is no ${path}; name sources, and tests if they are in another room`);
  return statSync(path).isDirectory() ? globSync(`${path}/**/*${ending}`) : [path];
}

if (sources.length === 0)
  throw new Error('Name a file or a folder of src or connectors: npm run test:mutation -- src/guards');
const rooms = tests.length > 0 ? tests : [...new Set(sources.map(roomOfTests))];
const tempDirName = await mkdtemp(join(tmpdir(), 'sluice-mutation-'));
try {
  await new Stryker({
    mutate: sources.flatMap((path) => filesIn(path, '.ts')),
    testFiles: rooms.flatMap((path) => filesIn(path, '.test.ts')),
    testRunner: 'vitest',
    plugins: [fileURLToPath(import.meta.resolve('@stryker-mutator/vitest-runner'))],
    vitest: { configFile: 'test/base.config.ts', pool: 'threads', related: false },
    // Strings are for people; other mutations cover what programs use.
    mutator: { excludedMutations: ['StringLiteral'] },
    // Tables that are created when a file is loaded: each change to them would run every test.
    ignoreStatic: true,
    // Stryker would rewrite this file with an older TypeScript's API, and nothing reads it here.
    tsconfigFile: 'none.json',
    reporters: ['clear-text', 'progress'],
    clearTextReporter: { logTests: false, reportTests: false, skipFull: true },
    timeoutMS: 20_000,
    allowConsoleColors: process.stdout.isTTY === true,
    tempDirName,
    cleanTempDir: 'always',
  }).runMutationTest();
} finally {
  await rm(tempDirName, { recursive: true, force: true });
}
