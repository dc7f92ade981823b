import assert from 'node:assert/strict';

/** Fails the check with a message. */
export function fail(message: string): never {
  assert.fail(message);
}
