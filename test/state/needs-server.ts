import { beforeEach, inject } from 'vitest';
import { isCi, missingText, packagesOf } from '../servers/describe.ts';

/** Without a PostgreSQL, the state's tests would run in folders a second time. Skips them instead, or fails in CI. */
if (inject('stateServer') === undefined) {
  const message = missingText(['PostgreSQL'], packagesOf(['PostgreSQL']));
  beforeEach(({ skip }) => {
    if (isCi()) throw new Error(message);
    skip(message);
  });
}
