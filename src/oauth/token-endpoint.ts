import { type HttpAgent, type HttpAnswer, sendRequest } from '../lib/http.ts';
import { passingAnswer } from '../lib/passing-answer.ts';
import { excerpt } from '../lib/redact.ts';
import type { OAuthDescription } from '../sdk/oauth.ts';
import { readRefusal, TokenRefusal, unreachable } from './refusal.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * A successful response's content: a token, a device code (RFC 8628 section 3.2), or nothing relevant (RFC 7009 section
 * 2.2).
 */
export type ExpectedAnswer = 'token' | 'code' | 'nothing';

const fieldOf = { token: 'access_token', code: 'device_code' } as const;

/** A form as the client library would send it. */
export interface FormRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly fields: URLSearchParams;
}

interface TokenRequestOptions {
  readonly agent: HttpAgent;
  readonly description: OAuthDescription;
  readonly now: () => number;
  readonly wanted: ExpectedAnswer;
}

const timeoutMs = 30_000;
const answerLimitBytes = 1024 * 1024;

/**
 * Sends a token request in the vendor's dialect and parses the response in any format. Throws a {@link TokenRefusal} if
 * the vendor refuses the request, or a Problem of family `try_later` if the vendor is unreachable or returns an
 * unexpected response.
 */
export async function callTokenEndpoint(
  address: string,
  form: FormRequest,
  given: TokenRequestOptions,
): Promise<Fields> {
  const { agent, description } = given;
  const { host } = new URL(address);
  const styled = inStyle(address, form, description);
  let answer: HttpAnswer;
  try {
    answer = await sendRequest({ agent, timeoutMs, answerLimitBytes, ...styled });
  } catch (cause) {
    throw unreachable(host, { message: `${host}: the token request failed`, seen: reasonOf(cause), cause });
  }
  return readAnswer(answer, { ...given, host });
}

interface Styled {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Formats the request in the vendor's style: with the fields as a form, as JSON or in the query, sent by POST or GET.
 */
function inStyle(address: string, { headers, fields }: FormRequest, description: OAuthDescription): Styled {
  const { token_parameters = {}, token_method = 'POST', token_request = 'form' } = description;
  for (const [name, value] of Object.entries(token_parameters)) fields.set(name, value);
  const { 'content-type': _, ...rest } = headers;
  const own = { ...rest, accept: 'application/json' };
  if (token_request === 'query' || token_method === 'GET') {
    const url = new URL(address);
    for (const [name, value] of fields) url.searchParams.set(name, value);
    return { method: token_method, url: url.href, headers: own };
  }
  const [type, body] =
    token_request === 'json'
      ? ['application/json', JSON.stringify(Object.fromEntries(fields))]
      : ['application/x-www-form-urlencoded', fields.toString()];
  return { method: 'POST', url: address, headers: { ...own, 'content-type': type! }, body: body! };
}

function readAnswer(
  answer: HttpAnswer,
  { description, now, host, wanted }: TokenRequestOptions & { host: string },
): Fields {
  const { status, text, complete, headers } = answer;
  const passing = passingAnswer(status, headers, now());
  if (passing !== undefined || !complete) {
    const wait = passing?.retryAfterMs;
    const message = `${host} is currently not issuing tokens`;
    const seen = complete ? `status ${status}` : `status ${status}, truncated response`;
    throw unreachable(host, { message, seen, retryAfterMs: wait });
  }
  if (wanted === 'nothing' && status < 300) return {};
  const fields = fieldsOf(text);
  if (status < 300 && wanted !== 'nothing' && typeof fields?.[fieldOf[wanted]] === 'string') return fields;
  if (status >= 300 && status < 400) throw redirected(answer);
  if (fields !== undefined && status < 300 && wanted === 'token' && isOtherAnswer(fields))
    throw tokenless(fields, status);
  if (fields === undefined || (status < 300 && !('error' in fields))) throw odd(host, answer);
  const clockAhead = clockAheadOf(headers.date, now());
  throw readRefusal(fields, { status, description, clockAhead });
}

/** Parses JSON, or a form, which some vendors return; undefined if it's neither. */
function fieldsOf(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
  } catch {
    return /^\s*\w+=[^<>\s]*$/.test(text) ? Object.fromEntries(new URLSearchParams(text.trim())) : undefined;
  }
}

/** A redirect isn't followed, because the request contains secrets. */
function redirected({ status, headers }: HttpAnswer): TokenRefusal {
  const to = excerpt(headers.location ?? 'an unknown URL', 200);
  return new TokenRefusal({
    error: `status ${status}`,
    message: `redirected to ${to}`,
    status,
    meaning: 'unknown',
    next: 'set `token_url` to the URL of the token endpoint itself: requests with secrets do not follow redirects',
  });
}

/** Whether the response is a JSON object with other fields than the standard's. */
function isOtherAnswer(fields: Fields): boolean {
  return Object.keys(fields).length > 0 && !('error' in fields) && !('access_token' in fields);
}

/** Shows only the names of the fields, because their values may be secrets. */
function tokenless(fields: Fields, status: number): TokenRefusal {
  return new TokenRefusal({
    error: `status ${status}`,
    message: `no access_token, but these fields: ${excerpt(Object.keys(fields).join(', '), 200)}`,
    status,
    meaning: 'unknown',
    next: 'check `token_url`; with simple_rest, `auth: {kind: login_call}` reads a token from any place in a response (`token_path`)',
  });
}

function odd(host: string, { status, headers, text }: HttpAnswer): Error {
  const type = headers['content-type'] ?? 'no content type';
  if (status >= 400)
    return new TokenRefusal({
      error: `status ${status}`,
      message: `${type}, no reason given`,
      status,
      meaning: 'unknown',
    });
  const seen = `status ${status}, ${type}, ${text.length} characters without a token`;
  return unreachable(host, { message: `${host} returned no valid token`, seen });
}

function clockAheadOf(date: string | undefined, now: number): number | undefined {
  const vendorTime = Date.parse(date ?? '');
  return Number.isNaN(vendorTime) ? undefined : vendorTime - now;
}

function reasonOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  return code ?? message;
}
