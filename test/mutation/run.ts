import { existsSync, globSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Stryker } from '@stryker-mutator/core';

/**
 * `npm run test:mutation -- src/guards [test/guards/check-guards.test.ts …]`: changes the code at each place where a
 * change should matter, and shows the changes that no test notices. Without named tests, those of the same room run
 * (`test/guards`). Stryker works in a copy outside of the tree, which is deleted when it ends.
 */
const named = process.argv.slice(2).map((path) => path.replace(/^\.\//, '').replace(/\/+$/, ''));
const sources = named.filter((path) => !path.startsWith('test/'));
const tests = named.filter((path) => path.startsWith('test/'));

/** The folder of tests for a room: `src/guards/check-guards.ts` is tested in `test/guards`. */
function roomOfTests(source: string): string {
  const [top, room = ''] = source.split('/');
  return top === 'src' ? `test/${room}` : 'test/connectors';
}

/** A folder means all files in it with that extension. */
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
    // Texts are for people; what programs use is covered by the other mutations.
    mutator: { excludedMutations: ['StringLiteral'] },
    // Tables that are created when a file is loaded: each change of them would run every test.
    ignoreStatic: true,
    // Stryker would rewrite it with the API of an older TypeScript, and nothing reads it here.
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
