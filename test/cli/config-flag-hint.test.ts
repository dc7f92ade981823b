import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { afterEach, describe, expect, it } from 'vitest';
import type { CliCommand } from '../../src/cli/command.ts';
import { problemJson } from '../../src/cli/output/json-output.ts';
import { sanitizeOutput } from '../../src/cli/output/sanitize-output.ts';
import { addConfigFlag } from '../../src/cli/start/config-flag-hint.ts';
import { advised, rewriteAdvice } from '../../src/lib/advice.ts';
import { Problem, renderProblem } from '../../src/lib/problem.ts';
import { adminKey, makeWorld } from '../journey/world.ts';

const folder = resolve(import.meta.dirname, '../../src/cli/commands');
const commands = new Set(readdirSync(folder).map((file) => file.replace(/\..*$/, '')));
afterEach(() => rewriteAdvice((text) => text));

describe('advice for a command with --config', () => {
  it.each([
    ['sluice apply --yes', 'sluice apply --config a.yaml --yes'],
    [
      'sluice run, or sluice sync orders once',
      'sluice run --config a.yaml, or sluice sync --config a.yaml orders once',
    ],
    ['"sluice explain orders" says why', '"sluice explain --config a.yaml orders" says why'],
    ['sluice dead send 42, once it is fixed', 'sluice dead send --config a.yaml 42, once it is fixed'],
    ['run `sluice check --connect`', 'run `sluice check --config a.yaml --connect`'],
    ['"sluice alerts" lists it', '"sluice alerts --config a.yaml" lists it'],
    ['sluice demo shows it', 'sluice demo shows it'],
    ['sluice connectors test FILE', 'sluice connectors test FILE'],
    ['sluice needs Node 24', 'sluice needs Node 24'],
  ])('%s', (said, shown) => {
    addConfigFlag('a.yaml', commands);
    expect(advised(said)).toBe(shown);
    expect(advised(advised(said))).toBe(shown);
    const problem = new Problem({ code: 'X', family: 'job', message: 'no', next: said });
    expect(renderProblem(problem)).toContain(`next     ${shown}`);
    expect(problemJson(problem)).toMatchObject({ next: shown });
  });

  it('is unchanged if the config is the default or the command takes no config', () => {
    for (const file of ['sluice.yaml', undefined]) {
      addConfigFlag(file, commands);
      expect(advised('sluice apply --yes')).toBe('sluice apply --yes');
    }
  });

  it.each(['my config.yaml', 'a"b.yaml', 'c:\\odd.yaml', "it's.yaml", 'two\nlines.yaml', '$HOME `id`.yaml', '-n.yaml'])(
    'quotes %j for a shell, in text and in JSON',
    (file) => {
      addConfigFlag(file, commands);
      const line = advised('sluice check');
      expect(advised(line)).toBe(line);
      const document = JSON.stringify({ next: 'sluice check', text: 'Look:\nsluice check', again: line }, undefined, 2);
      expect(JSON.parse(sanitizeOutput(document))).toEqual({ next: line, text: `Look:\n${line}`, again: line });
      const words = execFileSync('sh', ['-c', `sluice() { printf '%s\\0' "$@"; }; ${line}`], { encoding: 'utf8' });
      expect(words.split('\0')).toEqual(['check', '--config', file, '']);
    },
  );

  it('puts the option where each command accepts it', async () => {
    addConfigFlag('a.yaml', commands);
    const program = new Command('sluice');
    for (const name of commands) {
      ((await import(join(folder, `${name}.ts`))) as { default: CliCommand }).default.register(program);
    }
    const wrong = program.commands.flatMap((group) =>
      [group, ...group.commands].flatMap((one) => {
        const takes = [...group.options, ...one.options].some(({ long }) => long === '--config');
        const words = one === group ? group.name() : `${group.name()} ${one.name()}`;
        const isTaken = advised(`sluice ${words}`) === `sluice ${words} --config a.yaml`;
        // "sluice alerts" means its default subcommand.
        return takes === isTaken || (one === group && group.commands.length > 0) ? [] : [words];
      }),
    );
    expect(wrong).toEqual([]);
  });
});

it('every command with --config repeats it in its advice, in text and JSON', async () => {
  const world = await makeWorld();
  const home = await world.home();
  const named = async (...args: string[]) =>
    home.sluice([...args, '--config', await home.write('mine.yaml', text)], { cwd: home.folder });
  const target = { datasource: { name: 'Orders' } };
  const text = JSON.stringify({
    state: './state',
    destinations: { main: { url: world.url, api_key: adminKey } },
    sources: { files: { connector: 'file' } },
    jobs: { declared: { source: 'files', query: 'a.csv', format: 'csv', target, schedule: 'every 1h' } },
  });
  const words = `--config ${home.folder}/mine.yaml`;
  expect((await named('sync')).stderr).toContain(`next     sluice apply ${words} --yes`);
  expect((await named('sync', '--json')).stdout).toContain(`"next": "sluice apply ${words} --yes"`);
  expect((await named('explain', 'declared')).stdout).toContain(`fix      sluice apply ${words} --yes`);
  expect((await named('explain', 'declared', '--json')).stdout).toContain(`"fix": "sluice apply ${words} --yes"`);
  const status = await named('status');
  expect(status.stdout).toContain(`"sluice run ${words}" starts one.`);
  expect(status.stdout).toContain(`"sluice explain ${words} declared" shows the cause and the fix`);
  expect((await named('apply')).stdout).toContain(`To apply these changes: sluice apply ${words} --yes`);
  // This command's option is declared on its group.
  expect((await named('dead', 'show', 'declared')).stderr).toContain(words);
});
