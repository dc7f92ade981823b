/** Node's codes for network errors that a retry may fix, with the standard phrase for each. */
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

/** Code (or '') and message of a thrown value. Connecting to several addresses fails with an AggregateError. */
export function seenIn(thrown: unknown): { code: string; message: string } {
  const { code, message, errors } = (thrown ?? {}) as Thrown;
  const first = Array.isArray(errors) ? (errors[0] as Thrown | undefined) : undefined;
  return { code: String(code ?? first?.code ?? ''), message: String(message || first?.message || thrown) };
}
