import { Problem } from '#sdk';

/** The error for a statement that returns no result set, not even an empty one: the job is misconfigured. */
export function noRows(): Problem {
  return new Problem({
    code: 'DB_NO_RESULT',
    family: 'job',
    message: 'the statement has no result, not even an empty one',
    next: 'write a select or another statement that has a result',
  });
}

/** The error for a statement that returns several result sets: it's unclear which one to read. */
export function manyResults(): Problem {
  return new Problem({
    code: 'DB_MANY_RESULTS',
    family: 'job',
    message: 'the statement returns more than one result',
    next: 'call a procedure that has one result, or write a select',
  });
}
