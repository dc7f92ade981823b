import type { Command } from 'commander';
import type { SourceReport } from '../../daemon/report/report-sources.ts';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { exit } from '../exit.ts';
import { renderTable } from '../output/table.ts';
import { whyFlag } from '../payloads/decided-by.ts';
import type { Flags } from '../payloads/with-runtime.ts';

async function list(flags: Flags): Promise<void> {
  const [{ withStore }, { reportSources }, { systemClock }, { jsonOutput }, { sanitizeOutput }] = await Promise.all([
    import('../payloads/with-runtime.ts'),
    import('../../daemon/report/report-sources.ts'),
    import('../../lib/clock.ts'),
    import('../output/json-output.ts'),
    import('../output/sanitize-output.ts'),
  ]);
  await withStore(flags, async (store, config, problems) => {
    if (problems.length > 0) process.exitCode = exit.usage;
    const reports = await reportSources(config, store, store?.clock ?? systemClock);
    const text = flags.json === true ? jsonOutput(reports) : textOf(reports);
    process.stdout.write(`${sanitizeOutput(text)}\n`);
  });
}

function textOf(reports: readonly SourceReport[]): string {
  if (reports.length === 0) return 'The config has no sources.';
  const columns = [
    { title: 'source' },
    { title: 'connector' },
    { title: 'login' },
    { title: 'jobs' },
    { title: 'state', tone: (state: string) => (state === 'usable' ? ('good' as const) : ('bad' as const)) },
  ];
  const rows = reports.map(({ source, connector, login, jobs, state }) => [
    ...[source, connector, login ?? '–', jobs.join(', ') || '–', state],
  ]);
  return renderTable(columns, rows, { widest: 120, paper: process.stdout });
}

async function resume(name: string, flags: Flags): Promise<void> {
  const [{ show, withStore }, { currentDecider: deciderOf }, { chooseSource }, { loginOf, loginText }] =
    await Promise.all([
      import('../payloads/with-runtime.ts'),
      import('../payloads/decided-by.ts'),
      import('../payloads/choose-source.ts'),
      import('../../daemon/login-holds/account.ts'),
    ]);
  await withStore(flags, async (store, config) => {
    const login = loginOf(chooseSource(config, name));
    const resumed =
      login !== undefined &&
      ((await store?.loginHolds.resume(login, { by: deciderOf(flags.why), source: name })) ?? false);
    const text = resumed
      ? `Source ${name} can log in to ${loginText(login)} again; a running daemon starts the waiting jobs within a few seconds.`
      : `The login for source ${name} is not on hold.`;
    show(flags, { text, data: { source: name, resumed } });
  });
}

export default {
  help: {
    notes: [
      'Use "sources resume" if the password in the config is correct, for example after an account was unlocked. After a config change, "sluice reload" is enough. "sources resume" resumes all sources of the same account.',
    ],
    examples: [
      ['sluice sources list', 'all sources'],
      ['sluice sources resume shop --why "the account was unlocked"', 'try the login again'],
    ],
  },
  register(program: Command): void {
    const sources = program.command('sources').description('Lists sources with their logins, jobs and state.');
    sources
      .command('list', { isDefault: true })
      .description('Lists the sources.')
      .option(...configFlag)
      .option('--json', 'print JSON')
      .action(list);
    sources
      .command('resume')
      .description('Resumes a source after its login was refused.')
      .argument('<source>', 'name of the source')
      .option(...configFlag)
      .option(...whyFlag)
      .option('--json', 'print JSON')
      .action(resume);
  },
} satisfies CliCommand;
