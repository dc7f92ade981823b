import { globSync, readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

it('tests wait with expect.poll, whose configured timeout is long enough for an overloaded machine', () => {
  const short = globSync(`${root}/test/**/*.ts`).flatMap((file) => {
    const waits = readFileSync(file, 'utf8').match(
      /vi[.]waitFor\(|\.poll\([^;]*timeout: (?:\d{1,4}|\d{1,2}_000)(?![\d_])[^;]*;/g,
    );
    return (waits ?? []).map((wait) => `${relative(root, file)}: ${wait}`);
  });
  expect(short).toEqual([]);
});
