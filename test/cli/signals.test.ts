import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { firstProcess, noFirstProcess } from '../journey/first-process.ts';
import { forTest } from '../journey/process.ts';

/** Receives the signal to stop, and continues. */
const stubborn = `
import { onStop } from ${JSON.stringify(new URL('../../src/cli/signals.ts', import.meta.url).href)};
onStop();
setInterval(() => {}, 1000);
console.log('ready');
`;

it.for([
  ['any process', [], 'SIGKILL'],
  ["a container's first process", firstProcess, 'SIGTRAP'],
] as const)("a second signal ends %s that hasn't exited after the first", async ([, under, how], { skip }) => {
  const reason = under.length > 0 ? noFirstProcess() : undefined;
  if (reason !== undefined) return skip(reason);
  const [program, ...flags] = [...under, process.execPath, '--input-type=module', '--eval', stubborn];
  const child = spawn(program!, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  forTest(() => child.kill('SIGKILL'));
  let isRunning = true;
  const ended = new Promise((resolve) => child.on('exit', (_, signal) => resolve(signal)));
  void ended.then(() => (isRunning = false));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const pid =
    under.length > 0 ? Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')) : child.pid!;
  process.kill(pid, 'SIGTERM');
  // A signal within a second counts as an echo of the first one, which a busy process may notice late.
  for (await wait(1500); isRunning; await wait(1500)) signalAgain(pid);
  expect(await ended).toBe(how);
});

/** Sends a second SIGTERM if the process is still running. */
function signalAgain(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // The process has ended, and its parent is about to report that.
  }
}
