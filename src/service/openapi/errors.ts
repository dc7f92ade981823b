import { errorEnvelope } from './envelopes.ts';
import type { Models } from './models.ts';
import type { OpenApiSchema } from './schemas.ts';

interface ErrorResponse {
  readonly name: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: OpenApiSchema }>>;
}

const responses: Readonly<Record<number, ErrorResponse>> = {
  400: {
    name: 'BadRequest',
    description: 'Malformed request, or a missing or invalid field; the description names the field',
  },
  401: {
    name: 'Unauthorized',
    description: 'Missing or invalid credentials, or missing permission',
    headers: {
      'WWW-Authenticate': { description: 'Present if credentials are missing or invalid', schema: { type: 'string' } },
    },
  },
  403: { name: 'Forbidden', description: 'Not allowed' },
  404: { name: 'NotFound', description: 'Not found, or not visible to the caller' },
  405: {
    name: 'MethodNotAllowed',
    description: 'Method not allowed',
    headers: { Allow: { description: 'The allowed methods', schema: { type: 'string' } } },
  },
  412: {
    name: 'PreconditionFailed',
    description: 'The condition in `If-Match` or `If-None-Match` is not met',
  },
  429: {
    name: 'TooManyRequests',
    description: 'Too many requests',
    headers: {
      'Retry-After': {
        description: 'Seconds to wait',
        schema: { type: 'integer', format: 'int32', minimum: 1, maximum: 86_400 },
      },
    },
  },
  500: { name: 'InternalError', description: 'The service failed; its log contains the same error_id' },
};

interface ErrorResponsesOptions {
  /** Example of a 400, which that response then includes. */
  readonly example: unknown;
  /** The operation respects conditions, so it has a 412. */
  readonly isConditional: boolean;
}

/** References to all error responses that an operation can have, by status. */
export function errorResponses({
  example,
  isConditional,
}: ErrorResponsesOptions): Record<string, { $ref: string } | ReturnType<typeof response>> {
  const references = Object.entries(responses)
    .filter(([status]) => isConditional || status !== '412')
    .map(([status, { name }]) => [status, { $ref: `#/components/responses/${name}` }]);
  const own = example === undefined ? {} : { 400: response(responses[400]!, reference, example) };
  return { ...Object.fromEntries(references), ...own };
}

const reference: OpenApiSchema = { $ref: '#/components/schemas/ErrorEnvelope' };

/** The document's error responses, by name. */
export function errorComponents(models: Models): Record<string, object> {
  const schema = models.refer(errorEnvelope);
  return Object.fromEntries(Object.values(responses).map((one) => [one.name, response(one, schema)]));
}

function response({ description, headers }: ErrorResponse, schema: OpenApiSchema, example?: unknown) {
  const json = { schema, ...(example !== undefined && { example }) };
  return { description, ...(headers && { headers }), content: { 'application/json': json } };
}
