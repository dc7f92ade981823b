import assert, { fail } from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { type Batch, cellText, storedRow } from '../batch.ts';
import type { Extraction } from '../extraction.ts';
import type { Bench } from './bench.ts';
import type { Promised } from './check.ts';
import { leftOpen, openHandles } from './handles.ts';
import { heldBytes, steadyBytes } from './memory.ts';

/** Checks that an extract ends when aborted, leaves nothing open, and uses little memory. */
export const stoppingChecks: readonly Promised[] = [
  { name: 'does not start if it is already stopped', look: doesNotBegin },
  {
    name: "ends within a second of being stopped, with the signal's reason, and leaves nothing open",
    needs: 'many',
    look: stops,
  },
  {
    name: 'leaves nothing open if the reader stops early or has read all rows',
    needs: 'many',
    look: letsGo,
  },
  { name: 'limits how far it reads ahead of a slow reader', needs: 'many', look: waits },
];

const reason = new Error('stopped by the test suite');
/** The contract allows one second; a second more is allowed because the machine may be busy. */
const promptMs = 2000;

async function doesNotBegin(bench: Bench): Promise<void> {
  isReason(await prompt(bench.read(undefined, { signal: AbortSignal.abort(reason) })), 'stopped before it started');
}

async function stops(bench: Bench): Promise<void> {
  await bench.read();
  const before = await openHandles();
  for (const ms of [0, 30]) {
    const stop = new AbortController();
    const begun = bench.extracting(bench.place.many, { signal: stop.signal }, (extraction) =>
      pull(extraction, 1, stop),
    );
    begun.catch(() => undefined);
    await wait(ms);
    stop.abort(reason);
    const when = `stopped ${ms} ms after the start`;
    isReason(await prompt(begun), when);
    assert.deepEqual(await leftOpen(before), [], `${when}, the extract left this open`);
  }
  for (const batches of [1, 3]) {
    const stop = new AbortController();
    const reading = bench.extracting(bench.place.many, { signal: stop.signal }, (extraction) =>
      pull(extraction, batches, stop),
    );
    const when = `stopped after ${batches} batches`;
    isReason(await thrownBy(reading), when);
    assert.deepEqual(await leftOpen(before), [], `${when}, the extract left this open`);
  }
}

/** The runner recognizes only the signal's reason as an abort; any other error counts as a failure. */
function isReason(thrown: unknown, when: string): void {
  if (thrown instanceof assert.AssertionError) throw thrown;
  if (thrown !== reason) fail(`${when}, the extract threw "${String(thrown)}" instead of the signal's reason`);
}

function thrownBy(act: Promise<unknown>): Promise<unknown> {
  return act.then(
    () => fail('the extract read to the end although it was stopped'),
    (error: unknown) => error,
  );
}

/**
 * Reads the given number of batches, aborts, and continues reading until the extract throws, which must happen
 * promptly.
 */
async function pull({ batches }: Extraction, wanted: number, stop: AbortController): Promise<void> {
  const iterator = batches[Symbol.asyncIterator]();
  for (let i = 0; i < wanted; i++) {
    if ((await iterator.next()).done)
      fail(`the "many" part has only ${i} batches, which is too few to stop between them`);
  }
  stop.abort(reason);
  const rest = async () => {
    while (!(await iterator.next()).done);
  };
  const thrown = await prompt(rest());
  throw thrown;
}

/** The error that an action throws promptly. */
async function prompt(act: Promise<unknown>): Promise<unknown> {
  const late = new AbortController();
  const tooLate = wait(promptMs, undefined, { signal: late.signal }).then(
    () => fail(`the extract did not end within ${promptMs} ms after it was stopped; the contract is one second`),
    () => undefined,
  );
  try {
    return await Promise.race([tooLate, thrownBy(act)]);
  } finally {
    late.abort();
  }
}

async function letsGo(bench: Bench): Promise<void> {
  await bench.read();
  const before = await openHandles();
  await bench.extracting(bench.place.many, {}, async ({ batches }) => {
    for await (const _ of batches) break;
  });
  assert.deepEqual(await leftOpen(before), [], 'after the reader stopped early, this is still open');
  await bench.read();
  assert.deepEqual(await leftOpen(before), [], 'after all rows were read, this is still open');
}

/** The maximum read-ahead, decoded or not, and the amount of data that is enough to detect unbounded read-ahead. */
const maxAhead = 8_000_000;
const minManyBytes = 2 * maxAhead;

async function waits(bench: Bench): Promise<void> {
  const many = bench.place.many!;
  await bench.read();
  const before = await heldBytes();
  await bench.extracting(many, {}, async ({ batches }) => {
    let [ahead, rows, bytes] = [0, 0, 0];
    for await (const batch of batches) {
      if (rows === 0) ahead = (await steadyBytes(before + maxAhead)) - before;
      rows += batch.length;
      bytes += bytesOf(batch);
    }
    assert.equal(rows, many.rows, 'the number of rows differs from the number in the "many" part');
    assert.ok(
      bytes >= minManyBytes,
      `the "many" part has only ${bytes} bytes; the check needs at least ${minManyBytes}`,
    );
    assert.ok(
      ahead <= maxAhead,
      `after the first batch, the extract had read ${ahead} bytes ahead; at most ${maxAhead} are allowed`,
    );
  });
}

function bytesOf(batch: Batch): number {
  let bytes = 0;
  for (const [c, { type }] of batch.columns.entries()) {
    for (let i = 0; i < batch.length; i++) bytes += cellText(batch.cells[c]!, type, storedRow(batch, i))?.length ?? 0;
  }
  return bytes;
}
