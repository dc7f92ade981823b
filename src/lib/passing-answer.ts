type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A transient refusal: the same request may succeed later. */
export interface PassingAnswer {
  /** Whether the server is rate-limiting us. */
  readonly isRateLimit: boolean;
  /** The wait that the server requests, in milliseconds; undefined if it doesn't request one. */
  readonly retryAfterMs: number | undefined;
}

/**
 * Whether an HTTP error response is transient, and for how long: 408, 425, 429, every 5xx except 501 and 505 (RFC 9110,
 * 15; RFC 8470; RFC 6585), and 403 with rate-limit headers, which some servers use for rate limits.
 * @param headers with lowercase names
 * @param now epoch milliseconds
 */
export function passingAnswer(status: number, headers: Headers, now: number): PassingAnswer | undefined {
  if (status === 403) {
    const retryAfter = retryAfterMs(headers, now);
    const limit = spentLimit(headers, now);
    if (retryAfter === undefined && limit === undefined) return undefined;
    return { isRateLimit: true, retryAfterMs: retryAfter ?? limit?.resetMs };
  }
  if (!isPassingStatus(status)) return undefined;
  return {
    isRateLimit: status === 429,
    retryAfterMs: retryAfterMs(headers, now) ?? (status === 429 ? spentLimit(headers, now)?.resetMs : undefined),
  };
}

/** Whether the status alone means that the error is transient. */
export function isPassingStatus(status: number): boolean {
  return [408, 425, 429].includes(status) || (status >= 500 && status !== 501 && status !== 505);
}

/**
 * The wait requested by `Retry-After` in milliseconds (RFC 9110, 10.2.3): seconds, which some servers send with a
 * fraction, or a date, which is compared with the server's own `Date`, so the clocks don't have to agree. Undefined for
 * unusable values, such as a date in the past.
 */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const text = first(headers['retry-after']);
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // Require a year, because Date.parse accepts many strings that aren't dates.
  const at = /\d{4}/.test(text) ? Date.parse(text) : Number.NaN;
  const sent = Date.parse(first(headers.date));
  const milliseconds = at - (Number.isNaN(sent) ? now : sent);
  return milliseconds > 0 ? milliseconds : undefined;
}

/**
 * The limit that a response reports as used up, and milliseconds until its reset, if known. Supports `RateLimit` with
 * `RateLimit-Policy` in the current form (`"default";r=0;t=30`, draft-ietf-httpapi-ratelimit-headers-08 and later) and
 * in the form of draft 07 (`limit=100, remaining=0, reset=30`), as well as `RateLimit-Remaining` with `-Reset`, also
 * spelled `X-RateLimit-…` and `X-Rate-Limit-…`. Undefined if requests are left or no limit is reported.
 */
export function spentLimit(headers: Headers, now: number): { readonly resetMs: number | undefined } | undefined {
  for (const prefix of ['ratelimit', 'x-ratelimit', 'x-rate-limit']) {
    const remaining = numberOf(first(headers[`${prefix}-remaining`]));
    if (remaining === 0) return { resetMs: resetOf(numberOf(first(headers[`${prefix}-reset`])), now) };
  }
  const spent = first(headers.ratelimit)
    .split(/,(?!\s*(?:remaining|reset)\s*=)/)
    .filter((limit) => /(?:;\s*r|\bremaining)\s*=\s*0(?!\d)/.test(limit));
  if (spent.length === 0) return undefined;
  const resets = spent.map((limit) => resetIn(limit) ?? windowOf(limit, first(headers['ratelimit-policy'])));
  const known = resets.filter((seconds) => seconds !== undefined);
  return { resetMs: known.length === 0 ? undefined : resetOf(Math.max(...known), now) };
}

/** Seconds until the reset, according to the limit itself. */
function resetIn(limit: string): number | undefined {
  return numberOf(/(?:;\s*t|\breset)\s*=\s*(\d+)/.exec(limit)?.[1] ?? '');
}

/** The window, in seconds, of the policy with the limit's name. The limit's reset can't be further away than that. */
function windowOf(limit: string, policies: string): number | undefined {
  const name = /^\s*("[^"]*"|[\w-]+)/.exec(limit)?.[1];
  const policy = policies.split(',').find((one) => one.trim().startsWith(`${name};`));
  return numberOf(/;\s*w\s*=\s*(\d+)/.exec(policy ?? '')?.[1] ?? '');
}

/**
 * Milliseconds until the reset. Servers report it as seconds from now or, often, as seconds or milliseconds since 1970.
 */
function resetOf(reset: number | undefined, now: number): number | undefined {
  if (reset === undefined) return undefined;
  return Math.max(0, Math.ceil(reset > 1e12 ? reset - now : reset > 1e9 ? reset * 1000 - now : reset * 1000));
}

function first(header: string | string[] | undefined): string {
  return [header ?? []].flat()[0]?.trim() ?? '';
}

function numberOf(text: string): number | undefined {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}
