/** However late a server says that it forgets: after this long we ask again. */
const longestMs = 2 * 60_000;

/**
 * Milliseconds to wait before the next request because the server says that none is left: `RateLimit-Remaining` and
 * `RateLimit-Reset` (draft-ietf-httpapi-ratelimit-headers), the same with `X-`, and `X-Rate-Limit-…`. The reset is in seconds
 * from now or, as many servers have it, seconds since 1970. 0 where there is more, or nothing is said.
 */
export function rateLimitPauseMs(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  now: number,
): number {
  for (const prefix of ['ratelimit', 'x-ratelimit', 'x-rate-limit']) {
    const remaining = numberOf(headers[`${prefix}-remaining`]);
    if (remaining === undefined || remaining > 0) continue;
    const reset = numberOf(headers[`${prefix}-reset`]) ?? 1;
    const milliseconds = reset > 1e12 ? reset - now : reset > 1e9 ? reset * 1000 - now : reset * 1000;
    return Math.min(longestMs, Math.max(0, milliseconds));
  }
  return 0;
}

function numberOf(header: string | string[] | undefined): number | undefined {
  const text = [header ?? []].flat()[0]?.trim() ?? '';
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}
