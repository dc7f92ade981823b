import type { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import type { Finding } from '../../daemon/doctor/finding.ts';
import { buildText } from '../../lib/build.ts';
import type { CliCommand } from '../command.ts';
import { configFlag, openConfig, showProblems } from '../config-file.ts';
import { exit } from '../exit.ts';
import { jsonOutput } from '../output/json-output.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';
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
  const { state, stateDatabase } = config;
  if (stateDatabase !== undefined) {
    const [{ examineServer }, { examineStorage }] = await Promise.all([
      import('../../daemon/doctor/server.ts'),
      import('../../daemon/doctor/storage.ts'),
    ]);
    findings.push(...(await examineServer(stateDatabase)), ...(await examineStorage({ state, stateDatabase })));
  }
  if (connect === true) findings.push(...(await connectAll(config)));
  const lines = findings.flatMap(({ check, ok, message, fix }) => [
    `${ok ? 'ok ' : 'BAD'}  ${check.padEnd(18)}${message}`,
    ...(fix === undefined ? [] : [`     ${'fix'.padEnd(18)}${fix}`]),
  ]);
  process.stdout.write(`${sanitizeOutput(json === true ? jsonOutput({ findings }) : lines.join('\n'))}\n`);
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

export default {
  help: {
    exitCodes: [
      ['0', 'no findings'],
      ['1', 'at least one finding'],
      ['2', 'the config has errors'],
    ],
    examples: [
      ['sluice doctor', 'without network requests'],
      ['sluice doctor --connect', 'also test sources, and compare clocks'],
    ],
  },
  register(program: Command): void {
    program
      .command('doctor')
      .description(
        'Checks the machine: versions, the state folder and its database, leftover files, disk space, file permissions, time zones and the clock.',
      )
      .option(...configFlag)
      .option('--connect', "also test each source, and compare the clock with the service's (one request per account)")
      .option('--json', 'print JSON')
      .action(run);
  },
} satisfies CliCommand;
