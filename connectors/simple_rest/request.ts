import {
  addParameters,
  addQuery,
  type HttpRequest,
  httpProblem,
  lowerCased,
  ownHeaders,
  Problem,
  registerSecret,
  secretName,
  shownUrl,
  textOf,
} from '#sdk';
import type { Auth } from './auth.ts';
import type { RestQuery, RestSource } from './options.ts';
import type { RequestParameter } from './request-parameter.ts';

/** The query options that determine the request. */
export type RequestQuery = Pick<RestQuery, 'path' | 'endpoint_url' | 'method' | 'parameters' | 'body' | 'form'>;

/** The headers and parameters that authenticate a request. */
export interface RestCredentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
}

export interface Filling {
  /**
   * Fills the templates in a value. Returns undefined if a template has no value. Without `fill`, templates stay
   * unchanged.
   */
  readonly fill?: (value: unknown) => unknown;
  /** Credentials from a login. Credentials from the options are added to the request later. */
  readonly credentials?: RestCredentials;
}

/** The request for a query. The options must have passed {@link optionFaults}. */
export function requestOf(source: RestSource, query: RequestQuery, filling: Filling = {}): HttpRequest {
  const { fill = (value: unknown) => value, credentials } = filling;
  const url = addressOf(source, query, fill);
  const parameters = parametersOf(query.parameters).flatMap(({ name, value, type }) => {
    const filled = fill(value ?? '');
    return filled === undefined ? [] : [{ name, value: textOf(filled) ?? '', type }];
  });
  const inQuery = parameters.filter(({ type }) => type !== 'header');
  addParameters(
    url,
    inQuery.map(({ name, value }) => [name, value] as const),
  );
  const trustedOrigin = trustedOriginOf(source, url);
  const own = parameters.filter(({ type }) => type === 'header').map(({ name, value }) => [name, value]);
  const auth = authOf(source.auth, url);
  registerSecrets(Object.entries(source.headers));
  registerSecrets(writtenIn(query), fill);
  const { body, type } = bodyOf(query, fill);
  return {
    method: query.method.toUpperCase(),
    url,
    body,
    plainHeaders: ownHeaders,
    trustedHeaders: lowerCased({
      ...type,
      ...auth.headers,
      ...credentials?.headers,
      ...source.headers,
      ...Object.fromEntries(own),
    }),
    trustedQuery: [...auth.query, ...(credentials?.query ?? [])],
    trustedOrigin,
  };
}

function addressOf(
  { url: base }: RestSource,
  { endpoint_url, path }: RequestQuery,
  fill: (value: unknown) => unknown,
): URL {
  if (endpoint_url !== undefined) return parsedAddress(fill(endpoint_url), endpoint_url);
  const url = new URL(base!);
  const filled = path === undefined ? '' : fill(path);
  if (filled === undefined) throw unfilled(path!);
  // A template's value can be a full URL, such as the location of a report.
  if (/^https?:\/\//i.test(String(filled))) return parsedAddress(filled, path!);
  const [way = '', search = ''] = splitOnce(String(filled), '?');
  if (way !== '') url.pathname = `${url.pathname.replace(/\/+$/, '')}/${way.replace(/^\/+/, '')}`;
  addQuery(url, search);
  return url;
}

/** Whether the source has credentials. Credentials are valid only for the origin of the source's `url`. */
export function holdsCredentials({ url, auth, headers }: Pick<RestSource, 'url' | 'auth' | 'headers'>): boolean {
  const base = url === undefined ? null : URL.parse(url);
  return (
    auth.kind !== 'none' || (base?.username ?? '') !== '' || Object.keys(headers).some((name) => secretName.test(name))
  );
}

/** Whether a request contains no credentials. A body may contain some; a token in the path isn't recognized. */
export function isAnonymous(source: RestSource, request: HttpRequest): boolean {
  const { url, body, trustedHeaders = {}, trustedQuery = [] } = request;
  if (holdsCredentials(source) || body !== undefined || trustedQuery.length > 0) return false;
  return ![...Object.keys(trustedHeaders), ...url.searchParams.keys()].some((name) => secretName.test(name));
}

/**
 * The origin that gets the credentials. Call this after the URL's templates have been filled, because a template may
 * contain the host, as in the URL of a report's file.
 */
function trustedOriginOf(source: RestSource, url: URL): string {
  const base = source.url === undefined ? null : URL.parse(source.url);
  if (base === null || base.origin === url.origin || !holdsCredentials(source)) return url.origin;
  if (source.other_origins.some((origin) => URL.parse(origin)?.origin === url.origin)) return base.origin;
  throw httpProblem('REST_ORIGIN', 'config', "`endpoint_url` does not have the same origin as the source's `url`", {
    seen: shownUrl(url),
    allowed: base.origin,
    next: "use the same origin in `endpoint_url`, or use another source, because this source's credentials are only for its `url`",
  });
}

function parsedAddress(filled: unknown, written: string): URL {
  const url = filled === undefined ? null : URL.parse(String(filled));
  if (url === null) throw unfilled(written);
  return url;
}

function unfilled(seen: string) {
  return httpProblem('REST_TEMPLATE', 'config', 'cannot build the URL: a template in it has no value', {
    seen,
    next: 'set `window` for `window.…`, `start` for `since`, and a matching kind of `paging` for `page.…`; `| default: x` sets a default',
  });
}

function splitOnce(text: string, mark: string): string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + mark.length)];
}

/** Also removes credentials from the URL, because they would otherwise appear in logs. */
function authOf(auth: Auth, url: URL): RestCredentials {
  const { username, password } = url;
  url.username = '';
  url.password = '';
  if (auth.kind === 'basic') return basic(auth.user ?? '', auth.password ?? '');
  if (auth.kind === 'bearer') return { headers: { authorization: `Bearer ${secret(auth.token)}` }, query: [] };
  if (auth.kind === 'key' && auth.in === 'query') return { headers: {}, query: [[auth.name!, secret(auth.value)]] };
  if (auth.kind === 'key') return { headers: { [auth.name!]: secret(auth.value) }, query: [] };
  return username === ''
    ? { headers: {}, query: [] }
    : basic(decodeURIComponent(username), decodeURIComponent(password));
}

type NamedValue = readonly [name: string, value: unknown];

/** The parameters and form fields as they are in the config. */
function writtenIn({ parameters, form = {} }: Pick<RequestQuery, 'parameters' | 'form'>): NamedValue[] {
  const fields = Object.entries(form).flatMap(([name, value]) => [value].flat().map((one): NamedValue => [name, one]));
  return [...parametersOf(parameters).map(({ name, value }): NamedValue => [name, value]), ...fields];
}

/** Matches templates whose values come from responses or from the calendar. */
const dataTemplate = /\{\{[^}]*\b(?:each|page|parent|since|until|window)\b/;

/**
 * Users put keys into ordinary headers and parameters. If a server repeats these values in a response, error messages
 * must not expose them. The IDs and page tokens in other values aren't secrets, so logs may contain them.
 */
export function registerSecrets(named: Iterable<NamedValue>, fill = (value: unknown): unknown => value): void {
  for (const [name, value] of named) {
    if (!secretName.test(name) || dataTemplate.test(String(value))) continue;
    registerSecret(textOf(fill(value)) ?? '');
  }
}

function basic(user: string, password: string): RestCredentials {
  const pair = Buffer.from(`${user}:${secret(password)}`, 'utf8').toString('base64');
  return { headers: { authorization: `Basic ${secret(pair)}` }, query: [] };
}

function secret(value: string | undefined): string {
  registerSecret(value ?? '');
  return value ?? '';
}

interface RequestBody {
  readonly body: string | undefined;
  readonly type: Readonly<Record<string, string>>;
}

function bodyOf(query: Pick<RequestQuery, 'body' | 'form'>, fill: (value: unknown) => unknown): RequestBody {
  if (query.form !== undefined) return formBody(fill(query.form) as NonNullable<RequestQuery['form']>);
  const body = query.body === undefined ? undefined : fill(query.body);
  if (body === undefined) return { body, type: {} };
  if (typeof body === 'string') return { body, type: { 'content-type': 'text/plain; charset=utf-8' } };
  return { body: JSON.stringify(body), type: { 'content-type': 'application/json' } };
}

/** In a form, unlike in a URL, `+` means a space (WHATWG URL, 5.2). */
function formBody(form: NonNullable<RequestQuery['form']>): RequestBody {
  const fields = Object.entries(form).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (one === null ? [] : [[name, String(one)]])),
  );
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  return { body: new URLSearchParams(fields).toString(), type };
}

/** The parameters as a list, even if they are given as JSON text, which the service document allows. */
export function parametersOf(given: string | readonly RequestParameter[] | undefined): readonly RequestParameter[] {
  if (given === undefined || given === '') return [];
  const list: unknown = typeof given === 'string' ? parsed(given) : given;
  if (Array.isArray(list) && list.every(isParameter)) return list;
  throw badParameters();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isParameter(given: unknown): given is RequestParameter {
  if (typeof given !== 'object' || given === null || !('name' in given)) return false;
  const value = 'value' in given ? given.value : null;
  return typeof given.name === 'string' && given.name !== '' && (value === null || typeof value !== 'object');
}

function badParameters(): Problem {
  return new Problem({
    code: 'REST_PARAMETERS',
    family: 'config',
    message: '`parameters` must be a list of {name, value, type}, or the same list as a JSON string',
    allowed: '[{"name": "since", "value": "2026-01-01", "type": "query"}]',
  });
}
