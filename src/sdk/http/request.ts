import { redact } from '../../lib/redact.ts';

/** One request. Everything that may be sent only to the trusted origin is in separate fields. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: string | undefined;
  /** Headers that are sent to every origin, including redirect targets. */
  readonly plainHeaders: Readonly<Record<string, string>>;
  /** Credentials and the user's own headers, only for {@link trustedOrigin}. */
  readonly trustedHeaders: Readonly<Record<string, string>>;
  /** API keys to add to the query string, only for the trusted origin. */
  readonly trustedQuery: readonly (readonly [string, string])[];
  readonly trustedOrigin: string;
}

/** The same request for another URL. */
export function withUrl(request: HttpRequest, url: URL): HttpRequest {
  return { ...request, url };
}

/**
 * The URL for an origin that must not get credentials. Removes the API key from the query string, because some servers
 * copy all request parameters into the next link. The other parameters keep their exact encoding, because they may be
 * signed.
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

/** Default headers for every request, to any origin. */
export const ownHeaders: Readonly<Record<string, string>> = {
  accept: 'application/json, application/x-ndjson, text/csv, application/xml, text/xml, */*;q=0.1',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'user-agent': 'sluice',
};

/** Headers with lowercase names, for comparison. */
export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
