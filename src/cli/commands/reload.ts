import { setTimeout as wait } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { ReloadAnswer } from '../../daemon/config/reload-answer.ts';
import { Problem } from '../../lib/problem.ts';
import type { Store } from '../../state/store.ts';
import type { CliCommand } from '../command.ts';
import { configFlag } from '../config-file.ts';
import { exit } from '../exit.ts';
import { countOf } from '../output/format.ts';
import { sanitizeOutput } from '../output/sanitize-output.ts';

interface Flags {
  readonly config: string;
  readonly wait: number;
  readonly fleet?: true;
  readonly json?: true;
}

const pollMs = 50;

async function run({ config: file, wait: waitSeconds, fleet, json }: Flags): Promise<void> {
  const [{ findStateLocation, stateText }, { openExistingStore }] = await Promise.all([
    import('../state-location.ts'),
    import('../../state/open-existing-store.ts'),
  ]);
  const location = await findStateLocation(file);
  const state = stateText(location);
  const store = await openExistingStore(location);
  try {
    if (fleet === true) {
      await runFleet(store, { state, withinMs: waitSeconds * 1000, json });
      return;
    }
    const answer = await reload(store, { state, withinMs: waitSeconds * 1000 });
    const code = answer.faults.length === 0 ? exit.ok : exit.usage;
    if (json === true)
      process.stdout.write(`${sanitizeOutput(JSON.stringify({ exit_code: code, ...answer }, undefined, 2))}\n`);
    else tell(answer);
    process.exitCode = code;
  } finally {
    await store?.close();
  }
}

/** Reloads the configs of all processes that share the state. */
async function runFleet(
  store: Store | undefined,
  { state, withinMs, json }: { readonly state: string; readonly withinMs: number; readonly json: true | undefined },
): Promise<void> {
  const { reloadExit, reloadFleet, reloadLines } = await import('../reload/reload-fleet.ts');
  if (store?.isOnServer === false) throw noFleet(state);
  const reloads = store === undefined ? [] : await reloadFleet(store, withinMs);
  if (reloads.length === 0) throw noDaemon(state);
  const code = reloadExit(reloads);
  const text =
    json === true
      ? JSON.stringify({ exit_code: code, processes: reloads }, undefined, 2)
      : reloadLines(reloads).join('\n');
  process.stdout.write(`${sanitizeOutput(text)}\n`);
  process.exitCode = code;
}

/** Sends the daemon a signal and waits until the daemon has recorded the result. */
async function reload(
  store: Store | undefined,
  { state, withinMs }: { readonly state: string; readonly withinMs: number },
): Promise<ReloadAnswer> {
  const holder = await store?.leases.holder('daemon');
  if (store === undefined || holder === undefined) throw noDaemon(state);
  const [{ pidHere, processText }, { answerTo, askForReload }] = await Promise.all([
    import('../../state/processes/processes.ts'),
    import('../../daemon/config/reload-answer.ts'),
  ]);
  const { owner } = holder;
  const pid = pidHere(owner);
  if (pid === undefined) throw elsewhere(processText(owner));
  const asked = await askForReload(store);
  hangUp(pid, owner);
  for (const end = performance.now() + withinMs; performance.now() < end; await wait(pollMs)) {
    const answer = await answerTo(asked, { store, owner });
    if (answer !== undefined) return answer;
    if (store.processes.stateOf(owner) === 'dead') throw noDaemon(state);
  }
  throw noAnswer(processText(owner), withinMs);
}

function hangUp(pid: number, owner: string): void {
  try {
    process.kill(pid, 'SIGHUP');
  } catch (error) {
    throw new Problem({
      code: 'RELOAD_NOT_SIGNALED',
      family: 'job',
      message: 'Permission denied: this user cannot signal the daemon',
      seen: `${owner}: ${(error as NodeJS.ErrnoException).code}`,
      next: "run the command as the daemon's user, or as root",
    });
  }
}

function tell({ jobs, faults, note }: ReloadAnswer): void {
  if (faults.length === 0) {
    process.stdout.write(`${sanitizeOutput(`Reloaded: ${countOf(jobs, 'job')} active.`)}\n`);
    if (note !== undefined) process.stderr.write(`${sanitizeOutput(`warning ${note}`)}\n`);
    return;
  }
  for (const { code, place, message, next } of faults) {
    const where = place === '' ? '' : `\n  where    ${place}`;
    const fix = next === undefined ? '' : `\n  next     ${next}`;
    process.stderr.write(`${sanitizeOutput(`${code}: ${message}${where}${fix}`)}\n`);
  }
  process.stderr.write(
    `${sanitizeOutput(`Not reloaded: the config has ${countOf(faults.length, 'error')}; the previous config stays active.`)}\n`,
  );
}

function noDaemon(state: string): Problem {
  return new Problem({
    code: 'RELOAD_NO_DAEMON',
    family: 'job',
    message: 'No daemon is running for this state',
    seen: state,
    next: 'start one, which then uses the current config: sluice run',
  });
}

function noFleet(state: string): Problem {
  return new Problem({
    code: 'RELOAD_NO_FLEET',
    family: 'config',
    message: '--fleet requires a state in a database, which several processes share',
    seen: state,
    next: 'run the command without --fleet',
  });
}

function elsewhere(owner: string): Problem {
  return new Problem({
    code: 'RELOAD_ELSEWHERE',
    family: 'job',
    message: 'The daemon is running on another machine or in another container and cannot be signaled from here',
    seen: owner,
    next: 'if the state is in a database, add --fleet; otherwise, run the command there: docker exec CONTAINER node /app/src/cli/sluice.js reload',
  });
}

function noAnswer(owner: string, withinMs: number): Problem {
  return new Problem({
    code: 'RELOAD_NO_ANSWER',
    family: 'job',
    message: `Timeout: the daemon did not respond within ${withinMs / 1000} s`,
    seen: owner,
    next: 'check whether it is alive (sluice health) and which config is active (sluice status)',
  });
}

function seconds(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value <= 0)
    throw new InvalidArgumentError('Must be a number of seconds greater than 0.');
  return value;
}

export default {
  help: {
    exitCodes: [
      ['0', 'the new config is active'],
      ['1', 'no daemon is running, one did not respond, or processes have loaded different configs'],
      ['2', 'the config has errors; the previous config stays active'],
    ],
    examples: [
      ['sluice check && sluice reload', 'reloads only if the new config has no errors'],
      ['systemctl reload sluice', 'the same for the shipped systemd unit'],
    ],
  },
  register(program: Command): void {
    program
      .command('reload')
      .description('Reloads the config of the running daemon, all or nothing, and reports the result.')
      .option(...configFlag)
      .option('--fleet', 'reload the configs of all processes that share a state in a database, on all machines')
      .option('--wait <seconds>', 'how long to wait for the daemon', seconds, 60)
      .option('--json', 'print JSON')
      .action(run);
  },
} satisfies CliCommand;
