import { type Command, Option } from 'commander';
import type { Config } from '../../config/config.ts';
import type { ConnectionTest } from '../../daemon/checks/try-connections.ts';
import { type Problem, renderProblem, toProblem } from '../../lib/problem.ts';
import type { CliCommand } from '../command.ts';
import { configFlag, showProblems, withoutSecretsFlag } from '../config-file.ts';
import { exit, isBrokenInstallation } from '../exit.ts';
import type { Tone } from '../output/paint.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';
import { renderTable } from '../output/table.ts';
import { onStop } from '../signals.ts';

interface Flags {
  readonly config: string;
  readonly withoutSecrets?: true;
  readonly connect?: true;
  readonly json?: true;
}

async function run({ config: file, connect, json, withoutSecrets }: Flags): Promise<void> {
  const { checkConfig } = await import('../../config/check.ts');
  const { config, problems, warnings, verdict } = await checkConfig(file, { withoutSecrets });
  if (problems.length > 0) process.exitCode = exit.usage;
  const looks = connect === true && config !== undefined ? await connectAll(config) : [];
  if (json === true) {
    const document = {
      file,
      problems: problems.map(plain),
      warnings: warnings.map(plain),
      connections: looks.map(connectionJson),
    };
    process.stdout.write(`${sanitizeOutput(JSON.stringify(document, undefined, 2))}\n`);
    return;
  }
  showProblems(warnings, 'warn');
  showProblems(problems);
  if (looks.length > 0) process.stdout.write(`${sanitizeOutput(textOf(looks))}\n\n`);
  process.stdout.write(`${verdict}\n`);
}

const plain = ({ code, message, where, seen, allowed, next }: Problem): object => ({
  code,
  message,
  where,
  seen,
  allowed,
  next,
});

function connectionJson({ kind, name, message, problem }: ConnectionTest): object {
  return { kind, name, ok: problem === undefined, message: problem === undefined ? message : sentenceOf(problem) };
}

function sentenceOf({ code, message, next }: Problem): string {
  return `${code}: ${message}${next === undefined ? '' : ` (${next})`}`;
}

function exitCodeOf(problems: readonly Problem[]): number {
  if (isBrokenInstallation(problems)) return exit.bug;
  return problems.some(({ family }) => family === 'login') ? exit.refused : exit.failed;
}

async function connectAll(config: Config): Promise<readonly ConnectionTest[]> {
  const { tryConnections } = await import('../../daemon/checks/try-connections.ts');
  const stop = onStop();
  try {
    const looks = await tryConnections(config, stop.signal);
    const problems = looks.flatMap(({ problem }) => problem ?? []);
    if (problems.length > 0) process.exitCode ??= exitCodeOf(problems);
    return looks;
  } catch (thrown) {
    throw toProblem(thrown, { code: 'CHECK_THREW', family: 'bug' });
  } finally {
    stop.done();
    process.exitCode = stop.code() ?? process.exitCode;
  }
}

/** A table of results, followed by each problem in full. */
function textOf(looks: readonly ConnectionTest[]): string {
  const rows = looks.map(({ kind, name, message, problem }) =>
    problem === undefined ? [kind, name, 'yes', message] : [kind, name, 'NO', `${problem.code}, see below`],
  );
  const tone = (answer: string): Tone => (answer === 'yes' ? 'good' : 'bad');
  const columns = [{ title: 'kind' }, { title: 'name' }, { title: 'answers', tone }, { title: 'response' }];
  const table = renderTable(columns, rows, { widest: 120, paper: process.stdout });
  const problems = looks.flatMap(({ problem }) => (problem === undefined ? [] : [`\n${renderProblem(problem)}`]));
  return [table, ...problems].join('\n');
}

export default {
  help: {
    exitCodes: [
      ['0', 'no errors'],
      ['1', 'a connection failed'],
      ['2', 'the config has errors'],
      ['3', 'credentials were refused'],
    ],
    examples: [
      ['sluice check', 'without network requests'],
      ['sluice check --connect', 'also test sources and destinations'],
      ['sluice check --config ./sluice.yaml --json', 'another file, for scripts'],
    ],
  },
  register(program: Command): void {
    program
      .command('check')
      .description('Reports all errors in the config at once. Makes no network requests without --connect.')
      .option(...configFlag)
      .option(
        '--connect',
        'also test each source and destination (one request each), the columns of database queries, and the storage of payloads',
      )
      .addOption(new Option(...withoutSecretsFlag).conflicts('connect'))
      .option('--json', 'print JSON')
      .action(run);
  },
} satisfies CliCommand;
