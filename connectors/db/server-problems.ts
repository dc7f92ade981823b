import { Problem, type ProblemInit } from '#sdk';

/** What follows from an error that a server told. */
export interface Verdict {
  readonly family: 'config' | 'login' | 'try_later' | 'job';
  readonly code: string;
  readonly next: string;
  /** The server said no to the user and password themselves. */
  readonly isLoginRefused?: boolean;
}

/** What errors mean that a server tells by numbers: one row of its table. */
export interface ErrorNumbers extends Verdict {
  readonly errors: readonly number[];
}

/** The verdict on an error that stands in no table: a server knows best what it does not like about a query. */
export const queryFailed: Verdict = {
  family: 'job',
  code: 'DB_QUERY_FAILED',
  next: 'mend the query; the server says where',
};

/** What a problem tells of the connection that it came up on. */
export interface Circumstances {
  /** The server as people write it. */
  readonly place: string;
  /** So long the source lets connecting take. */
  readonly connectSeconds: number;
  /** The server has let us in. */
  readonly isConnected: boolean;
}

/** What a server said about a login or a statement, as a problem of the family given. */
export function serverProblem(init: Omit<ProblemInit, 'message'> & { place: string; said: string }): Problem {
  const { place, said, ...rest } = init;
  return new Problem({ ...rest, message: `the database at ${place} answered: ${said}` });
}
