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
  const [{ findLogin }, { logIn }, { systemClock }, { openStore }, { LoginRegistry }] = await Promise.all([
    import('../login/find-login.ts'),
    import('../login/log-in.ts'),
    import('../../lib/clock.ts'),
    import('../../state/store.ts'),
    import('../../oauth/login-registry.ts'),
  ]);
  showProblems(problems.filter(({ where }) => where.source === name));
  const source = findLogin(config, name);
  const stop = onStop();
  const store = await openStore(config.state, { clock: systemClock });
  const book = new LoginRegistry({ store, clock: systemClock, emit: () => undefined, ...config });
  // Requests for tokens know of no signal: what a person gives up is over with its connections.
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

const command: CliCommand = {
  register(program: Command): void {
    program
      .command('login')
      .description('Logs in at the vendor of a source, in a browser where the vendor wants a person.')
      .argument('<source>', 'name of the source, or of its login')
      .option(...configFlag)
      .option('--no-browser', 'only print the address, open nothing')
      .option('--paste', 'for machines without a browser: open the address elsewhere, paste what came back')
      .addOption(
        new Option(
          '--code',
          'the same without pasting, where the vendor has it: enter a printed code elsewhere',
        ).conflicts('paste'),
      )
      .addHelpText(
        'after',
        '\nLogins by a service account or by the app itself are tried at once. Tokens are kept encrypted in the state\nfolder and renewed by themselves; "sluice logins" lists them. Exits with 3 when the vendor refuses.',
      )
      .action(run);
  },
};
export default command;
