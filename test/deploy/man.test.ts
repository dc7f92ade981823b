import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { inline, roffOf } from '../../deploy/build/man/markdown.ts';
import { manPages } from '../../deploy/build/man/pages.ts';
import { example, roff } from '../../deploy/build/man/roff.ts';
import { buildProgram, loadCommands } from '../../src/cli/program.ts';
import { makeFolder } from '../journey/process.ts';

const run = promisify(execFile);
const pages = await manPages({ version: '1.2.3', date: '2026-11-26' });
const program = buildProgram(await loadCommands());

/** A terminal's bold: a letter, a backspace, and the letter again. */
const overstruck = new RegExp(`.${String.fromCharCode(8)}`, 'g');

/** The page as a reader sees it, on one line. */
async function shown(name: string): Promise<string> {
  const folder = await makeFolder();
  await writeFile(join(folder, name), pages.get(name)!);
  const { stdout } = await run('mandoc', ['-T', 'utf8', '-O', 'width=200', join(folder, name)]);
  return stdout.replaceAll(overstruck, '').replaceAll(/\s+/g, ' ');
}

describe('the manual pages', () => {
  it('exist for the program, each command and the config', () => {
    const names = program.commands.map((command) => `sluice-${command.name()}.1`);
    expect([...pages.keys()].sort()).toEqual(['sluice.1', 'sluice.yaml.5', ...names].sort());
  });

  it('cause no warnings in mandoc or groff', async () => {
    const folder = await makeFolder();
    const files = [];
    for (const [name, text] of pages) {
      await writeFile(join(folder, name), text);
      files.push(join(folder, name));
    }
    const lint = await run('mandoc', ['-T', 'lint', ...files]).catch((error) => error);
    expect(lint.stdout).toBe('');
    for (const file of files) {
      const { stderr } = await run('groff', ['-man', '-ww', '-z', '-T', 'utf8', file]);
      expect(stderr).toBe('');
    }
  });

  it('list every option, subcommand and example of their command', async () => {
    for (const [i, { help }] of (await loadCommands()).entries()) {
      const command = program.commands[i]!;
      const text = await shown(`sluice-${command.name()}.1`);
      const options = [command, ...command.commands].flatMap((one) => one.options.map(({ long }) => long!));
      const words = [...options, ...command.commands.map((one) => one.name()), ...help.examples.map(([line]) => line)];
      expect(words.filter((word) => !text.includes(word.replaceAll(/\s+/g, ' ')))).toEqual([]);
    }
  });

  it('refer to related pages and show the version and the date', async () => {
    const text = await shown('sluice-plan.1');
    expect(text).toMatch(/^SLUICE-PLAN\(1\) Sluice manual SLUICE-PLAN\(1\) NAME sluice-plan [-–] checks /);
    expect(text).toMatch(/SEE ALSO sluice\(1\), sluice\.yaml\(5\) Sluice 1\.2\.3 2026-11-26/);
    expect(await shown('sluice.yaml.5')).toMatch(/requests_per_day Value: a whole number, 1 or more\. Default: 1000\./);
  });
});

describe('roff', () => {
  it('escapes all special characters in an example', async () => {
    const odd = ".TH x\n'br\n\\fBno\\fR --flag ~/a^b `c` \"d\" 'e' – ü";
    const folder = await makeFolder();
    await writeFile(join(folder, 'a.1'), `.TH A 1 2026-11-26\n.SH NAME\na \\- ${roff('b')}\n${example(odd)}\n`);
    const { stdout } = await run('mandoc', ['-T', 'utf8', join(folder, 'a.1')]);
    for (const line of odd.split('\n')) expect(stdout).toContain(line);
  });

  it('converts paragraphs, lists and tables from Markdown', () => {
    expect(roffOf('One `a-b`.\n\n- two\n- three\n\n| Name | |\n|---|---|\n| `x` | four |\n')).toBe(
      '.PP\nOne \\fBa\\-b\\fR.\n.IP \\(bu 3\ntwo\n.IP \\(bu 3\nthree\n.TP\n\\fBx\\fR\nfour',
    );
    expect(inline('see [a page](page.md), **not** `b`')).toBe('see a page, \\fBnot\\fR \\fBb\\fR');
  });
});
