import { Problem, seenIn } from '#sdk';
import { connectionLost, connectTimeout, neverConnected } from './network-problems.ts';
import { type Circumstances, type ErrorMeaning, otherwise, serverBusy, serverProblem } from './server-problems.ts';

/** An error that a provider's API returned. `reason`: the provider's word or code for it, or empty. */
export class ProviderError extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

/** The error in the body of a response. `read` gets the body as a value; a proxy's response has another body. */
export function errorIn<T>(
  status: number,
  text: string,
  read: (body: T) => { readonly reason?: string | undefined; readonly message?: string | undefined },
): ProviderError {
  const { reason = '', message = `status ${status}` } = readOr(text, read) ?? {};
  return new ProviderError(status, reason, message);
}

function readOr<T, R>(text: string, read: (body: T) => R): R | undefined {
  try {
    return read(JSON.parse(text) as T);
  } catch {
    return undefined;
  }
}

/** The meaning of an error that only its status explains. */
export function meaningOfStatus(status: number, isConnected: boolean): ErrorMeaning {
  return status === 429 || status >= 500 ? serverBusy : otherwise(isConnected);
}

type Where = Pick<Circumstances, 'place' | 'connectSeconds' | 'isConnected'> & {
  readonly meaningOf: (error: ProviderError) => ErrorMeaning;
};

/** Converts an error of the API or of the connection to a problem. */
export function apiProblem(thrown: unknown, { place, connectSeconds, isConnected, meaningOf }: Where): Problem {
  if (thrown instanceof Problem) return thrown;
  if (thrown instanceof ProviderError) {
    const { status, reason, message: serverMessage } = thrown;
    const seen = reason === '' ? `status ${status}` : `status ${status}, ${reason}`;
    return serverProblem({ ...meaningOf(thrown), place, serverMessage, seen, cause: thrown });
  }
  if (seenIn(thrown).code === 'UND_ERR_CONNECT_TIMEOUT') return connectTimeout(place, connectSeconds);
  return isConnected ? connectionLost(place, thrown) : neverConnected(place, thrown);
}
