import { isPassingStatus } from '../../lib/passing-answer.ts';
import { soapFaultIn } from './soap-fault.ts';

/** GraphQL error codes (Apollo, Shopify, Hasura, GitHub) that are transient, and those that are permanent. */
const passingCodes =
  /^(INTERNAL_SERVER_ERROR|THROTTLED|RATE_?LIMIT\w*|TOO_MANY_REQUESTS|TIMEOUT|(SERVICE_)?UNAVAILABLE|RESOURCE_EXHAUSTED|unexpected)$/i;
const lastingCodes =
  /^(GRAPHQL_\w+_FAILED|BAD_\w+|PERSISTED_QUERY_\w+|FORBIDDEN|UNAUTHENTICATED|ACCESS_DENIED|validation-failed)$/i;

/**
 * Whether a response body blames the request or the server. SOAP faults come with status 500, GraphQL errors with
 * status 200, 400 or 500. `request`: the same request will fail again. `server`: the same request may succeed later.
 * Undefined if the body is neither a SOAP fault nor a GraphQL error, or if the status is more specific: 429, 503 and
 * similar codes are transient whatever the body says. https://spec.graphql.org/October2021/#sec-Errors
 * @param text the body, or its beginning
 */
export function blamedBy({ status, text }: { status: number; text: string }): 'request' | 'server' | undefined {
  if (status !== 500 && isPassingStatus(status)) return undefined;
  return blamedBySoap(text) ?? blamedByGraph(text);
}

function blamedBySoap(text: string): 'request' | 'server' | undefined {
  const fault = soapFaultIn(text);
  if (fault === undefined) return undefined;
  return fault.isPassing ? 'server' : 'request';
}

function blamedByGraph(text: string): 'request' | 'server' | undefined {
  if (!/^\uFEFF?\s*\{/.test(text) || !text.includes('"errors"')) return undefined;
  return blamedByErrors(errorsIn(text));
}

/** Like {@link blamedBy}, for a GraphQL response's error list; undefined if none of the errors has a known code. */
export function blamedByErrors(errors: readonly GraphError[]): 'request' | 'server' | undefined {
  const codes = errors.flatMap((one) => [one?.extensions?.code ?? []].flat());
  const all = (known: RegExp) => codes.length > 0 && codes.every((code) => known.test(String(code)));
  if (all(passingCodes)) return 'server';
  return all(lastingCodes) ? 'request' : undefined;
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
