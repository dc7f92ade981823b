import type { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CliCommand } from '../../src/cli/command.ts';
import { detailsOfPart } from '../../src/cli/help.ts';
import { buildProgram, loadCommands } from '../../src/cli/program.ts';
import { typeAll } from '../docs/machine.ts';
import { examplePreparations } from '../docs/pages.ts';
import { faultsOf } from '../docs/walk-faults.ts';
import { forSuite, makeWorld, type World } from '../journey/world.ts';

const scope = forSuite();
const commands = await loadCommands();
const program = buildProgram(commands);
const named = commands.map((command, i): [string, CliCommand] => [program.commands[i]!.name(), command]);
let world: World;

beforeAll(async () => {
  world = await makeWorld({ scope, serve: ['--no-limits'] });
});

describe('help examples', () => {
  it.each(named)('for %s work if they are typed one after another', async (name, { help: { examples } }) => {
    const blocks = examples.map(([text], i) => ({ place: `${name} --help ${i + 1}`, text }));
    expect(blocks.length).toBeGreaterThan(0);
    const walk = await typeAll(world, { blocks, ...examplePreparations[name] });
    expect(await faultsOf(walk)).toEqual([]);
    for (const { place } of blocks) expect(walk.typed.map((one) => one.place)).toContain(place);
  });

  it.each(named)("for %s appear in its help and in each subcommand's help", (name, { help }) => {
    const command = program.commands.find((one) => one.name() === name)!;
    const families: readonly (readonly [Command, typeof help])[] = [
      [command, help],
      ...command.commands.map((part) => [part, detailsOfPart(part, help)] as const),
    ];
    for (const [one, { examples }] of families) {
      const text = helpOf(one);
      expect([one.name(), examples.length]).not.toEqual([one.name(), 0]);
      for (const [line, about] of examples) expect(text).toMatch(wrapped(`${line} ${about}`));
    }
  });
});

function helpOf(command: Command): string {
  const pieces: string[] = [];
  command.configureOutput({ writeOut: (piece) => void pieces.push(piece) }).outputHelp();
  return pieces.join('');
}

/** The words in this order, however the lines are wrapped. */
function wrapped(words: string): RegExp {
  return new RegExp(words.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '\\s+'));
}
