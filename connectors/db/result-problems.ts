import { Problem } from '#sdk';

/** A statement without a result, not even an empty one, is a mistake in a job. */
export function noRows(): Problem {
  return new Problem({
    code: 'DB_NO_RESULT',
    family: 'job',
    message: 'the statement has no result, not even zero rows',
    next: 'write a select, or another statement with a result',
  });
}

/** More than one result: it is unclear which one to read. */
export function manyResults(): Problem {
  return new Problem({
    code: 'DB_MANY_RESULTS',
    family: 'job',
    message: 'the statement returns more than one result',
    next: 'call a procedure that has one result, or write a select',
  });
}
