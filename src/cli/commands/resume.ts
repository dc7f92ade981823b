import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { whyFlag } from '../payloads/decided-by.ts';
import type { Flags } from '../payloads/with-runtime.ts';

async function run(name: string, flags: Flags): Promise<void> {
  const [{ show, withStore }, { currentDecider }] = await Promise.all([
    import('../payloads/with-runtime.ts'),
    import('../payloads/decided-by.ts'),
  ]);
  await withStore(flags, async (store, config) => {
    // A job may still be on hold after it has been removed from the config.
    const { chooseJob } = await import('../payloads/choose-job.ts');
    const released = (await store?.holds.release(name, currentDecider(flags.why))) ?? false;
    if (!released) chooseJob(config, name);
    const keeps = ((await store?.generations.all(name)) ?? []).length > 0;
    const from = keeps ? 'continues from the rows kept with the restored payload' : 'reads everything';
    const text = released
      ? `Job ${name} can run again; its next run ${from} and sends the result.`
      : `Job ${name} is not on hold.`;
    show(flags, { text, data: { job: name, released } });
  });
}

export default {
  help: {
    examples: [
      ['sluice resume orders', 'let the job run again'],
      ['sluice resume orders --why "the prices are correct again"', 'with a reason for the audit log'],
    ],
  },
  register(program: Command): void {
    program
      .command('resume')
      .description('Resumes a job that is on hold after a rollback, or because its runs blocked the process.')
      .argument('<job>', 'name of the job')
      .option(...configFlag)
      .option(...whyFlag)
      .option('--json', 'print JSON')
      .action(run);
  },
} satisfies CliCommand;
