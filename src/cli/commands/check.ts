import { type Command, Option } from 'commander';
import type { Config } from '../../config/config.ts';
import type { Loaded } from '../../config/load.ts';
import type { ConnectionTest } from '../../daemon/checks/try-connections.ts';
import { Problem, renderProblem, toProblem } from '../../lib/problem.ts';
import { durationText } from '../../lib/time-text.ts';
import type { CliCommand } from '../command.ts';
import { chooseJobs, configFlag, showProblems, withoutSecretsFlag } from '../config-file.ts';
import { columnLines } from '../discover/discovered-text.ts';
import { exit, isBrokenInstallation } from '../exit.ts';
import type { Tone } from '../output/paint.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';
import { renderTable } from '../output/table.ts';
import { warningText } from '../output/warning-text.ts';
import { onStop } from '../signals.ts';

interface Flags {
  readonly config: string;
  readonly withoutSecrets?: true;
  readonly connect?: true;
  readonly yes?: true;
  readonly json?: true;
}

async function run(names: readonly string[], flags: Flags): Promise<void> {
  const { config: file, connect, json, withoutSecrets } = flags;
  if (names.length > 0 && connect !== true) throw noConnect();
  const { checkConfig } = await import('../../config/check.ts');
  const { verdict, ...loaded } = await checkConfig(file, { withoutSecrets });
  const { config, problems, warnings } = loaded;
  if (problems.length > 0) process.exitCode = exit.usage;
  const isTried = connect === true && config !== undefined;
  const looks = isTried ? await connectAll({ ...loaded, config }, names, flags) : [];
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

function connectionJson({ kind, name, message, problem, found }: ConnectionTest): object {
  const result = {
    kind,
    name,
    ok: problem === undefined,
    message: problem === undefined ? message : sentenceOf(problem),
  };
  if (found === undefined) return result;
  const columns = found.columns.map(({ name: column, type }) => ({ name: column, type }));
  const jobRows = found.jobRows.map(({ job, ageMs }) => ({ job, age_seconds: Math.round(ageMs / 1000) }));
  const read = jobRows.length === 0 ? {} : { job_rows: jobRows };
  return { ...result, columns, first_page: firstPageJson(found), ...read, warnings: found.warnings };
}

function firstPageJson({ firstPage }: NonNullable<ConnectionTest['found']>): object | undefined {
  return firstPage && { records: firstPage.records, has_next: firstPage.hasNext };
}

function sentenceOf({ code, message, next }: Problem): string {
  return `${code}: ${message}${next === undefined ? '' : ` (${next})`}`;
}

function exitCodeOf(problems: readonly Problem[]): number {
  if (isBrokenInstallation(problems)) return exit.bug;
  return problems.some(({ family }) => family === 'login') ? exit.refused : exit.failed;
}

function noConnect(): Problem {
  return new Problem({
    code: 'CLI_CHECK_JOBS',
    family: 'config',
    message: 'Jobs can be checked one by one only with --connect',
    next: 'sluice check --connect JOB, or sluice check for the whole config',
  });
}

async function connectAll(
  loaded: Loaded & { config: Config },
  names: readonly string[],
  { yes }: Flags,
): Promise<readonly ConnectionTest[]> {
  const { tryConnections, tryQueries } = await import('../../daemon/checks/try-connections.ts');
  const jobs = names.length === 0 ? [] : chooseJobs(loaded, names).jobs;
  const { config } = loaded;
  const stop = onStop();
  try {
    const { signal } = stop;
    const queries = { jobs, preview: { allowsAnyMethod: yes === true }, signal };
    const looks = jobs.length === 0 ? await tryConnections(config, signal) : await tryQueries(config, queries);
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

/** A table of results, followed by the jobs' columns, and each warning and problem in full. */
function textOf(looks: readonly ConnectionTest[]): string {
  const rows = looks.map(({ kind, name, message, problem }) =>
    problem === undefined ? [kind, name, 'yes', message] : [kind, name, 'NO', `${problem.code}, see below`],
  );
  const tone = (answer: string): Tone => (answer === 'yes' ? 'good' : 'bad');
  const columns = [{ title: 'kind' }, { title: 'name' }, { title: 'answers', tone }, { title: 'response' }];
  const table = renderTable(columns, rows, { widest: 120, paper: process.stdout });
  const problems = looks.flatMap(({ problem }) => (problem === undefined ? [] : [`\n${renderProblem(problem)}`]));
  return [table, ...looks.flatMap(foundTexts), ...problems].join('\n');
}

function foundTexts({ name, found }: ConnectionTest): string[] {
  if (found === undefined) return [];
  const columns = found.columns.length === 0 ? [] : [`\n${name} returns:\n${columnLines(found.columns).join('\n')}`];
  const read = found.jobRows.map(
    ({ job, ageMs }) => `\n${name} uses the last rows of job ${job}, which are ${durationText(ageMs)} old`,
  );
  return [...columns, ...read, ...found.warnings.map((warning) => `\n${warningText(warning, name)}`)];
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
      [
        'sluice check --connect orders',
        "the first page of a job's query: records, columns, and whether more pages follow",
      ],
      ['sluice check --config ./sluice.yaml --json', 'another file, for scripts'],
    ],
  },
  register(program: Command): void {
    program
      .command('check')
      .argument('[jobs...]', 'with --connect: check only what these jobs read')
      .description('Reports all errors in the config at once. Makes no network requests without --connect.')
      .option(...configFlag)
      .option(
        '--connect',
        'also test each source and destination (one request each), the columns of database queries, and the storage of payloads',
      )
      .option('--yes', "with jobs: also send requests that aren't GET, which might change data or start a report")
      .addOption(new Option(...withoutSecretsFlag).conflicts('connect'))
      .option('--json', 'print JSON')
      .action(run);
  },
} satisfies CliCommand;
