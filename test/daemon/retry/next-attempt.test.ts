import { expect, it } from 'vitest';
import { nextAttempt } from '../../../src/daemon/retry/next-attempt.ts';
import type { RetryRow } from '../../../src/state/tables.ts';

const at = Date.parse('2026-11-23T19:04:30Z');
const row = { job: 'orders', run: 'r1', since: at - 9, attempt: 1, next_at: at, until: at + 9 } as RetryRow;

it.each([
  [{}, /^tries again at 2026-11-23 19:04:30Z \(attempt 2\)$/],
  [{ now: at }, /^tries again .*\bturn\b.* \(attempt 2\)$/],
  [{ hasDaemon: false }, /^tries again .*\bdaemon\b.* \(attempt 2\)$/],
  [{ isRunning: true, hasDaemon: false }, /^attempt 2 is running$/],
])('the next attempt has a message that says what its run waits for: %j', (more, words) => {
  expect(nextAttempt(row, { now: at - 1, isRunning: false, hasDaemon: true, ...more })).toEqual({
    ...{ run: 'r1', since: at - 9, attempt: 2, at, until: at + 9, message: expect.stringMatching(words) },
  });
});
