import type { Command } from 'commander';
import type { CliCommand } from '../command.ts';
import { configFlag, openConfig, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';
import { onStop } from '../signals.ts';

interface Flags {
  readonly config: string;
  readonly yes?: true;
  readonly json?: true;
}

async function run({ config: file, yes, json }: Flags): Promise<void> {
  const { config, problems } = await openConfig(file);
  showProblems(problems);
  const [{ planApply }, { carryOutPlan }, { DestinationClient }, { composeRuntime }] = await Promise.all([
    import('../../delivery/apply.ts'),
    import('../../delivery/carry-out-plan.ts'),
    import('../../delivery/client.ts'),
    import('../../daemon/compose.ts'),
  ]);
  const stop = onStop();
  const runtime = await composeRuntime({ config, stop: stop.signal });
  try {
    const { gateway, store } = runtime;
    const clientOf = ({ destination }: { destination: Parameters<typeof gateway.of>[0] }) =>
      new DestinationClient({ gateway, gate: gateway.of(destination), priority: 'person', signal: stop.signal });
    const plan = await planApply(config, store, clientOf);
    const actions = plan.actions.map(({ kind, say }) => ({ action: kind, message: say }));
    if (json === true)
      process.stdout.write(
        `${sanitizeOutput(JSON.stringify({ changes: plan.changes, carried_out: yes === true, actions }, undefined, 2))}\n`,
      );
    else for (const { message } of actions) process.stdout.write(`  ${sanitizeOutput(message)}\n`);
    if (yes === true) await carryOutPlan(plan, { store, clientOf });
    if (json !== true)
      process.stdout.write(`${sanitizeOutput(verdict(plan, { done: yes === true, faults: problems.length }))}\n`);
    if (problems.length > 0) process.exitCode = exit.usage;
  } finally {
    await runtime.close();
    stop.done();
    process.exitCode = stop.code() ?? process.exitCode;
  }
}

function verdict(
  { actions, changes }: { actions: readonly unknown[]; changes: boolean },
  { done, faults }: { done: boolean; faults: number },
): string {
  if (actions.length === 0 && faults > 0) return 'No valid job declares a data source.';
  if (actions.length === 0) return 'Nothing to apply: no job declares a data source.';
  if (!changes) return 'Up to date: every data source matches its declaration.';
  return done ? 'Done.' : 'Nothing changed yet. To apply these changes: sluice apply --yes';
}

export default {
  help: {
    examples: [
      ['sluice apply', 'show what would change'],
      ['sluice apply --yes', 'create and update the data sources'],
    ],
  },
  register(program: Command): void {
    program
      .command('apply')
      .description('Creates and updates the data sources that jobs declare. Shows the changes first; never deletes.')
      .option(...configFlag)
      .option('-y, --yes', 'apply the changes')
      .option('--json', 'print JSON')
      .action(run);
  },
} satisfies CliCommand;
