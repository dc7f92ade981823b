import { Problem, seenIn } from '#sdk';
import { connectionLost, connectTimeout, neverConnected } from './network-problems.ts';
import {
  type Circumstances,
  type ErrorMeaning,
  noDatabase,
  otherwise,
  passwordRefused,
  permissionDenied,
  serverBusy,
  serverProblem,
} from './server-problems.ts';

/** An error that the API returned. */
export class BigqueryError extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** The error in the body of a response. A proxy's response has another body. */
export function bigqueryError(status: number, text: string): BigqueryError {
  const { error } = (parsed(text) ?? {}) as { error?: { message?: string; errors?: { reason?: string }[] } };
  const [first] = error?.errors ?? [];
  return new BigqueryError(status, first?.reason ?? '', error?.message ?? `status ${status}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const canceled: ErrorMeaning = {
  family: 'job',
  code: 'DB_STATEMENT_CANCELLED',
  next: "make the query faster, or raise the source's statement_timeout_seconds; if a person canceled it, the job history in the Google Cloud console shows who",
};

/** By reason. https://cloud.google.com/bigquery/docs/error-messages */
const reasons: Readonly<Record<string, ErrorMeaning>> = {
  accessNotConfigured: {
    family: 'config',
    code: 'DB_CONNECT_REFUSED',
    next: "enable the BigQuery API in the source's project",
  },
  accessDenied: permissionDenied,
  bytesBilledLimitExceeded: {
    family: 'job',
    code: 'DB_QUERY_FAILED',
    next: 'make the query read less, or raise maximum_bytes_billed in session',
  },
  stopped: canceled,
  timeout: canceled,
  quotaExceeded: serverBusy,
  rateLimitExceeded: serverBusy,
  jobRateLimitExceeded: serverBusy,
  backendError: serverBusy,
  internalError: serverBusy,
  tableUnavailable: serverBusy,
};

/** The account may not run queries in the project. */
const noJobs: ErrorMeaning = {
  family: 'config',
  code: 'DB_NO_DATABASE',
  next: 'give the account the role BigQuery Job User (roles/bigquery.jobUser) in the project, or fix the project option',
};

const noDataset: ErrorMeaning = {
  ...noDatabase,
  next: 'fix the database option, which is the dataset, or set session: { location: … } to its location',
};

const tokenRefused: ErrorMeaning = {
  ...passwordRefused,
  next: "log in again (`sluice login`), or correct the source's password, which is an access token",
};

function meaningOf({ status, reason, message }: BigqueryError, isConnected: boolean): ErrorMeaning {
  if (status === 401) return tokenRefused;
  if (/bigquery\.jobs\.create/.test(message)) return noJobs;
  if (reason === 'notFound' && /not found: (dataset|project)/i.test(message)) return noDataset;
  const meaning = reasons[reason];
  if (meaning !== undefined) return meaning;
  return status === 429 || status >= 500 ? serverBusy : otherwise(isConnected);
}

type Where = Pick<Circumstances, 'place' | 'connectSeconds' | 'isConnected'>;

/** Converts an error of the API or of the connection to a problem. */
export function bigqueryProblem(thrown: unknown, { place, connectSeconds, isConnected }: Where): Problem {
  if (thrown instanceof Problem) return thrown;
  if (thrown instanceof BigqueryError) {
    const { status, reason, message: serverMessage } = thrown;
    const seen = reason === '' ? `status ${status}` : `status ${status}, ${reason}`;
    return serverProblem({ ...meaningOf(thrown, isConnected), place, serverMessage, seen, cause: thrown });
  }
  if (seenIn(thrown).code === 'UND_ERR_CONNECT_TIMEOUT') return connectTimeout(place, connectSeconds);
  return isConnected ? connectionLost(place, thrown) : neverConnected(place, thrown);
}
