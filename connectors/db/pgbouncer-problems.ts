import type { Verdict } from './server-problems.ts';

interface Rule extends Verdict {
  readonly words: RegExp;
}

export const tlsRequired: Verdict = {
  family: 'config',
  code: 'DB_TLS_REQUIRED',
  next: 'set tls: { mode: verify } on the source',
};

const busy = { family: 'try_later', code: 'DB_SERVER_BUSY' } as const;

/**
 * What PgBouncer says, in words alone: all its errors have SQLSTATE 08P01. The first match counts.
 * https://github.com/pgbouncer/pgbouncer/tree/master/src, `disconnect_client` and `disconnect_server`.
 */
const rules: readonly Rule[] = [
  {
    words: /transaction blocks not allowed/,
    family: 'config',
    code: 'DB_POOL_MODE',
    next: 'set pool_mode to transaction or session in PgBouncer: Sluice reads in a transaction',
  },
  {
    words: /query_wait_timeout|server login has been failing|cannot connect to server|server down|DNS lookup failed/,
    ...busy,
    next: 'check that the server behind PgBouncer runs, and that default_pool_size of PgBouncer is large enough',
  },
  {
    words: /no more connections allowed/,
    ...busy,
    next: 'raise max_client_conn of PgBouncer, or lower the option connections of the source',
  },
  { words: /is disabled|database removed|paused|suspended/, ...busy, next: 'ask who pauses the database in PgBouncer' },
  {
    words: /^no such database|^database .* does not exist/,
    family: 'config',
    code: 'DB_NO_DATABASE',
    next: 'fix the option database',
  },
  { words: /^(SSL|TLS connection) required/, ...tlsRequired },
  {
    words: /certificate/,
    family: 'login',
    code: 'DB_LOGIN_REFUSED',
    next: 'set cert_file and key_file of the option tls to a certificate of this user',
  },
  {
    words: /authentication failed|no such user/,
    family: 'login',
    code: 'DB_LOGIN_REFUSED',
    next: 'check user and password of the source',
    isLoginRefused: true,
  },
  {
    words: /login (rejected|failed)|not allowed$/,
    family: 'login',
    code: 'DB_LOGIN_REFUSED',
    next: 'check user and password of the source',
  },
  {
    words: /^query[ _]timeout/,
    family: 'job',
    code: 'DB_STATEMENT_CANCELLED',
    next: 'raise query_timeout of PgBouncer or make the query faster',
  },
  {
    words: /^(idle transaction timeout|client_idle_timeout)/,
    family: 'try_later',
    code: 'DB_CONNECTION_LOST',
    next: 'raise idle_transaction_timeout and client_idle_timeout of PgBouncer',
  },
  {
    words: /^unsupported startup parameter/,
    family: 'config',
    code: 'DB_POOL_PARAMETER',
    next: 'unset PGOPTIONS in the environment of Sluice, or add the parameter to ignore_startup_parameters of PgBouncer',
  },
];

/** What follows from an error that a connection pooler told; undefined if it is none of PgBouncer's. */
export function pgbouncerVerdict(message: string): Verdict | undefined {
  return rules.find(({ words }) => words.test(message));
}
