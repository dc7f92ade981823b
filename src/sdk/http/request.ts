import { redact } from '../../lib/redact.ts';

/** One request, with what may only go to the origin that it was made for kept apart. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: string | undefined;
  /** Sent wherever we are led. */
  readonly plainHeaders: Readonly<Record<string, string>>;
  /** Credentials and the user's own headers: only for {@link trustedOrigin}. */
  readonly trustedHeaders: Readonly<Record<string, string>>;
  /** A key that stands in the query, for the trusted origin as well. */
  readonly trustedQuery: readonly (readonly [string, string])[];
  readonly trustedOrigin: string;
}

/** The same request for another page. */
export function withUrl(request: HttpRequest, url: URL): HttpRequest {
  return { ...request, url };
}

/**
 * An address as an origin that gets no credentials may see it: without our own key in its query, which a server repeats when it
 * puts all parameters of a request into its next link. The other parameters keep the spelling that they came in: they may be signed.
 */
export function withoutKeys({ url, trustedQuery }: HttpRequest): URL {
  const names = new Set(trustedQuery.map(([name]) => name));
  const pairs = url.search.slice(1).split('&');
  const isOurs = ([name, value]: [string, string]) =>
    names.has(name) || redact(`${name}=${value}`) !== `${name}=${value}`;
  const kept = pairs.filter((pair) => ![...new URLSearchParams(pair)].some(isOurs));
  if (kept.length === pairs.length) return url;
  const clean = new URL(url);
  clean.search = kept.join('&');
  return clean;
}

/** What every request says of itself, wherever it goes. */
export const ownHeaders: Readonly<Record<string, string>> = {
  accept: 'application/json, application/x-ndjson, text/csv, application/xml, text/xml, */*;q=0.1',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'user-agent': 'sluice',
};

/** Header names as they are compared: in lower case. */
export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
