import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

type Graph = ReadonlyMap<string, readonly string[]>;

/** Static imports of each file, including types. */
function importGraph(): Graph {
  const files = globSync('{src,connectors}/**/*.ts', { cwd: root });
  const importsOf = (file: string): string[] =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\bfrom\s*'(\.[^']+)'/g)].map(([, path]) =>
      relative(root, resolve(root, dirname(file), path!)),
    );
  return new Map(files.map((file) => [file, importsOf(file)]));
}

/** The files that import themselves, directly or indirectly. */
function circlesIn(graph: Graph): string[] {
  const reaches = (start: string): boolean => {
    const seen = new Set<string>();
    const next = [...(graph.get(start) ?? [])];
    for (let file = next.pop(); file !== undefined; file = next.pop()) {
      if (file === start) return true;
      if (seen.has(file)) continue;
      seen.add(file);
      next.push(...(graph.get(file) ?? []));
    }
    return false;
  };
  return [...graph.keys()].filter(reaches).sort();
}

it('import cycles are detected', () => {
  const graph = new Map([
    ['start', ['a']],
    ['a', ['b']],
    ['b', ['a', 'leaf']],
    ['leaf', []],
  ]);
  expect(circlesIn(graph)).toEqual(['a', 'b']);
});

it('there are no import cycles', () => {
  expect(circlesIn(importGraph())).toEqual([]);
});
