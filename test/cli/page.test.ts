import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { CliCommand } from '../../src/cli/command.ts';

const root = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/cli.md'), 'utf8');
const folder = join(root, 'src/cli/commands');
const program = new Command('sluice');
for (const file of readdirSync(folder)) {
  const { default: command } = (await import(join(folder, file))) as { default: CliCommand };
  command.register(program);
}

/** The command and its subcommands. */
function family(command: Command): Command[] {
  return [command, ...command.commands.flatMap(family)];
}

const flagsOf = (command: Command) => command.options.map(({ long }) => long).filter((long) => long !== undefined);

/** What the page says about a command: its rows in the table, and the sections named after it. */
function saidOf(name: string): string {
  const [, ...sections] = page.split(/^## /m).map((section) => section.split('\n'));
  const rows = page.split('\n').filter((line) => new RegExp(`^\\| \`${name}\\b`).test(line));
  const own = sections.filter(([heading]) => new RegExp(`\\b${name}\\b`).test(heading ?? ''));
  return [...rows, ...own.flat()].join('\n');
}

describe('docs/cli.md', () => {
  it.each(program.commands.map((command) => [command.name(), command] as const))(
    'names %s, its subcommands and flags',
    (name, command) => {
      const said = saidOf(name);
      const words = family(command).map((one) => one.name());
      expect(words.filter((word) => !new RegExp(`\\b${word}\\b`).test(said))).toEqual([]);
      const flags = new Set(family(command).flatMap(flagsOf));
      flags.delete('--config');
      expect([...flags].filter((flag) => !new RegExp(`${flag}(?![\\w-])`).test(said))).toEqual([]);
    },
  );

  it('names only existing commands and flags', () => {
    const all = family(program);
    const flags = new Set(['--help', ...all.flatMap(flagsOf)]);
    const named = [...page.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([flag]) => flag);
    expect(named.filter((flag) => !flags.has(flag))).toEqual([]);
    const table = page.slice(page.indexOf('| Command |'), page.indexOf('## Exit codes'));
    const rows = new Set([...table.matchAll(/^\| `([a-z]+)/gm)].map(([, name]) => name!));
    expect([...rows].toSorted()).toEqual(program.commands.map((command) => command.name()).toSorted());
  });
});
