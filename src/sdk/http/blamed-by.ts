/** Codes of GraphQL servers for errors that may not come again: Apollo's, Shopify's, Hasura's. */
const passingCodes =
  /^(INTERNAL_SERVER_ERROR|THROTTLED|RATE_?LIMITED|TOO_MANY_REQUESTS|TIMEOUT|SERVICE_UNAVAILABLE|unexpected)$/i;

/**
 * Whom an answer blames in its body, whatever its status: SOAP sends its faults as 500, GraphQL its errors as 200, 400 or 500.
 * `request`: the same request ends the same. `server`: it may be good later. Undefined if the body is neither.
 * SOAP 1.1, 4.4.1 and 1.2, part 1, 5.4.6; https://spec.graphql.org/October2021/#sec-Errors
 * @param text The body, or its beginning.
 */
export function blamedBy(text: string): 'request' | 'server' | undefined {
  return blamedBySoap(text) ?? blamedByGraph(text);
}

function blamedBySoap(text: string): 'request' | 'server' | undefined {
  if (!/<(?:[\w.-]+:)?Fault[\s>]/.test(text) || !/<(?:[\w.-]+:)?Envelope[\s>]/.test(text)) return undefined;
  const code = /<(?:[\w.-]+:)?(?:faultcode|Value)(?:\s[^>]*)?>\s*(?:[\w.-]+:)?(\w+)/.exec(text)?.[1];
  // A code of the server's own is a fault that it knows, and it would know the request again.
  return code === 'Server' || code === 'Receiver' ? 'server' : 'request';
}

function blamedByGraph(text: string): 'request' | 'server' | undefined {
  if (!/^\uFEFF?\s*\{/.test(text) || !text.includes('"errors"')) return undefined;
  return blamedByErrors(errorsIn(text));
}

/** The same of the list of errors in an answer of GraphQL; undefined if none has a code. */
export function blamedByErrors(errors: readonly GraphError[]): 'request' | 'server' | undefined {
  const codes = errors.flatMap((one) => [one?.extensions?.code ?? []].flat());
  if (codes.length === 0) return undefined;
  return codes.every((code) => passingCodes.test(String(code))) ? 'server' : 'request';
}

interface GraphError {
  readonly message?: unknown;
  readonly extensions?: { readonly code?: unknown };
}

function errorsIn(text: string): readonly GraphError[] {
  try {
    const { errors } = JSON.parse(text) as { errors?: unknown };
    return Array.isArray(errors) && errors.every((one) => typeof one?.message === 'string') ? errors : [];
  } catch {
    return [];
  }
}
