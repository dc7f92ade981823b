import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventWords } from '../../../src/daemon/logs/event-words.ts';
import { otherLines } from '../../../src/daemon/logs/other-lines.ts';
import { logPage } from '../../../src/daemon/logs/page.ts';

const root = resolve(import.meta.dirname, '../../..');
/** The embedded service has its own log. */
const isOurs = (path: string): boolean => !/^src\/(service\/|cli\/commands\/serve\.ts)/.test(path);
const calls = [
  /\blog\??\.(?<level>debug|info|warn|error)\(\s*'(?<line>[^']+)'(?<facts>,\s*\{[^{}]*\})?/g,
  /(?:this\.#fault|\bfailed)\('(?<line>[^']+)', error(?<facts>,\s*\{[^{}]*\})?/g,
];

interface Written {
  readonly line: string;
  readonly level: string;
  readonly facts: readonly string[];
}

/** Every line that a source file logs directly, and its fields. */
function* written(): Generator<Written> {
  for (const folder of ['src', 'connectors']) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile() || !path.endsWith('.ts') || !isOurs(relative(root, path))) continue;
      const text = readFileSync(path, 'utf8');
      for (const call of calls) {
        // Problems of a workbook aren't log lines.
        if (call.source.includes('#fault') && !relative(root, path).startsWith('src/daemon/')) continue;
        for (const { groups = {} } of text.matchAll(call)) {
          yield { line: groups.line!, level: groups.level ?? 'error', facts: namesIn(groups.facts) };
        }
      }
    }
  }
}

/** `, { job, run: id, ...more }` contains job and run. */
function namesIn(facts: string | undefined): string[] {
  const inside = /\{([\s\S]*)\}/.exec(facts ?? '')?.[1] ?? '';
  return inside
    .split(',')
    .map((part) => /^\s*(\w+)/.exec(part)?.[1])
    .filter((name) => name !== undefined);
}

describe('the reference page for the log', () => {
  it('lists exactly the lines that the source files log, with their levels and fields', () => {
    const found = [...written()];
    expect(found.length).toBeGreaterThan(25);
    const listed = new Map(otherLines.map((one) => [one.line, one]));
    expect([...new Set(found.map(({ line }) => line))].sort()).toEqual([...listed.keys()].sort());
    for (const { line, level, facts } of found) {
      expect([line, level]).toEqual([line, listed.get(line)!.level]);
      expect([line, facts.filter((name) => !listed.get(line)!.facts.includes(name))]).toEqual([line, []]);
    }
  });

  it('lists every event with each of its fields', () => {
    const page = logPage();
    for (const [name, { facts }] of Object.entries(eventWords)) {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${name}\` |`));
      expect([name, row]).toEqual([name, expect.any(String)]);
      for (const fact of Object.keys(facts)) {
        expect([name, row]).toEqual([name, expect.stringContaining(`\`${fact}\``)]);
        expect(page).toMatch(new RegExp(`^\\| \`${fact}\` \\| .`, 'm'));
      }
    }
  });

  it('explains each line only once', () => {
    expect(new Set(otherLines.map(({ line }) => line)).size).toBe(otherLines.length);
  });
});
