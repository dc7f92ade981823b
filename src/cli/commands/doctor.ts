import type { Command } from 'commander';
import { redact } from '../../lib/redact.ts';
import type { CliCommand } from '../command.ts';
import { configFlag, openConfig, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { forMachines } from '../for-machines.ts';

async function run({ config: file, json }: { readonly config: string; readonly json?: true }): Promise<void> {
  const { config, problems } = await openConfig(file);
  showProblems(problems);
  const { examine } = await import('../../daemon/examine.ts');
  const findings = examine(config, Date.now());
  const lines = findings.flatMap(({ check, ok, says, mend }) => [
    `${ok ? 'ok ' : 'BAD'}  ${check.padEnd(18)}${says}`,
    ...(mend === undefined ? [] : [`     ${'mend'.padEnd(18)}${mend}`]),
  ]);
  process.stdout.write(`${redact(json === true ? forMachines({ findings }) : lines.join('\n'))}\n`);
  if (problems.length > 0) process.exitCode = exit.usage;
  else if (findings.some(({ ok }) => !ok)) process.exitCode = exit.failed;
}

const command: CliCommand = {
  register(program: Command): void {
    program
      .command('doctor')
      .description(
        'Looks at the machine: the state folder, its database, the disk, secrets open to others, time zones.',
      )
      .option(...configFlag)
      .option('--json', 'for machines')
      .addHelpText('after', '\nExits with 0 when all is well, 1 with a finding, 2 when the config has a fault.')
      .action(run);
  },
};
export default command;
