import { isDeepStrictEqual } from 'node:util';
import type { OpenApiSchema } from './schemas.ts';

const place = '#/components/schemas/';

/** The named schemas of an OpenAPI document. */
export class Models {
  readonly #schemas = new Map<string, OpenApiSchema>();

  /** All models that {@link refer} has found, by name. */
  get schemas(): Readonly<Record<string, OpenApiSchema>> {
    return Object.fromEntries([...this.#schemas].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Stores a schema under a name, and returns a reference to it. Throws if another schema has the name. */
  add(name: string, schema: OpenApiSchema): OpenApiSchema {
    const known = this.#schemas.get(name);
    if (known !== undefined && !isDeepStrictEqual(known, schema)) throw new Error(`Two models are named ${name}`);
    this.#schemas.set(name, schema);
    return { $ref: place + name };
  }

  /** Replaces all models in the schema with references. */
  refer(schema: OpenApiSchema): OpenApiSchema {
    const { 'x-model': name, 'x-same-as': same, ...own } = schema;
    if (same !== undefined) return { $ref: place + same };
    const referred = mapSchemas(own, (inner) => this.refer(inner));
    return name === undefined ? referred : this.add(name, referred);
  }
}

/**
 * Replaces references with the models, as readers without support for references need it. A model that contains itself
 * is replaced only once.
 */
export function inlined(
  schema: OpenApiSchema,
  models: Readonly<Record<string, OpenApiSchema>>,
  around: readonly string[] = [],
): OpenApiSchema {
  if (schema.$ref === undefined) return mapSchemas(schema, (inner) => inlined(inner, models, around));
  const name = schema.$ref.slice(place.length);
  return around.includes(name) ? { type: 'object' } : inlined(models[name]!, models, [...around, name]);
}

/** Applies a function to all schemas directly inside a schema. */
function mapSchemas(schema: OpenApiSchema, change: (inner: OpenApiSchema) => OpenApiSchema): OpenApiSchema {
  const { properties, items, anyOf, additionalProperties: values } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, change(inner)])),
    }),
    ...(items && { items: change(items) }),
    ...(anyOf && { anyOf: anyOf.map(change) }),
    ...(typeof values === 'object' && { additionalProperties: change(values as OpenApiSchema) }),
  };
}
