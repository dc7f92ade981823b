/** Node's codes for network errors that a retry may fix, each with its standard phrase. */
export const networkWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection closed',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network unreachable',
  EAI_AGAIN: 'DNS lookup failed temporarily',
  ENOTFOUND: 'host name not found',
};

interface Thrown {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly errors?: unknown;
}

/**
 * A thrown value's code (or '') and message. If Node can't connect to any of a host's addresses, it throws an
 * AggregateError.
 */
export function seenIn(thrown: unknown): { code: string; message: string } {
  const { code, message, errors } = (thrown ?? {}) as Thrown;
  const first = Array.isArray(errors) ? (errors[0] as Thrown | undefined) : undefined;
  return { code: String(code ?? first?.code ?? ''), message: String(message || first?.message || thrown) };
}
