import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** Archaic or invented words, and what to write instead. */
const refused: readonly (readonly [RegExp, string])[] = [
  [/\banew\b/i, 'again, new'],
  [/\bheed(s|ed|ing)?\b/i, 'follow, obey, apply'],
  [/\bmend(s|ed|ing)?\b/i, 'fix, repair'],
  [/\breckon(s|ed|ing)?\b/i, 'calculate, count, estimate'],
  [/\bpurses?\b/i, 'account'],
  [/\bamiss\b/i, 'wrong, an error'],
  [/\bwhoever\b/i, 'the process that, anyone who'],
  [/(?<!['"`/-])\b(some|no)body\b(?= [a-z]|[.,;?’])/i, 'a person, another process; no one, none'],
  [/\bonce more\b/i, 'again'],
  [/\bfor ever\b/i, 'forever, permanently, without end'],
  [/\bstands? for\b/i, 'is, means, represents'],
  [/\b(bury|buries|buried)\b/i, 'mark dead, discard'],
  [/\b(for|of|by|to) who\b/i, 'for anyone who, for those who'],
];

const files = globSync(
  ['{src,connectors,test,bench,deploy}/**/*.ts', '{docs,connectors,src}/**/*.md', 'config/**/*.yaml', '*.md'],
  { cwd: root, exclude: (file) => file.includes('node_modules') },
).filter((file) => file !== 'test/architecture/words.test.ts');

it('texts, comments and docs use contemporary words', () => {
  const found: string[] = [];
  for (const file of files) {
    readFileSync(resolve(root, file), 'utf8')
      .split('\n')
      .forEach((line, index) => {
        for (const [word, better] of refused) {
          const seen = word.exec(line)?.[0];
          if (seen !== undefined) found.push(`${file}:${index + 1}: "${seen}": write ${better}`);
        }
      });
  }
  expect(found).toEqual([]);
});

it('advice after a label ("next", "Fix:") starts with a lowercase letter', () => {
  const found = files
    .filter((file) => /^(src|connectors)\/.*\.ts$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(resolve(root, file), 'utf8');
      // A literal right after the key, or either of the two in a condition. Names such as SLUICE_KEY stay uppercase.
      return [...text.matchAll(/\b(?:next|fix): (?:[^,;\n]*\?\s+)?['"`]([A-Z][a-z ][^'"`]*)/g)].map(
        ([, advice]) => `${file}: ${advice}`,
      );
    });
  expect(found).toEqual([]);
});
