import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { whyFlag } from '../payloads/who.ts';
import type { Flags } from '../payloads/with-runtime.ts';

async function resume(name: string, flags: Flags): Promise<void> {
  const [{ show, withStore }, { deciderOf }, { chooseSource }, { loginOf, loginText }] = await Promise.all([
    import('../payloads/with-runtime.ts'),
    import('../payloads/who.ts'),
    import('../payloads/choose-source.ts'),
    import('../../daemon/login-holds/account.ts'),
  ]);
  await withStore(flags, async (store, config) => {
    const login = loginOf(chooseSource(config, name));
    const resumed =
      login !== undefined &&
      ((await store?.loginHolds.resume(login, { by: deciderOf(flags.why), source: name })) ?? false);
    const text = resumed
      ? `Source ${name} may log in again at ${loginText(login)}; a running daemon runs the jobs that waited within a few seconds.`
      : `The login of source ${name} is not on hold.`;
    show(flags, { text, data: { source: name, resumed } });
  });
}

const command: CliCommand = {
  register(program: Command): void {
    const sources = program.command('sources').description('Decisions about sources.');
    sources
      .command('resume')
      .description('Lets a source log in again after its login was refused.')
      .argument('<source>', 'name of the source')
      .option(...configFlag)
      .option(...whyFlag)
      .option('--json', 'for machines')
      .addHelpText(
        'after',
        '\nFor when the password in the config is right after all, such as after an account was unlocked. After a change of the\nconfig, "sluice reload" is enough. All sources of the same account go on with it.',
      )
      .action(resume);
  },
};
export default command;
