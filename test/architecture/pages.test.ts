import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const pages = globSync(['*.md', 'docs/*.md', 'docs/decisions/*.md', 'src/ARCHITECTURE.md', 'test/README.md'], {
  cwd: root,
});

/** A page's references: files in backticks, relative to the checkout or to `src/`, and links, relative to the page. */
function missing(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  const paths = [...text.matchAll(/`((?:src|test|bench|deploy)\/[\w./-]+|(?:[a-z-]+\/)+[a-z-]+\.ts)`/g)].map(
    ([, path = '']) => path,
  );
  const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, path = '']) => path);
  return [
    ...paths.filter((path) => !['', 'src'].some((folder) => existsSync(join(root, folder, path)))),
    ...links.filter((path) => !existsSync(join(root, dirname(page), path))),
  ].map((path) => `${page}: ${path}`);
}

it('docs refer only to files that exist', () => {
  expect(pages.length).toBeGreaterThan(25);
  expect(pages.flatMap(missing)).toEqual([]);
});
