import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/**
 * Names that are still declared in more than one file. This list only shrinks: a new type needs a unique name. A name
 * stays only if its declarations are kept apart on purpose, which a comment explains.
 */
const declaredTwice = new Set(
  `
  `
    .split(/\s+/)
    .filter((name) => name !== ''),
);

function declarations(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const file of globSync('{src,connectors}/**/*.ts', { cwd: root })) {
    const text = readFileSync(resolve(root, file), 'utf8');
    for (const [, name = ''] of text.matchAll(/^export (?:abstract )?(?:class|interface|type) (\w+)/gm)) {
      found.set(name, [...(found.get(name) ?? []), file]);
    }
  }
  return found;
}

it('each exported type or class name is declared in only one file', () => {
  const twice = [...declarations()].filter(([, files]) => files.length > 1);
  expect(twice.filter(([name]) => !declaredTwice.has(name))).toEqual([]);
});

it('every name on the list of duplicates is declared at least twice', () => {
  const found = declarations();
  expect([...declaredTwice].filter((name) => (found.get(name)?.length ?? 0) < 2)).toEqual([]);
});
