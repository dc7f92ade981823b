import assert, { fail } from 'node:assert/strict';
import { type Family, Problem } from '../../lib/problem.ts';
import type { Bench } from './bench.ts';
import type { WorldPart } from './world.ts';

/** One check. `run` resolves, or throws an assertion error with what is wrong and what the contract requires. */
export interface Check {
  /** One sentence. */
  readonly name: string;
  run(): Promise<void>;
}

/** A check that isn't bound to a test source yet. */
export interface Promised {
  readonly name: string;
  /** The part of the world (the test setup) that the check needs. */
  readonly needs?: WorldPart;
  look(bench: Bench): Promise<void>;
}

/** Returns the Problem that an action throws. Fails if the action succeeds or throws any other error. */
export async function problemOf(act: Promise<unknown>, families: readonly Family[]): Promise<Problem> {
  const thrown = await act.then(
    () => fail(`the call succeeded instead of throwing a Problem of family ${families.join(' or ')}`),
    (reason: unknown) => reason,
  );
  if (thrown instanceof assert.AssertionError) throw thrown;
  if (!(thrown instanceof Problem)) {
    fail(`the connector threw "${String(thrown)}"; only a Problem tells the runner what to do next`);
  }
  if (!families.includes(thrown.family)) {
    fail(`${thrown.code} has family ${thrown.family}, expected ${families.join(' or ')}: ${thrown.message}`);
  }
  assert.match(thrown.code, /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/, 'a code consists of upper-case words: AREA_WHAT');
  assert.doesNotMatch(thrown.message, /\.$/, 'a message has no period at the end');
  return thrown;
}
