import { Problem } from '#sdk';

/** The error for a statement that returns no result set, not even an empty one. The job is misconfigured. */
export function noRows(): Problem {
  return new Problem({
    code: 'DB_NO_RESULT',
    family: 'job',
    message: 'the statement returns no result set, not even an empty one',
    next: 'use a select or another statement that returns rows',
  });
}

/** The error for a statement that returns several result sets, because it's unclear which of them to read. */
export function manyResults(): Problem {
  return new Problem({
    code: 'DB_MANY_RESULTS',
    family: 'job',
    message: 'the statement returns more than one result set',
    next: 'call a procedure that returns one result set, or use a select',
  });
}
