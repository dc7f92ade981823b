import { errorIn, meaningOfStatus, type ProviderError } from './api-problems.ts';
import { type ErrorMeaning, noDatabase, passwordRefused, permissionDenied, serverBusy } from './server-problems.ts';

/** The error in the body of a response. https://cloud.google.com/bigquery/docs/error-messages */
export function bigqueryError(status: number, text: string): ProviderError {
  type Body = { readonly error: { readonly message?: string; readonly errors?: readonly { reason?: string }[] } };
  return errorIn<Body>(status, text, ({ error }) => ({ message: error.message, reason: error.errors?.[0]?.reason }));
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

export function bigqueryMeaning({ status, reason, message }: ProviderError, isConnected: boolean): ErrorMeaning {
  if (status === 401) return tokenRefused;
  if (/bigquery\.jobs\.create/.test(message)) return noJobs;
  if (reason === 'notFound' && /not found: (dataset|project)/i.test(message)) return noDataset;
  return reasons[reason] ?? meaningOfStatus(status, isConnected);
}
