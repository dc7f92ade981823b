import { errorIn, meaningOfStatus, type ProviderError } from './api-problems.ts';
import { type ErrorMeaning, noDatabase, passwordRefused } from './server-problems.ts';

/** The error in the body of a response. https://docs.snowflake.com/en/developer-guide/sql-api/reference#queryfailurestatus */
export function snowflakeError(status: number, text: string): ProviderError {
  return errorIn<{ code?: string; message?: string }>(status, text, ({ code, message }) => ({ reason: code, message }));
}

const canceled: ErrorMeaning = {
  family: 'job',
  code: 'DB_STATEMENT_CANCELLED',
  next: "make the query faster, or raise the source's statement_timeout_seconds or the warehouse's limit",
};

const tokenRefused: ErrorMeaning = {
  ...passwordRefused,
  next: "check the source's password, which is a programmatic access token, or its user and private_key_file; the network policy must allow this address",
};

/** By code. */
const codes: Readonly<Record<string, ErrorMeaning>> = {
  '000604': canceled,
  '000630': canceled,
  '000606': { ...noDatabase, next: "set session: { warehouse: … }, or the user's default warehouse" },
  '390189': { ...noDatabase, next: 'fix the role in session, or grant it to the user' },
  '390201': { ...noDatabase, next: 'fix the database, the schema or the warehouse, or grant usage on it to the role' },
};

export function snowflakeMeaning({ status, reason }: ProviderError, isConnected: boolean): ErrorMeaning {
  if (status === 401) return tokenRefused;
  const meaning = codes[reason];
  if (meaning !== undefined) return meaning;
  if (status === 408) return canceled;
  return meaningOfStatus(status, isConnected);
}
