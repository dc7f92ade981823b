import { inlined } from '../../../src/service/openapi/models.ts';
import type { OpenApiSchema } from '../../../src/service/openapi/schemas.ts';

/** An operation in the OpenAPI document that a service serves. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly params: readonly string[];
  /**
   * The path up to each of its parameters, with each parameter written as `{}`: the kinds of assets that the path can
   * name.
   */
  readonly places: readonly string[];
  readonly query: Readonly<Record<string, OpenApiSchema & { readonly needed: boolean }>>;
  /** The fields of a JSON body; `data` means that any body is accepted. */
  readonly body: OpenApiSchema | 'data' | undefined;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly schema: OpenApiSchema;
}

interface Documented {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: OpenApiSchema }>> };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, OpenApiSchema>> };
}

interface Described {
  readonly documented: Documented;
  readonly models: Document['components']['schemas'];
}

/** All operations that the service at this origin declares. */
export async function operationsOf(origin: string): Promise<Operation[]> {
  const answer = await fetch(`${origin}/openapi.json`);
  const { paths, components } = (await answer.json()) as Document;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, documented]) =>
      operation(method.toUpperCase(), path, { documented, models: components.schemas }),
    ),
  );
}

function operation(method: string, path: string, { documented, models }: Described): Operation {
  const { parameters, requestBody } = documented;
  const query = parameters.filter((one) => one.in === 'query');
  const schema = requestBody?.content['application/json']?.schema;
  return {
    method,
    path,
    params: parameters.flatMap((one) => (one.in === 'path' ? one.name : [])),
    places: placesIn(path),
    query: Object.fromEntries(query.map(({ name, schema, required }) => [name, { ...schema, needed: required }])),
    body: schema && (schema.format === 'binary' ? 'data' : inlined(schema, models)),
  };
}

function placesIn(path: string): string[] {
  const blank = path.replaceAll(/\{\w+\}/g, '{}');
  return [...blank.matchAll(/\{\}/g)].map(({ index }) => blank.slice(0, index + 2));
}
