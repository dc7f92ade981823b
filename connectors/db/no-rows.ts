import { Problem } from '#sdk';

/** A statement that has no result, not even an empty one, cannot be what a job wants. */
export function noRows(): Problem {
  return new Problem({
    code: 'DB_NO_RESULT',
    family: 'job',
    message: 'the statement returns no rows, not even zero of them',
    next: 'write a select, or another statement that has a result',
  });
}
