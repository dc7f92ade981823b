import type { TProperties } from 'typebox';
import { nearest } from '../../lib/nearest.ts';
import { badRequest } from '../http/api-error.ts';
import { type IncomingBody, readJson, readText } from '../http/body.ts';
import { bodyValidator, queryValidator } from '../http/validate.ts';
import type { ControlContext } from './context.ts';
import type { ControlEndpoint, ControlResult } from './endpoint.ts';

/** A request with a valid token. */
export interface ControlRequest {
  readonly context: ControlContext;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Record<string, unknown>;
  readonly incoming: IncomingBody;
  readonly signal: AbortSignal;
}

/** Compiles an endpoint's validators. */
export function controlRunnerOf(endpoint: ControlEndpoint): (given: ControlRequest) => Promise<ControlResult> {
  const { query: queryFields, body: bodyFields } = endpoint;
  const query = strict(queryFields, queryValidator(queryFields));
  const json = typeof bodyFields === 'object' ? strict(bodyFields, bodyValidator(bodyFields)) : undefined;
  return async ({ context, params, query: given, incoming, signal }) => {
    const checked = query(given);
    const body = json === undefined ? undefined : json(await readJson(incoming));
    const text = bodyFields === 'text' ? await readText(incoming) : undefined;
    return endpoint.do({ context, params, query: checked, body: body ?? text, signal });
  };
}

type Fields = Record<string, unknown>;

/**
 * Unlike the service, the control interface rejects unknown fields, because a typo could turn a fault for one call into
 * a fault for all calls.
 */
function strict(declared: TProperties, validate: (given: Fields) => Fields): (given: Fields) => Fields {
  const names = Object.keys(declared);
  return (given) => {
    const unknown = Object.keys(given).find((name) => !names.includes(name));
    if (unknown === undefined) return validate(given);
    const meant = nearest(unknown, names);
    throw badRequest(
      `Unknown field "${unknown}"${meant === undefined ? `; known fields: ${names.join(', ') || 'none'}` : `; did you mean "${meant}"?`}`,
    );
  };
}
