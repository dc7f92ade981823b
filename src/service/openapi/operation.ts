import type { Endpoint } from '../endpoint.ts';
import { envelopeSchema } from './envelopes.ts';
import { errorResponses } from './errors.ts';
import type { RecordedExample } from './examples.ts';
import type { Models } from './models.ts';
import { fieldsSchema, type OpenApiSchema, plainSchema } from './schemas.ts';

export interface OperationParameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: OpenApiSchema;
}

export interface OperationLink {
  readonly operationId: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export interface MediaType {
  readonly schema: OpenApiSchema;
  readonly example?: unknown;
}

type Content = Readonly<Record<string, MediaType>>;

export interface OperationResponse {
  readonly description: string;
  readonly content: Content;
  readonly links?: Readonly<Record<string, OperationLink>>;
}

/** One method on one path. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly deprecated?: true;
  readonly parameters: readonly OperationParameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, OperationResponse | { readonly $ref: string }>>;
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

/** In a body, null counts as absent. */
const clientIdOrNull: OpenApiSchema = { ...clientId, type: ['string', 'null'] };

interface OperationOptions {
  readonly tag: string;
  readonly models: Models;
  readonly example: RecordedExample | undefined;
  readonly links: Readonly<Record<string, OperationLink>>;
}

/** Describes an endpoint as an OpenAPI 3.1 operation that includes all possible errors. */
export function operationOf(endpoint: Endpoint, { tag, models, example, links }: OperationOptions): Operation {
  const body = requestBodyOf(endpoint, models, example);
  return {
    operationId: endpoint.id,
    tags: [tag],
    summary: endpoint.summary,
    description: descriptionOf(endpoint),
    ...(endpoint.refuses && { deprecated: true as const }),
    parameters: parametersOf(endpoint),
    ...(body && { requestBody: body }),
    responses: {
      [endpoint.answer.status]: {
        ...answerOf(endpoint, models, endpoint.refuses ? undefined : example),
        ...(Object.keys(links).length > 0 && { links }),
      },
      ...errorResponses({
        example: endpoint.refuses ? example?.response : undefined,
        isConditional: endpoint.body === 'data',
      }),
    },
    'x-permission': endpoint.permission,
    ...(endpoint.everyPermission && { 'x-every-permission': true as const }),
    'x-basis': endpoint.basis,
    ...(endpoint.decided !== undefined && { 'x-decided': endpoint.decided }),
    ...(endpoint.missing !== undefined && { 'x-missing': endpoint.missing }),
  };
}

function descriptionOf({ permission, everyPermission, decided, missing }: Endpoint): string {
  const names = permission.map((name) => `\`${name}\``).join(everyPermission === true ? ' and ' : ' or ');
  const needs = names === '' ? 'Every authenticated caller may call this.' : `Requires ${names}.`;
  const notes = [
    decided === undefined ? '' : ` Not specified by the public document: ${decided}.`,
    missing === undefined ? '' : ` Not implemented: ${missing}.`,
  ];
  return needs + notes.join('');
}

/** What an ID in a path identifies, by the path segment before it. */
const identified: Readonly<Record<string, string>> = {
  annotations: 'annotation',
  clients: 'client account',
  'dashboard-published-links': 'published link, or of the dashboard to publish',
  'datasource-instances': 'data source instance',
  datasources: 'data source',
  'default-tabs': 'default dashboard',
  groups: 'group',
  'klip-instances': 'Klip instance',
  klips: 'Klip',
  roles: 'role',
  'share-rights': 'group or user',
  'tab-instances': 'tab instance',
  tabs: 'dashboard',
  users: 'user',
};

function parametersOf(endpoint: Endpoint): OperationParameter[] {
  const inPath = [...endpoint.path.matchAll(/([\w-]+)\/\{(\w+)\}/g)].map(
    ([, segment, name]) =>
      ({
        name: name!,
        in: 'path',
        required: true,
        description: `ID of the ${identified[segment!]}`,
        schema: { type: 'string' },
      }) as const,
  );
  const { properties, required } = fieldsSchema(endpoint.query);
  const query = endpoint.client ? { ...properties, client_id: clientId } : properties;
  const inQuery = Object.entries(query).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query' as const,
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }));
  return [...inPath, ...inQuery];
}

const bytes: OpenApiSchema = { type: 'string', format: 'binary' };
/** `application/octet-stream` comes first, because generators use the first type, and encode text as JSON for JSON. */
const binaryTypes = ['application/octet-stream', 'text/csv', 'application/xml'];

function binary(types: readonly string[]): Content {
  return Object.fromEntries(types.map((type) => [type, { schema: bytes }]));
}

/** An endpoint without fields of its own has no body in the document, because `client_id` can be in the query. */
function requestBodyOf(
  { id, body, client, keepsUnknown }: Endpoint,
  models: Models,
  example: RecordedExample | undefined,
): Operation['requestBody'] {
  if (body === undefined) return undefined;
  if (body === 'data') return { required: true, content: binary([...binaryTypes, 'application/json']) };
  const { properties, required } = fieldsSchema(body);
  if (Object.keys(properties).length === 0 && !keepsUnknown) return undefined;
  const schema = models.refer({
    type: 'object',
    'x-model': `${pascal(id)}Request`,
    properties:
      client && properties.client_id === undefined ? { ...properties, client_id: clientIdOrNull } : properties,
    ...(required.length > 0 && { required }),
    ...(keepsUnknown && { additionalProperties: true }),
  });
  const media = { schema, ...(example?.request !== undefined && { example: example.request }) };
  return { required: required.length > 0, content: { 'application/json': media } };
}

function answerOf(
  { id, answer, query }: Endpoint,
  models: Models,
  example: RecordedExample | undefined,
): OperationResponse {
  const { status, data, meta } = answer;
  const description = status === 201 ? 'Created' : 'Done';
  const plain = data === 'bytes' ? {} : plainSchema(data);
  const { type, properties = {}, additionalProperties } = plain;
  const isEmpty = type === 'object' && Object.keys(properties).length === 0 && additionalProperties === undefined;
  const model = isEmpty && meta === undefined ? (status === 201 ? 'Created' : 'Empty') : pascal(id);
  const envelope = envelopeSchema({ status, data: plain, isList: 'limit' in query, meta });
  const schema = models.refer({ ...envelope, 'x-model': `${model}Envelope` });
  const json = { schema, ...(example?.response !== undefined && { example: example.response }) };
  return { description, content: { ...(data === 'bytes' && binary(binaryTypes)), 'application/json': json } };
}

function pascal(id: string): string {
  return id.charAt(0).toUpperCase() + id.slice(1);
}
