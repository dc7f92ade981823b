import { createHash } from 'node:crypto';
import { Problem } from '../../lib/problem.ts';
import { registerSecret } from '../../lib/redact.ts';
import { withoutSlash } from '../../lib/without-slash.ts';
import { addParameters } from '../http/address-query.ts';
import { type HttpRequest, lowerCased, ownHeaders } from '../http/request.ts';
import type { ServiceDescription } from './description.ts';
import type { RequestData } from './request-data.ts';
import { render, renderDeep, renderText, type Scope, type Template } from './template.ts';

/** Headers and query parameters that authenticate a request. */
export interface AuthParameters {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
}

type Common = Pick<ServiceDescription, 'base' | 'headers' | 'query'>;

/** Builds the request from its description, with templates filled from the scope. */
export function buildRequest(
  data: RequestData,
  service: Common,
  scope: Scope,
  credentials: AuthParameters,
): HttpRequest {
  const url = addressOf(data, service, scope);
  addParameters(url, queryOf({ ...service.query, ...data.query }, scope));
  const { body, type } = bodyOf(data, scope);
  return {
    method: data.method ?? (body === undefined ? 'GET' : 'POST'),
    url,
    body,
    plainHeaders: ownHeaders,
    trustedHeaders: { ...lowerCased(type), ...headersOf(data, service, { scope, credentials }) },
    trustedQuery: credentials.query,
    trustedOrigin: url.origin,
  };
}

/** Like {@link buildRequest}, but for a URL from a response, to which only headers are added. */
export function buildLink(
  url: URL,
  service: Common,
  data: RequestData,
  given: { scope: Scope; credentials: AuthParameters },
): HttpRequest {
  return {
    method: 'GET',
    url,
    body: undefined,
    plainHeaders: ownHeaders,
    trustedHeaders: headersOf(data, service, given),
    trustedQuery: given.credentials.query,
    trustedOrigin: url.origin,
  };
}

/** A hash that identifies a request. */
export function requestHash({ method, url, trustedHeaders, body }: HttpRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([method, url.href, trustedHeaders, body]))
    .digest('hex');
}

/** The service's headers, then the credentials' headers, then the request's headers; later headers take precedence. */
function headersOf(
  data: RequestData,
  service: Common,
  { scope, credentials }: { scope: Scope; credentials: AuthParameters },
): Record<string, string> {
  const own = lowerCased(textsOf(data.headers, scope));
  if (own.authorization !== undefined) registerSecret(own.authorization.replace(/^Bearer /i, ''));
  return { ...lowerCased(textsOf(service.headers, scope)), ...lowerCased(credentials.headers), ...own };
}

/** Headers, parameters or fields as strings, without those that have no value. */
export function textsOf(given: Readonly<Record<string, Template>> | undefined, scope: Scope): Record<string, string> {
  const texts = Object.entries(given ?? {}).map(([name, value]) => [name, renderText(value, scope)] as const);
  return Object.fromEntries(texts.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function addressOf(data: RequestData, service: Common, scope: Scope): URL {
  const path = renderText(data.path, scope);
  if (path === undefined) throw unfilled(data.path, scope);
  const isWhole = /^https?:\/\//i.test(path);
  const base = isWhole ? '' : renderText(data.base ?? service.base, scope);
  if (base === undefined) throw unfilled(data.base ?? service.base, scope);
  const url = URL.parse(isWhole ? path : `${withoutSlash(base)}/${path.replace(/^\/+/, '')}`);
  if (url === null || !/^https?:$/.test(url.protocol)) throw noAddress(`${base}${path}`);
  return data.bare === true ? url : standIn(url, renderText('{{ api_url }}', scope));
}

/** The URL with the scheme, host and path prefix of `api_url`, if the user set that option. */
export function standIn(url: URL, apiUrl: string | undefined): URL {
  if (apiUrl === undefined) return url;
  const other = new URL(apiUrl);
  if (url.origin === other.origin) return url;
  return new URL(`${other.origin}${withoutSlash(other.pathname)}${url.pathname}${url.search}`);
}

function* queryOf(query: NonNullable<RequestData['query']>, scope: Scope): Generator<[string, string]> {
  for (const [name, given] of Object.entries(query)) {
    const values = Array.isArray(given) ? (given as readonly Template[]) : [given as Template];
    for (const value of values) {
      const text = renderText(value, scope);
      if (text !== undefined) yield [name, text];
    }
  }
}

function bodyOf(data: RequestData, scope: Scope): { body: string | undefined; type: Record<string, string> } {
  if (data.json !== undefined) {
    return { body: JSON.stringify(renderDeep(data.json, scope)), type: { 'content-type': 'application/json' } };
  }
  if (data.form !== undefined) {
    const type = { 'content-type': 'application/x-www-form-urlencoded' };
    return { body: new URLSearchParams(textsOf(data.form, scope)).toString(), type };
  }
  if (data.xml === undefined) return { body: undefined, type: {} };
  return { body: String(render(data.xml, scope) ?? ''), type: { 'content-type': 'text/xml; charset=utf-8' } };
}

function unfilled(template: Template, scope: Scope): Problem {
  const text = typeof template === 'string' ? template : 'a function';
  const kept = /\{\{\s*login\.kept\.(\w+)/.exec(text)?.[1];
  if (kept !== undefined) return cameWithout(kept);
  const { now: _, ...rest } = scope;
  return new Problem({
    code: 'SERVICE_ADDRESS',
    family: 'config',
    message: 'cannot build the URL: it contains an option that is not set',
    seen: text,
    allowed: `set: ${Object.keys(rest)
      .filter((name) => rest[name] !== undefined)
      .join(', ')}`,
    next: 'set the option named between {{ and }}',
  });
}

/**
 * The problem if a token came without the base URL. The vendor's token response should contain it or, if the user set
 * the token as a property, another property should.
 */
function cameWithout(name: string): Problem {
  return new Problem({
    code: 'SERVICE_ADDRESS',
    family: 'config',
    message: `unknown base URL: the vendor should return it as ${name} with the token, but did not`,
    next: `log in again; a data source with a token in oauth_user_token also needs the property ${name}, such as https://acme.example.com`,
  });
}

function noAddress(seen: string): Problem {
  return new Problem({ code: 'SERVICE_ADDRESS', family: 'config', message: 'not a valid URL', seen });
}
