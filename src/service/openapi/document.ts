import type { Resource } from '../endpoint.ts';
import { prefixes } from '../http/prefixes.ts';
import { type ErrorResponses, type Operation, operationOf } from './operation.ts';
import { errorMeta } from './schemas.ts';

/** The parts of an OpenAPI 3.1 document that this service uses. */
export interface OpenApi {
  readonly openapi: '3.1.1';
  readonly info: object;
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly security: readonly object[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
}

const reasons: ErrorResponses = {
  400: 'Malformed request, or a missing or invalid field; the description names the field',
  401: 'Missing or invalid credentials, or missing permission',
  403: 'Not allowed',
  404: 'Not found, or not visible to the caller',
  405: 'Method not allowed; the `Allow` header lists the allowed methods',
  429: 'Too many requests; `Retry-After` is the number of seconds to wait',
  500: 'The service failed; its log contains the same error_id',
};

/** Generates the OpenAPI document from the resources' declarations. */
export function openApiOf(resources: readonly Resource[]): OpenApi {
  const operations = resources.flatMap(({ name, endpoints }) =>
    endpoints.map((endpoint) => ({ endpoint, operation: operationOf(endpoint, { tag: name, errors: reasons }) })),
  );
  const byPath = Map.groupBy(operations, ({ endpoint }) => endpoint.path);
  const paths = [...byPath]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, all]) => [
      path,
      Object.fromEntries(all.map(({ endpoint, operation }) => [endpoint.method.toLowerCase(), operation])),
    ]);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Dashboard service',
      version: '1.0',
      description:
        'The dashboard service that Sluice embeds: dashboards, Klips, data sources and the people who use them.',
    },
    servers: prefixes.map((url, i) => ({
      url,
      description: i === 0 ? 'version 1.0' : 'the same version in short form',
    })),
    security: [{ key: [] }, { password: [] }],
    tags: resources.map(({ name, summary }) => ({ name, description: summary })),
    paths: Object.fromEntries(paths) as OpenApi['paths'],
    components: { securitySchemes, responses: errorResponses(reasons), schemas: { Error: errorMeta } },
  };
}

const securitySchemes = {
  key: { type: 'apiKey', in: 'header', name: 'kf-api-key', description: "A user's API key" },
  password: { type: 'http', scheme: 'basic', description: "A user's e-mail and password" },
};

function errorResponses(errors: ErrorResponses): Record<string, object> {
  const schema = { $ref: '#/components/schemas/Error' };
  return Object.fromEntries(
    Object.entries(errors).map(([status, description]) => [
      status,
      { description, content: { 'application/json': { schema } } },
    ]),
  );
}
