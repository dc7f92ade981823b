/** Codes of Node's network errors that mean: nobody there now, ask again later; in the words of whoever reads them. */
export const networkWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'there was no answer in time',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no route to the network',
  EAI_AGAIN: 'the name service did not answer',
  ENOTFOUND: 'the name is not known',
};

interface Thrown {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly errors?: unknown;
}

/** Code (empty without one) and message of anything thrown; a connect to several addresses fails with a bundle of errors. */
export function seenIn(thrown: unknown): { code: string; message: string } {
  const { code, message, errors } = (thrown ?? {}) as Thrown;
  const first = Array.isArray(errors) ? (errors[0] as Thrown | undefined) : undefined;
  return { code: String(code ?? first?.code ?? ''), message: String(message || first?.message || thrown) };
}
