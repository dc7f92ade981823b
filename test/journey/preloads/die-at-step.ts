import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';
import { aroundDurable, type DurableStep } from './durable.ts';
import { aroundStatements } from './statements.ts';

/**
 * Writes to STEPS_FILE, one per line, every durable step that this process is about to take below STEPS_UNDER or in the
 * database at STEPS_PORT, and every event that it emits. Before the step that DIE_AT names, kills the process, as a
 * power failure would, or sends it the signal DIE_BY. A step has the same name in every run that does the same: the
 * operation, the kind of file, and a counter. A transaction's changes before its commit count as steps only if
 * STEPS_CHANGES is set.
 */
const { STEPS_FILE, STEPS_UNDER, STEPS_PORT, STEPS_CHANGES, DIE_AT, DIE_BY = 'SIGKILL' } = process.env;
const counts = new Map<string, number>();

function reach(name: string): void {
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  const full = `${name} #${count}`;
  if (STEPS_FILE !== undefined) appendFileSync(STEPS_FILE, `${full}\n`);
  if (full === DIE_AT) process.kill(process.pid, DIE_BY);
}

/** Hashes, run IDs and process IDs differ each time. */
function kindOf({ what, on }: DurableStep): string {
  if (what === 'commit' || what === 'change') return `${what} ${on}`;
  const name = basename(on);
  if (/\.(part|scratch)$/.test(name)) return `${what} half-written`;
  return `${what} ${name.includes('.') ? 'payload' : 'folder'}`;
}

if (STEPS_UNDER !== undefined) {
  aroundDurable(STEPS_UNDER, (step, go, given) => {
    if (step.what !== 'change' || STEPS_CHANGES !== undefined) reach(kindOf(step));
    return go(...given);
  });
}
if (STEPS_PORT !== undefined) aroundStatements(Number(STEPS_PORT), reach);
subscribe('sluice', (message) => reach(`say ${(message as { name: string }).name}`));
