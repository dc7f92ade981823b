import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const textOf = (file: string): string => readFileSync(resolve(import.meta.dirname, '../..', file), 'utf8');

it('CONTRIBUTING.md lists exactly the npm scripts', () => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const listed = [...textOf('CONTRIBUTING.md').matchAll(/^\| `npm (?:run )?([\w:-]+)` \|/gm)].map(([, name]) => name);
  expect(listed.toSorted()).toEqual(Object.keys(scripts).toSorted());
});
