import type { Caller } from './auth/authenticate.ts';
import { clientNamed } from './client-named.ts';
import type { ApiCall, AuthenticatedRequest, Endpoint, EndpointResult } from './endpoint.ts';
import { badRequest, missingPermission } from './http/api-error.ts';
import { readJson } from './http/body.ts';
import { bodyValidator, queryValidator } from './http/validate.ts';
import type { Account } from './store/accounts.ts';

/** Runs an endpoint's steps that follow authenticating and counting: allow, validate, scope, find, do. */
export type Run = (received: AuthenticatedRequest) => EndpointResult | Promise<EndpointResult>;

/** Creates the function that runs an endpoint. */
export function runnerOf(endpoint: Endpoint): Run {
  const validateQuery = queryValidator(endpoint.query);
  const validateBody = typeof endpoint.body === 'object' ? bodyValidator(endpoint.body) : undefined;
  const go = (
    received: AuthenticatedRequest,
    query: Fields,
    json: Fields,
  ): EndpointResult | Promise<EndpointResult> => {
    const body = validateBody?.(json);
    const account = scope(endpoint, received, json);
    const { context, caller, params, host, incoming } = received;
    const call: ApiCall = { context, caller, account, params, query, body, json, host, incoming };
    return endpoint.do(call, endpoint.find?.(call));
  };
  return (received) => {
    allow(endpoint, received.caller);
    const query = validateQuery(received.query);
    if (validateBody === undefined) return go(received, query, noFields);
    return readJson(received.incoming).then((json) => go(received, query, json));
  };
}

type Fields = Record<string, unknown>;
const noFields = Object.freeze({});

function allow({ permission, everyPermission = false, lacking: code }: Endpoint, { permissions }: Caller): void {
  const allowed = everyPermission
    ? permission.every((name) => permissions.has(name))
    : permission.length === 0 || permission.some((name) => permissions.has(name));
  if (!allowed) throw missingPermission(permission, { word: everyPermission ? 'and' : 'or', code });
}

/** Returns the account that the request acts on: the client in `client_id`, or the caller's company. */
function scope(endpoint: Endpoint, received: AuthenticatedRequest, json: Readonly<Record<string, unknown>>): Account {
  const { caller, context } = received;
  const id = endpoint.client ? clientIdOf(received.query.client_id, json.client_id) : undefined;
  return id === undefined ? caller.company : clientNamed(context, caller, id);
}

function clientIdOf(inQuery: unknown, inBody: unknown): string | undefined {
  const id = inQuery ?? inBody ?? undefined;
  if (id === undefined) return undefined;
  if (id !== (inBody ?? id)) throw badRequest('Field "client_id" is given twice, with different values');
  if (typeof id !== 'string' || id === '') throw badRequest('Field "client_id" must be a non-empty string');
  return id;
}
