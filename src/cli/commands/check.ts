import type { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { type renderProblem, toProblem } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';
import type { CliCommand } from '../command.ts';
import { configFlag, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import type { Tone } from '../paint.ts';
import { onStop } from '../signals.ts';
import { renderTable } from '../table.ts';

interface Flags {
  readonly config: string;
  readonly connect?: true;
  readonly json?: true;
}

async function run({ config: file, connect, json }: Flags): Promise<void> {
  const { checkConfig } = await import('../../config/check.ts');
  const { config, problems, warnings, verdict } = await checkConfig(file);
  if (problems.length > 0) process.exitCode = exit.usage;
  const looks = connect === true && config !== undefined ? await connectAll(config) : [];
  if (json === true) {
    const said = { file, problems: problems.map(plain), warnings: warnings.map(plain), connections: looks };
    process.stdout.write(`${redact(JSON.stringify(said, undefined, 2))}\n`);
    return;
  }
  showProblems([...warnings, ...problems]);
  if (looks.length > 0) process.stdout.write(`${redact(tableOf(looks))}\n\n`);
  process.stdout.write(`${verdict}\n`);
}

const plain = ({ code, message, where, seen, allowed, next }: Parameters<typeof renderProblem>[0]): object => ({
  code,
  message,
  where,
  seen,
  allowed,
  next,
});

type Looks = readonly { kind: string; name: string; ok: boolean; said: string }[];

async function connectAll(config: Config): Promise<Looks> {
  const { tryConnections } = await import('../../daemon/try-connections.ts');
  const stop = onStop();
  try {
    const looks = await tryConnections(config, stop.signal);
    const refused = looks.some(({ problem }) => problem?.family === 'login');
    if (looks.some(({ problem }) => problem !== undefined)) process.exitCode ??= refused ? exit.refused : exit.failed;
    return looks.map(({ kind, name, said, problem }) => ({
      kind,
      name,
      ok: problem === undefined,
      said:
        problem === undefined
          ? said
          : `${problem.code}: ${problem.message}${problem.next === undefined ? '' : ` (${problem.next})`}`,
    }));
  } catch (thrown) {
    throw toProblem(thrown, { code: 'CHECK_THREW', family: 'bug' });
  } finally {
    stop.done();
    process.exitCode = stop.code() ?? process.exitCode;
  }
}

function tableOf(looks: Looks): string {
  const rows = looks.map(({ kind, name, ok, said }) => [kind, name, ok ? 'yes' : 'NO', said]);
  const tone = (answer: string): Tone => (answer === 'yes' ? 'good' : 'bad');
  const columns = [{ title: 'kind' }, { title: 'name' }, { title: 'answers', tone }, { title: 'said' }];
  return renderTable(columns, rows, { widest: 120, paper: process.stdout });
}

const command: CliCommand = {
  register(program: Command): void {
    program
      .command('check')
      .description('Finds every fault of a config at once; touches no network unless told to.')
      .option(...configFlag)
      .option('--connect', 'also try each source and destination; one request a destination')
      .option('--json', 'for machines')
      .addHelpText('after', '\nExits with 0 without a fault, 2 with one, 1 or 3 when a connection fails or is refused.')
      .action(run);
  },
};
export default command;
