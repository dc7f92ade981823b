import type { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import type { Finding } from '../../daemon/doctor/finding.ts';
import { buildText } from '../../lib/build.ts';
import type { CliCommand } from '../command.ts';
import { configFlag, openConfig, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { forMachines } from '../for-machines.ts';
import { outward } from '../outward.ts';
import { onStop } from '../signals.ts';

interface Flags {
  readonly config: string;
  readonly connect?: true;
  readonly json?: true;
}

async function run({ config: file, connect, json }: Flags): Promise<void> {
  const { config, problems } = await openConfig(file);
  showProblems(problems);
  const { examine } = await import('../../daemon/doctor/examine.ts');
  const findings = examine(config, { now: Date.now(), version: buildText });
  if (connect === true) findings.push(...(await connectAll(config)));
  const lines = findings.flatMap(({ check, ok, says, mend }) => [
    `${ok ? 'ok ' : 'BAD'}  ${check.padEnd(18)}${says}`,
    ...(mend === undefined ? [] : [`     ${'mend'.padEnd(18)}${mend}`]),
  ]);
  process.stdout.write(`${outward(json === true ? forMachines({ findings }) : lines.join('\n'))}\n`);
  if (problems.length > 0) process.exitCode = exit.usage;
  else if (findings.some(({ ok }) => !ok)) process.exitCode = exit.failed;
}

async function connectAll(config: Config): Promise<Finding[]> {
  const { examineConnections } = await import('../../daemon/doctor/connections.ts');
  const stop = onStop();
  try {
    return await examineConnections(config, stop.signal);
  } finally {
    stop.done();
  }
}

const command: CliCommand = {
  register(program: Command): void {
    program
      .command('doctor')
      .description(
        'Looks at the machine: versions, the state folder, its database and leftovers, the disk, secrets open to others, time zones, the clock.',
      )
      .option(...configFlag)
      .option('--connect', "ask each source, and hold the clock against the service's: one request for each account")
      .option('--json', 'for machines')
      .addHelpText('after', '\nExits with 0 when all is well, 1 with a finding, 2 when the config has a fault.')
      .action(run);
  },
};
export default command;
