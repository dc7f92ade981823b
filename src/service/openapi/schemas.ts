import { type TProperties, type TSchema, Type } from 'typebox';

/** A JSON Schema as plain data. */
export interface OpenApiSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly required?: readonly string[];
  readonly items?: OpenApiSchema;
  readonly anyOf?: readonly OpenApiSchema[];
  readonly [keyword: string]: unknown;
}

interface Fields {
  readonly properties: Readonly<Record<string, OpenApiSchema>>;
  /** Names of the required fields. A field with a default isn't required. */
  readonly required: readonly string[];
}

/** Describes the fields of a query or body as a JSON Schema. */
export function fieldsSchema(fields: TProperties): Fields {
  const { properties = {}, required = [] } = plainSchema(Type.Object(fields));
  return { properties, required: required.filter((name) => properties[name]?.default === undefined) };
}

/** Converts a declared schema to plain JSON, and adds the schema's rule as its description. */
export function plainSchema(schema: TSchema): OpenApiSchema {
  return JSON.parse(JSON.stringify(schema), (_key, value: unknown) => withRule(value)) as OpenApiSchema;
}

function withRule(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { 'x-rule': rule, 'x-any-case': anyCase, ...schema } = value as Record<string, unknown>;
  const words = [rule, anyCase === true ? 'case-insensitive' : undefined].filter((part) => part !== undefined);
  return words.length === 0 ? value : { description: words.join(', '), ...schema };
}

const text: OpenApiSchema = { type: 'string' };
const count: OpenApiSchema = { type: 'integer', minimum: 0 };

/** Describes a successful response's envelope as a JSON Schema. */
export function envelopeSchema(status: number, given: { data: OpenApiSchema; isList: boolean }): OpenApiSchema {
  const meta = {
    success: { const: true },
    status: { const: status },
    ...(status === 201 ? { location: text, instance_location: text } : {}),
    ...(given.isList ? { count, total: count } : {}),
  };
  const required = [
    'success',
    'status',
    ...(status === 201 ? ['location'] : []),
    ...(given.isList ? ['count', 'total'] : []),
  ];
  return {
    type: 'object',
    required: ['meta', 'data'],
    properties: {
      meta: { type: 'object', required, properties: meta, additionalProperties: false },
      data: given.data,
    },
    additionalProperties: false,
  };
}

/** The JSON Schema of an error response, which contains only `meta`. */
export const errorMeta: OpenApiSchema = {
  type: 'object',
  required: ['meta'],
  properties: {
    meta: {
      type: 'object',
      required: ['success', 'status', 'error_code', 'error_desc', 'error_id'],
      properties: {
        success: { const: false },
        status: { type: 'integer', minimum: 400, maximum: 599 },
        error_code: text,
        error_desc: text,
        error_id: { type: 'string', pattern: '^[0-9a-f]{32}$' },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};
