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
