import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseFault, wholeProgram } from './program.ts';

const root = resolve(import.meta.dirname, '../..');
let program: Command;

beforeAll(async () => {
  program = await wholeProgram();
});

/** Every place where our own texts or pages contain `sluice <words>`. */
function* advice(): Generator<{ readonly file: string; readonly words: string[] }> {
  const texts = ['src', 'connectors', 'docs', 'config', 'deploy'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ts|md|yaml|service|timer)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  for (const path of [...texts, join(root, 'README.md')]) {
    for (const line of readFileSync(path, 'utf8').split('\n')) {
      for (const [, said = ''] of line.matchAll(/(?:^|["'`\s(])sluice ((?:[\w$<>{}[\].:/-]+ ?)+)/g)) {
        yield { file: relative(root, path), words: said.trim().split(' ') };
      }
    }
  }
}

/**
 * The error in these words: an unknown command, subcommand or flag. If they're part of a sentence, ignores the words
 * that follow.
 */
function faultOf([name = '', ...rest]: readonly string[]): string | undefined {
  const command = program.commands.find((one) => one.name() === name);
  if (command === undefined) return `there is no command ${name}`;
  const part = command.commands.find((one) => one.name() === rest[0]) ?? command;
  const known = [...part.options, ...command.options].flatMap(({ short, long }) => [short, long]);
  const flag = rest.find((word) => /^--[a-z]/.test(word) && !known.includes(word.replace(/[^\w-].*$/, '')));
  return flag === undefined || flag.startsWith('--help') ? undefined : `${name} has no flag ${flag}`;
}

/**
 * Uses of "sluice" that aren't the command: prose, a title, or a user or container of that name, followed by a program.
 */
const others = ['control', 'node', 'sluice'];
const isProse = ([word = '']: readonly string[]): boolean => !/^[a-z]+$/.test(word) || others.includes(word);

describe('commands in our advice', () => {
  it('exist and have the flags they are shown with', () => {
    const all = [...advice()].filter(({ words }) => !isProse(words));
    expect(all.length).toBeGreaterThan(100);
    const faults = all.flatMap(({ file, words }) => {
      const fault = faultOf(words);
      return fault === undefined ? [] : [`${file}: sluice ${words.join(' ')}: ${fault}`];
    });
    expect(faults).toEqual([]);
  });

  it('are all documented in docs/cli.md', () => {
    const page = readFileSync(join(root, 'docs/cli.md'), 'utf8');
    const rows = [...page.matchAll(/^\| `([a-z]+)/gm)].map((match) => match[1]);
    expect(program.commands.map((one) => one.name()).filter((name) => !rows.includes(name))).toEqual([]);
  });

  it('can be just the name of a command group', async () => {
    const groups = program.commands.filter(({ commands }) => commands.length > 0).map((one) => one.name());
    expect(groups).toContain('connectors');
    for (const group of groups) expect(await parseFault([group])).toBeUndefined();
  });

  it("are reported if the command or flag doesn't exist", () => {
    expect(faultOf(['synk', 'orders'])).toContain('no command synk');
    expect(faultOf(['check', '--conect'])).toContain('no flag --conect');
    expect(faultOf(['quarantine', 'show', 'RUN', '--json'])).toBeUndefined();
  });
});
