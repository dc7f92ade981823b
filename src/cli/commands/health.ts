import type { Command } from 'commander';
import type { Health } from '../../daemon/report/report-health.ts';
import { renderProblem, toProblem } from '../../lib/problem.ts';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { exit } from '../exit.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';

interface Flags {
  readonly config: string;
  readonly fleet?: true;
  readonly json?: true;
}

async function run({ config: file, fleet, json }: Flags): Promise<void> {
  const health = await look(file, fleet === true).catch(
    (thrown: unknown): Health => ({
      ok: false,
      checks: [
        {
          name: 'state',
          ok: false,
          message: renderProblem(toProblem(thrown, { code: 'STATE_UNREADABLE', family: 'job' })),
        },
      ],
    }),
  );
  const text = json === true ? JSON.stringify(health, undefined, 2) : textOf(health);
  process.stdout.write(`${sanitizeOutput(text)}\n`);
  // Container engines know only the exit codes 0 and 1.
  process.exitCode = health.ok ? exit.ok : exit.failed;
}

async function look(file: string, isFleet: boolean): Promise<Health> {
  const [{ findStateLocation, stateText }, { openExistingStore: openExisting }, { reportHealth }] = await Promise.all([
    import('../state-location.ts'),
    import('../../state/open-existing-store.ts'),
    import('../../daemon/report/report-health.ts'),
  ]);
  const location = await findStateLocation(file);
  const store = await openExisting(location);
  if (store === undefined)
    return { ok: false, checks: [{ name: 'state', ok: false, message: `no state in ${stateText(location)}` }] };
  try {
    return await reportHealth(store, store.clock, { isFleet });
  } finally {
    await store.close();
  }
}

function textOf({ ok, checks }: Health): string {
  const lines = checks.map((check) => `  ${check.ok ? 'ok ' : 'BAD'}  ${check.name.padEnd(10)} ${check.message}`);
  return [ok ? 'healthy' : 'not healthy', ...lines].join('\n');
}

export default {
  help: {
    exitCodes: [
      ['0', 'healthy'],
      ['1', 'not healthy, or no daemon is running'],
    ],
    examples: [
      ['sluice health', 'for a container or a monitoring system'],
      ['sluice health --fleet', 'all machines that share a state in a database'],
      ['sluice health --json', 'with details'],
    ],
  },
  register(program: Command): void {
    program
      .command('health')
      .description('Checks whether the daemon is alive and its scheduler is running.')
      .option(...configFlag)
      .option('--fleet', 'check the processes on all machines, not only those on this machine')
      .option('--json', 'print JSON')
      .action(run);
  },
} satisfies CliCommand;
