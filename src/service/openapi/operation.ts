import type { Endpoint } from '../endpoint.ts';
import { envelopeSchema, fieldsSchema, type OpenApiSchema, plainSchema } from './schemas.ts';

/** Maps each possible error status to its meaning. */
export type ErrorResponses = Readonly<Record<number, string>>;

export interface OperationParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: OpenApiSchema;
}

/** One method on one path. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly parameters: readonly OperationParameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, object>> };
  readonly responses: Readonly<Record<string, object>>;
  /** Names of permissions. Any one of them is sufficient, unless `x-every-permission` is set. */
  readonly 'x-permission': readonly string[];
  readonly 'x-every-permission'?: true;
  readonly 'x-basis': Endpoint['basis'];
  readonly 'x-decided'?: string;
  readonly 'x-missing'?: string;
}

const clientId: OpenApiSchema = {
  type: 'string',
  minLength: 1,
  description: 'ID of a client account of your company, to act on its assets; requires client.access',
};

/** Describes an endpoint as an OpenAPI 3.1 operation that includes all possible errors. */
export function operationOf(endpoint: Endpoint, { tag, errors }: { tag: string; errors: ErrorResponses }): Operation {
  const body = requestBodyOf(endpoint);
  return {
    operationId: operationId(endpoint),
    tags: [tag],
    summary: endpoint.summary,
    parameters: parametersOf(endpoint),
    requestBody: body,
    responses: {
      [endpoint.answer.status]: answerOf(endpoint),
      ...Object.fromEntries(
        Object.keys(errors).map((status) => [status, { $ref: `#/components/responses/${status}` }]),
      ),
    },
    'x-permission': endpoint.permission,
    ...(endpoint.everyPermission === true ? { 'x-every-permission': true as const } : {}),
    'x-basis': endpoint.basis,
    'x-decided': endpoint.decided,
    'x-missing': endpoint.missing,
  };
}

/** Derives an operation ID. For example, `GET /klips/{id}/share-rights` becomes `get_klips_id_share_rights`. */
function operationId({ method, path }: Endpoint): string {
  const words = path.split(/[^a-z]+/i).filter((word) => word !== '');
  return [method.toLowerCase(), ...words].join('_');
}

function parametersOf(endpoint: Endpoint): OperationParameter[] {
  const inPath = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(
    ([, name]) => ({ name: name!, in: 'path', required: true, schema: { type: 'string' } }) as const,
  );
  const { properties, required } = fieldsSchema(endpoint.query);
  const query = endpoint.client ? { ...properties, client_id: clientId } : properties;
  const inQuery = Object.entries(query).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query' as const,
    required: required.includes(name),
    description,
    schema,
  }));
  return [...inPath, ...inQuery];
}

function requestBodyOf({ body, client }: Endpoint): Operation['requestBody'] {
  if (body === undefined) return undefined;
  if (body === 'data') {
    const types = ['application/json', 'text/csv', 'application/xml', 'application/octet-stream'];
    return { required: true, content: Object.fromEntries(types.map((type) => [type, {}])) };
  }
  const { properties, required } = fieldsSchema(body);
  const schema = {
    type: 'object',
    properties: client && properties.client_id === undefined ? { ...properties, client_id: clientId } : properties,
    ...(required.length === 0 ? {} : { required }),
  };
  return { required: required.length > 0, content: { 'application/json': { schema } } };
}

function answerOf({ answer, query }: Endpoint): object {
  const description = answer.status === 201 ? 'Created' : 'Done';
  if (answer.data === 'bytes') return { description, content: { '*/*': {} } };
  const schema = envelopeSchema(answer.status, { data: plainSchema(answer.data), isList: 'limit' in query });
  return { description, content: { 'application/json': { schema } } };
}
