import {
  type ErrorMeaning,
  loginRefused,
  noCertificate,
  noDatabase,
  passwordRefused,
  serverBusy,
  tlsRequired,
} from './server-problems.ts';

interface Rule extends ErrorMeaning {
  readonly words: RegExp;
}

/** The meaning of errors by which a pooler reports that it closed an idle connection during the read. */
const idleEnded = { family: 'try_later', code: 'DB_CONNECTION_LOST' } as const;

/**
 * PgBouncer's errors, identified by their messages because nearly all have SQLSTATE 08P01. The first matching rule
 * applies. https://github.com/pgbouncer/pgbouncer/tree/master/src, `disconnect_client` and `disconnect_server`.
 */
const pgbouncer: readonly Rule[] = [
  {
    words: /transaction blocks not allowed/,
    family: 'config',
    code: 'DB_POOL_MODE',
    next: 'set pool_mode to transaction or session in PgBouncer: Sluice reads in a transaction',
  },
  { words: /^server login .*(password|authentication failed|role .* does not exist)/, ...loginRefused },
  {
    words: /query_wait_timeout|server login has been failing|cannot connect to server|server down|DNS lookup failed/,
    ...serverBusy,
    next: "check that the server behind PgBouncer is running and that PgBouncer's default_pool_size is large enough",
  },
  {
    words: /no more connections allowed|client connections exceeded/,
    ...serverBusy,
    next: "raise PgBouncer's max_client_conn, or reduce the source's connections option",
  },
  {
    words: /is disabled|database removed|paused|suspended/,
    ...serverBusy,
    next: 'resume the database in PgBouncer (RESUME)',
  },
  { words: /^no such database|^database .* does not exist/, ...noDatabase },
  { words: /^(SSL|TLS connection) required/, ...tlsRequired },
  { words: /certificate/, ...noCertificate },
  { words: /authentication failed|no such user/, ...passwordRefused },
  {
    words: /login (rejected|failed)|not allowed$|^(username|password) too long|^empty password/,
    ...loginRefused,
  },
  {
    words: /^query[ _]timeout/,
    family: 'job',
    code: 'DB_STATEMENT_CANCELLED',
    next: "raise PgBouncer's query_timeout, or make the query faster",
  },
  {
    words: /^(idle transaction timeout|client_idle_timeout)/,
    ...idleEnded,
    next: "raise PgBouncer's idle_transaction_timeout and client_idle_timeout",
  },
  {
    words: /^unsupported startup parameter/,
    family: 'config',
    code: 'DB_POOL_PARAMETER',
    next: "remove options from the source's URL or connection service, or add it to PgBouncer's ignore_startup_parameters",
  },
];

/**
 * Pgpool-II's own errors, which have SQLSTATE XX000 or 57000. Errors that Pgpool-II forwards from the server keep their
 * SQLSTATE. https://github.com/pgpool/pgpool2/tree/master/src, `ereport` and `pool_send_error_message`.
 */
const pgpool: readonly Rule[] = [
  {
    words: /pool_hba\.conf/,
    family: 'config',
    code: 'DB_HOST_REFUSED',
    next: 'add a line to pool_hba.conf that allows this user, database and address',
  },
  { words: /SSL certificate authentication/, ...noCertificate },
  {
    words: /client_idle_limit/,
    ...idleEnded,
    next: "raise Pgpool-II's client_idle_limit",
  },
  {
    words:
      /all backend|\bDB node\b|backend node|connect to backend|online recovery|failover|kind (mismatch|does not match)/i,
    ...serverBusy,
    next: 'run show pool_nodes to check that the servers behind Pgpool-II are running',
  },
  {
    words: /authentication (with pgpool )?failed|failed to authenticate/i,
    ...passwordRefused,
    next: `${loginRefused.next}, and Pgpool-II's pool_passwd`,
  },
  {
    words: /^(unable|failed) to (read|write|flush|forward|process)/,
    ...serverBusy,
    next: "if this persists, check Pgpool-II's log",
  },
];

const rulesOf = new Map([
  ['08P01', pgbouncer],
  ['XX000', pgpool],
  ['57000', pgpool],
]);

/**
 * Classifies a connection pooler's error by SQLSTATE, message and details. Returns undefined if the error isn't from a
 * pooler.
 */
export function poolerErrorMeaning(sqlstate: string, words: string): ErrorMeaning | undefined {
  return rulesOf.get(sqlstate)?.find((rule) => rule.words.test(words));
}
