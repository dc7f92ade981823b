import type { Resource } from '../endpoint.ts';
import { prefixes } from '../http/prefixes.ts';
import { errorComponents } from './errors.ts';
import type { Examples } from './examples.ts';
import { linksOf } from './links.ts';
import { Models } from './models.ts';
import { type Operation, operationOf } from './operation.ts';
import type { OpenApiSchema } from './schemas.ts';

/** The parts of an OpenAPI 3.1 document that this service uses. */
export interface OpenApi {
  readonly openapi: '3.1.1';
  readonly info: object;
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly security: readonly object[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: object;
    readonly responses: Readonly<Record<string, object>>;
    readonly schemas: Readonly<Record<string, OpenApiSchema>>;
  };
}

interface DocumentOptions {
  /** URL of the service, without the API's version and a trailing slash. */
  readonly url: string;
  readonly examples?: Examples;
}

/** Generates the OpenAPI document from the resources' declarations. */
export function openApiOf(resources: readonly Resource[], { url, examples = {} }: DocumentOptions): OpenApi {
  const models = new Models();
  const all = resources.flatMap(({ endpoints }) => endpoints);
  const operations = resources.flatMap(({ name: tag, endpoints }) =>
    endpoints.map((endpoint) => {
      const links = linksOf(endpoint, all);
      return { endpoint, operation: operationOf(endpoint, { tag, models, links, example: examples[endpoint.id] }) };
    }),
  );
  const byPath = Map.groupBy(operations, ({ endpoint }) => endpoint.path);
  const paths = [...byPath]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, methods]) => [
      path,
      Object.fromEntries(methods.map(({ endpoint, operation }) => [endpoint.method.toLowerCase(), operation])),
    ]);
  const responses = errorComponents(models);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Dashboard service',
      version: '1.0',
      description:
        'The dashboard service that Sluice embeds: dashboards, Klips, data sources and the people who use them. ' +
        'A field of a body that is null counts as absent, and unknown fields are ignored.',
      contact: { name: 'Documentation of this service', url: `${url}/docs` },
      license: { name: 'Apache 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: prefixes.map((prefix, i) => ({
      url: url + prefix,
      description: i === 0 ? 'version 1.0' : 'the same version in short form',
    })),
    security: [{ key: [] }, { password: [] }],
    tags: resources.map(({ name, summary }) => ({ name, description: summary })),
    paths: Object.fromEntries(paths) as OpenApi['paths'],
    components: { securitySchemes, responses, schemas: models.schemas },
  };
}

const securitySchemes = {
  key: { type: 'apiKey', in: 'header', name: 'kf-api-key', description: "A user's API key" },
  password: { type: 'http', scheme: 'basic', description: "A user's e-mail and password" },
};
