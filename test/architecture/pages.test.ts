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

/** Pages that are generated, in whole or in large part. */
const isGenerated = (page: string): boolean => /^docs\/(connectors\/|config\.md|logs\.md)/.test(page);

/** Prose of more than 120 characters that could be wrapped. Tables, code blocks and pictures can't be. */
function tooWide(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  let isCode = false;
  return text.split('\n').flatMap((line, index) => {
    const content = line.trimStart();
    if (content.startsWith('```')) isCode = !isCode;
    const canWrap = line.replaceAll(/`[^`]*`/g, 'code').includes(' ');
    const isProse = !isCode && canWrap && !content.startsWith('|') && !content.startsWith('[!');
    return isProse && line.length > 120 ? [`${page}:${index + 1}: ${line.length} characters`] : [];
  });
}

it('prose is at most 120 characters wide', () => {
  const notes = globSync('connectors/*/notes.md', { cwd: root });
  expect([...pages, ...notes].filter((page) => !isGenerated(page)).flatMap(tooWide)).toEqual([]);
});
