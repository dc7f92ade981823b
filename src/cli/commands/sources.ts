import type { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import type { Store } from '../../state/store.ts';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { whyFlag } from '../payloads/decided-by.ts';
import type { Flags } from '../payloads/with-runtime.ts';
import { renderTable } from '../table.ts';

/** A source of the config, as `sources` shows it. */
interface SourceReport {
  readonly source: string;
  readonly connector: string;
  /** Server and user, `db:5432 as etl`; null if the source does not log in. */
  readonly login: string | null;
  readonly jobs: readonly string[];
  /** `login on hold` with the time of the next attempt, or `usable`. */
  readonly state: string;
}

async function list(flags: Flags): Promise<void> {
  const { show, withStore } = await import('../payloads/with-runtime.ts');
  await withStore(flags, async (store, config) => {
    const reports = await reportSources(config, store);
    show(flags, { text: textOf(reports), data: reports });
  });
}

async function reportSources(config: Config, store: Store | undefined): Promise<SourceReport[]> {
  const [{ loginOf, loginText }, { retryText }, { readLoginHolds }, { systemClock }] = await Promise.all([
    import('../../daemon/login-holds/account.ts'),
    import('../../daemon/login-holds/problem.ts'),
    import('../../daemon/login-holds/read-login-holds.ts'),
    import('../../lib/clock.ts'),
  ]);
  const holds = store === undefined ? new Map() : await readLoginHolds(config, store, systemClock);
  return [...config.sources.values()].map((source) => {
    const login = loginOf(source);
    const hold = holds.get(source.name);
    return {
      source: source.name,
      connector: source.connector.id,
      login: login === undefined ? null : loginText(login),
      jobs: [...config.jobs.values()].filter(({ extract }) => extract?.source === source).map(({ name }) => name),
      state: hold === undefined ? 'usable' : `login on hold; ${retryText(hold)}`,
    };
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
  return renderTable(columns, rows, { widest: 60, paper: process.stdout });
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
      ? `Source ${name} can log in again at ${loginText(login)}; a running daemon starts the waiting jobs within a few seconds.`
      : `The login of source ${name} is not on hold.`;
    show(flags, { text, data: { source: name, resumed } });
  });
}

const command: CliCommand = {
  register(program: Command): void {
    const sources = program
      .command('sources')
      .description('Lists sources with their logins and jobs, and shows which logins are on hold.');
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
      .addHelpText(
        'after',
        '\nUse this if the password in the config is correct, for example after an account was unlocked. After a config change,\n"sluice reload" is enough. This resumes all sources of the same account.',
      )
      .action(resume);
  },
};
export default command;
