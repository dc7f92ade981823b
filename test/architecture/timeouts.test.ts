import { globSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { expect, it } from 'vitest';
import base from '../base.config.ts';

const root = resolve(import.meta.dirname, '../..');

/** A time limit after a test's function, or in the options before it. */
const limit = /^\s*\}, ([\d_]+)\);$|^\s+([\d_]+),\n\s*\);$|\{ timeout: ([\d_]+) \},/gm;

it("no test sets a timeout below the config's, which overloaded machines need", () => {
  const short = globSync(`${root}/test/**/*.test.ts`).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(limit)]
      .map(([, ...milliseconds]) => Number(milliseconds.find((text) => text !== undefined)!.replaceAll('_', '')))
      .filter((milliseconds) => milliseconds >= 10_000 && milliseconds < base.test!.testTimeout!)
      .map((milliseconds) => `${relative(root, file)}: ${milliseconds}`),
  );
  expect(short).toEqual([]);
});
