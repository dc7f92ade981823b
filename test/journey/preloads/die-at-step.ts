import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';
import { aroundDurable, type DurableStep } from './durable.ts';

/**
 * Lists in STEPS_FILE everything durable that this process is about to do below STEPS_UNDER, and every event that it
 * says, one line each; kills it, as a power cut would, before it does what DIE_AT names. A step's name is the same in
 * every run that does the same: what is done, to what kind of file, and the how-manieth such step it is. What a
 * transaction changes before its commit is a step only where STEPS_CHANGES is set.
 */
const { STEPS_FILE, STEPS_UNDER = '', STEPS_CHANGES, DIE_AT } = process.env;
const counts = new Map<string, number>();

function reach(name: string): void {
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  const full = `${name} #${count}`;
  if (STEPS_FILE !== undefined) appendFileSync(STEPS_FILE, `${full}\n`);
  if (full === DIE_AT) process.kill(process.pid, 'SIGKILL');
}

/** Hashes, run ids and process ids are other ones every time. */
function kindOf({ what, on }: DurableStep): string {
  if (what === 'commit' || what === 'change') return `${what} ${on}`;
  const name = basename(on);
  if (/\.(part|scratch)$/.test(name)) return `${what} half-written`;
  return `${what} ${name.includes('.') ? 'payload' : 'folder'}`;
}

aroundDurable(STEPS_UNDER, (step, go, given) => {
  if (step.what !== 'change' || STEPS_CHANGES !== undefined) reach(kindOf(step));
  return go(...given);
});
subscribe('sluice', (message) => reach(`say ${(message as { name: string }).name}`));
