import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseFault } from '../cli/program.ts';
import { forSuite, makeWorld, type World } from '../journey/world.ts';
import { type CommandBlock, type Page, readPages, root } from './command-lines.ts';
import { typeAll } from './machine.ts';
import { notTyped, onlyParsed, otherEnds, preparations } from './pages.ts';
import { pictureOf } from './pictures.ts';
import { shapes } from './shapes.ts';
import { faultsOf } from './walk-faults.ts';

const scope = forSuite();
const pages = readPages();
let world: World;

beforeAll(async () => {
  world = await makeWorld({ scope, serve: ['--no-limits'] });
});

const withBlocks = pages.filter(({ blocks }) => blocks.length > 0);

describe('the commands on a page succeed in order', () => {
  it.each(withBlocks)('$file', async ({ file, blocks }: Page) => {
    const pictured = blocks.flatMap(({ place, picture }) => (picture === undefined ? [] : [{ place, ...picture }]));
    const walk = await typeAll(world, { blocks, terminal: pictured.length > 0, ...preparations[file] });
    expect(await faultsOf(walk)).toEqual([]);
    // The record contains every command of the page.
    for (const { place } of blocks) expect(walk.typed.map((one) => one.place)).toContain(place);
    for (const picture of pictured)
      await expect(pictureOf(picture, walk), 'is fixed by `npm run pictures`').toMatchFileSnapshot(
        join(root, dirname(file), picture.path),
      );
  });
});

const placeholders: Readonly<Record<string, string>> = {
  JOB: 'orders',
  NAME: 'db',
  SOURCE: 'crm',
  FILE: 'my-connectors/acme.mts',
  FOLDER: 'somewhere',
  SCHEDULE: '0 6 * * *',
  '<job>': 'orders',
};

/** The words after `sluice`, without quotes; undefined for another program. */
function sluiceWords(text: string): string[] | undefined {
  const [, line] = /^(?:npx )?sluice (.*)$/.exec(text) ?? [];
  return line?.match(/"[^"]*"|'[^']*'|\S+/g)?.map((word) => placeholders[word] ?? word.replaceAll(/^["']|["']$/g, ''));
}

const isPlaceholder = (text: string): boolean => text.split(' ').some((word) => word in placeholders);
const isNamed = (fault: string | undefined): boolean =>
  /missing required argument|required option|nothing would be done/.test(fault ?? '');

describe('a command in a sentence', () => {
  const all = [...new Map(pages.flatMap((page) => page.inline).map((one) => [one.text, one])).values()];
  const inline = all.filter(({ text }) => !notTyped.some(({ words }) => words.test(text)));
  // The first words of the commands in code blocks: `config show`, `sync`.
  const inBlocks = pages.flatMap(({ blocks }) =>
    blocks.flatMap(({ text }) => [...text.matchAll(/\bsluice ([a-z]+)/g)]),
  );
  const isRunInBlock = new Set(inBlocks.map(([, name]) => name));

  it('is a valid command line or only names a command', async () => {
    const faults = [];
    for (const { place, text } of inline) {
      const words = sluiceWords(text);
      if (words === undefined) continue;
      const fault = await parseFault(words);
      if (fault !== undefined && !(words.length <= 2 && isNamed(fault))) faults.push(`${place}: ${text}: ${fault}`);
    }
    expect(inline.length).toBeGreaterThan(60);
    expect(faults).toEqual([]);
  });

  it('succeeds unless it needs a vendor or a decision, or a code block runs the same command', async () => {
    const isTyped = async ({ text }: CommandBlock): Promise<boolean> => {
      const words = sluiceWords(text);
      if (words === undefined) return true;
      if (
        isPlaceholder(text) ||
        isRunInBlock.has(words[0]) ||
        onlyParsed.some((one) => one.words.test(words.join(' ')))
      )
        return false;
      return (await parseFault(words)) === undefined;
    };
    const typed = [];
    for (const one of inline) if (await isTyped(one)) typed.push(one);
    const before = { 'sluice reload': 'daemon' };
    const start = { place: 'start', text: 'sluice apply --yes; sluice sync' };
    const walk = await typeAll(world, { blocks: [start, ...typed], before });
    expect(await faultsOf(walk)).toEqual([]);
    expect(walk.typed.length).toBeGreaterThan(20);
  });
});

describe('the check of the docs', () => {
  const walkOf = (text: string) => typeAll(world, { blocks: [{ place: 'here', text }] });

  it.each([
    ['an unknown command', 'sluice synk', 'ended with 2'],
    ['an unknown flag', 'sluice plan --fast', 'ended with 2'],
    ['an unknown program', 'frobnicate --now', 'unknown program'],
    ['an unknown script', 'npm run nothing', 'package.json has no script nothing'],
    ["an unknown flag of a program that isn't run", 'systemctl enable --later sluice', 'unknown flag --later'],
    ['a login without a source', 'sluice login "" --pasted', "unknown option '--pasted'"],
    ['an undefined variable', 'sluice status $NOWHERE', 'did not reach the end'],
  ])('detects %s', async (_, line, fault) => {
    expect((await faultsOf(await walkOf(line))).join('\n')).toContain(fault);
  });

  it("requires a reason for each command that it doesn't run", () => {
    for (const { why } of Object.values(shapes)) expect(why).not.toBe('');
    for (const { why } of [...otherEnds, ...onlyParsed, ...notTyped]) expect(why).not.toBe('');
  });
});
