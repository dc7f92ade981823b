import { type Command, Option } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag, openConfig, showProblems } from '../config-file.ts';
import { onStop } from '../signals.ts';

interface Flags {
  readonly config: string;
  readonly paste?: true;
  readonly code?: true;
  readonly browser: boolean;
}

async function run(name: string, flags: Flags): Promise<void> {
  const { config, problems } = await openConfig(flags.config);
  const [{ findLogin }, { logIn }, { openStore }, { LoginRegistry }] = await Promise.all([
    import('../login/find-login.ts'),
    import('../login/log-in.ts'),
    import('../../state/store.ts'),
    import('../../oauth/login-registry.ts'),
  ]);
  showProblems(problems.filter(({ where }) => where.source === name));
  const source = findLogin(config, name);
  const stop = onStop();
  const store = await openStore(config.state, { database: config.stateDatabase });
  const book = new LoginRegistry({ store, clock: store.clock, emit: () => undefined, ...config });
  // Token requests don't accept an abort signal, so closing their connections is the only way to abort them.
  stop.signal.addEventListener('abort', () => void book.close(), { once: true });
  try {
    await logIn({
      source,
      book,
      store,
      config,
      signal: stop.signal,
      paste: flags.paste === true,
      code: flags.code === true,
      browser: flags.browser,
    });
  } finally {
    await book.close();
    await store.close();
    stop.done();
    process.exitCode = stop.code() ?? process.exitCode;
  }
}

export default {
  help: {
    notes: [
      'Service account and app logins need no browser. Tokens are stored encrypted in the state folder and renewed automatically; "sluice logins" lists them.',
    ],
    exitCodes: [
      ['0', 'logged in'],
      ['3', 'the vendor refused the login'],
    ],
    examples: [
      ['sluice login crm', 'in a browser on this machine'],
      ['sluice login crm --paste', 'in a browser on another machine'],
    ],
  },
  register(program: Command): void {
    program
      .command('login')
      .description("Logs in to a source's vendor, in a browser if the vendor requires it.")
      .argument('<source>', 'name of the source, or of its login')
      .option(...configFlag)
      .option('--no-browser', 'print the URL instead of opening a browser')
      .option(
        '--paste',
        'for machines without a browser: open the URL on another machine, then paste the URL that you are redirected to',
      )
      .addOption(
        new Option(
          '--code',
          'for machines without a browser: enter a code on another device, if the vendor supports it',
        ).conflicts('paste'),
      )
      .action(run);
  },
} satisfies CliCommand;
