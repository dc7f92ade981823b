import { type ConnectorLog, Problem, seenIn } from '#sdk';
import { connectionLost, neverConnected } from './network-problems.ts';
import { pgbouncerVerdict, tlsRequired } from './pgbouncer-problems.ts';
import { type Circumstances, queryFailed, serverProblem, type Verdict } from './server-problems.ts';

/** The fields of an ErrorResponse that we read. https://www.postgresql.org/docs/current/protocol-error-fields.html */
interface ServerError {
  readonly code?: string;
  readonly severity?: string;
  readonly position?: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly routine?: string;
}

interface Rule extends Verdict {
  readonly sqlstate: RegExp;
}

/** One table from SQLSTATE to what happens next; the first match counts. Appendix A of the PostgreSQL manual. */
const rules: readonly Rule[] = [
  {
    sqlstate: /^28P01/,
    family: 'login',
    code: 'DB_LOGIN_REFUSED',
    next: 'check user and password of the source',
    isLoginRefused: true,
  },
  { sqlstate: /^28/, family: 'login', code: 'DB_LOGIN_REFUSED', next: 'check user and password of the source' },
  { sqlstate: /^3D000/, family: 'config', code: 'DB_NO_DATABASE', next: 'mend the option database' },
  {
    sqlstate: /^25006/,
    family: 'job',
    code: 'DB_WRITE_REFUSED',
    next: 'a source is only read: write a query that changes nothing',
  },
  {
    sqlstate: /^57014/,
    family: 'job',
    code: 'DB_STATEMENT_CANCELLED',
    next: 'raise statement_timeout_seconds or make the query faster',
  },
  {
    sqlstate: /^(08|53|57P|58|40001|40P01|55P03|25P0[34])/,
    family: 'try_later',
    code: 'DB_SERVER_BUSY',
    next: 'the run is tried again',
  },
];

const otherParameters: Verdict = {
  family: 'job',
  code: 'DB_QUERY_FAILED',
  next: 'give one parameter for each of $1, $2 …',
};

type Where = Pick<Circumstances, 'place' | 'isConnected'>;

/** Whatever pg threw, as a problem. */
export function postgresProblem(thrown: unknown, where: Where): Problem {
  if (thrown instanceof Problem) return thrown;
  const error = (thrown ?? {}) as ServerError;
  if (error.severity === undefined || error.code === undefined) return clientProblem(thrown, where);
  const { message } = seenIn(thrown);
  const { family, code, next, isLoginRefused = false } = verdictOn(error, message);
  const said = [message, error.detail, error.hint].filter(Boolean).join('; ');
  return serverProblem({
    ...{ place: where.place, said, family, code, next, seen: stateOf(error), cause: thrown },
    // A query may log in elsewhere.
    isLoginRefused: isLoginRefused && !where.isConnected,
  });
}

/** Words count only where nothing else tells: a server may speak any language, a pooler's are always English. */
function verdictOn({ code = '', routine }: ServerError, message: string): Verdict {
  if (code.startsWith('28') && /no encryption|SSL off/.test(message)) return tlsRequired;
  if (routine === 'exec_bind_message') return otherParameters;
  const pooler = code === '08P01' && routine === undefined ? pgbouncerVerdict(message) : undefined;
  return pooler ?? rules.find(({ sqlstate }) => sqlstate.test(code)) ?? queryFailed;
}

function stateOf({ code, position }: ServerError): string {
  return position === undefined ? `SQLSTATE ${code}` : `SQLSTATE ${code} at character ${position} of the query`;
}

function clientProblem(thrown: unknown, { place, isConnected }: Where): Problem {
  if (isConnected) return connectionLost(place, thrown);
  const { message } = seenIn(thrown);
  if (!/^SASL|password/i.test(message)) return neverConnected(place, thrown);
  return new Problem({
    code: 'DB_LOGIN_REFUSED',
    family: 'login',
    message: `the database at ${place} wants a password that it was not given`,
    seen: message,
    next: 'set the option password',
    cause: thrown,
  });
}

/** Notices are the server talking to whoever wrote the query. */
export function logNotice(log: ConnectorLog): (notice: { message: string | undefined }) => void {
  return ({ message }) => log.debug('the database says', { notice: message });
}
