import type { Command } from 'commander';
import type { LoginReport } from '../../oauth/report.ts';
import type { CliCommand } from '../command.ts';
import { configFlag, openConfig, showProblems } from '../config-file.ts';
import { instantText } from '../output/format.ts';
import type { Tone } from '../output/paint.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';
import { printable, renderTable } from '../output/table.ts';

interface Flags {
  readonly config: string;
  readonly json?: true;
  readonly force?: true;
}

async function list({ config: file, json }: Flags): Promise<void> {
  const { config, problems } = await openConfig(file);
  showProblems(problems);
  const [{ openExistingStore }, { systemClock }, { reportLogins }] = await Promise.all([
    import('../../state/open-existing-store.ts'),
    import('../../lib/clock.ts'),
    import('../../oauth/report.ts'),
  ]);
  const store = await openExistingStore(config);
  try {
    const now = (store?.clock ?? systemClock).now();
    const reports = await reportLogins(config.sources.values(), store, now);
    const text = json === true ? JSON.stringify(reports.map(forMachines), undefined, 2) : textOf(reports);
    process.stdout.write(`${sanitizeOutput(text)}\n`);
  } finally {
    await store?.close();
  }
}

const iso = (at: number | undefined): string | undefined => (at === undefined ? undefined : new Date(at).toISOString());

function forMachines({ expires_at, renewed_at, ...rest }: LoginReport): object {
  return { ...rest, expires_at: iso(expires_at), renewed_at: iso(renewed_at) };
}

function textOf(reports: readonly LoginReport[]): string {
  if (reports.length === 0) return 'No source in this config uses OAuth.';
  const columns = [
    { title: 'login' },
    { title: 'sources' },
    { title: 'state', tone: toneOf },
    { title: 'who' },
    { title: 'scopes' },
    { title: 'token until' },
    { title: 'renewed' },
  ];
  const table = renderTable(columns, reports.map(rowOf), { widest: 40, paper: process.stdout });
  const needy = reports.filter(({ state }) => ['bad', 'waiting'].includes(toneOf(state) ?? ''));
  const next = needy.map(({ sources, login, message }) => {
    const why = message === undefined ? '' : `  (${printable(message)})`;
    return `sluice login ${sources[0] ?? login}${why}`;
  });
  return [table, ...(next.length === 0 ? [] : ['', 'Action required:', ...next.map((line) => `  ${line}`)])].join('\n');
}

function rowOf({ login, sources, state, who, scopes, expires_at, renewed_at }: LoginReport): string[] {
  const until = expires_at === undefined ? (renewed_at === undefined ? '–' : 'no end') : instantText(expires_at);
  const renewed = renewed_at === undefined ? '–' : instantText(renewed_at);
  return [login, sources.join(', ') || '–', state, who ?? '–', scopes.join(' ') || '–', until, renewed];
}

function toneOf(state: string): Tone | undefined {
  if (state === 'good') return 'good';
  if (state === 'ends soon') return 'waiting';
  return state === 'needs a person' || state === 'refused' ? 'bad' : 'quiet';
}

async function revoke(name: string, _: unknown, command: Command): Promise<void> {
  const { config: file, force } = command.optsWithGlobals<Flags>();
  const { config } = await openConfig(file);
  const [{ openStore }, { LoginRegistry }, { revokeLogin }] = await Promise.all([
    import('../../state/store.ts'),
    import('../../oauth/login-registry.ts'),
    import('../login/revoke-login.ts'),
  ]);
  const store = await openStore(config.state, { database: config.stateDatabase });
  const book = new LoginRegistry({ store, clock: store.clock, emit: () => undefined, ...config });
  try {
    const message = await revokeLogin(name, { config, store, book, force: force === true });
    process.stdout.write(`${sanitizeOutput(message)}\n`);
  } finally {
    await book.close();
    await store.close();
  }
}

export default {
  help: {
    examples: [
      ['sluice logins', 'all logins'],
      ['sluice logins revoke crm', 'end one'],
    ],
  },
  register(program: Command): void {
    const logins = program
      .command('logins')
      .description('Lists OAuth logins with their user, scopes, expiry and required actions.')
      .option(...configFlag)
      .option('--json', 'print JSON')
      .action(list);
    logins
      .command('revoke')
      .description('Revokes a login with the vendor and deletes its tokens.')
      .argument('<source>', 'name of the source, or of its login')
      .option('--force', 'delete the tokens even if the vendor cannot be reached')
      .action(revoke);
  },
} satisfies CliCommand;
