import { type TProperties, type TSchema, Type } from 'typebox';

/** A JSON Schema as plain data. */
export interface OpenApiSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly required?: readonly string[];
  readonly items?: OpenApiSchema;
  readonly anyOf?: readonly OpenApiSchema[];
  /** The name of the model that this schema declares. */
  readonly 'x-model'?: string;
  /** The name of the model that contains this schema and that the value must match. */
  readonly 'x-same-as'?: string;
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

/**
 * Converts a declared schema to plain JSON in the form that client generators understand: every schema has a `type`,
 * every integer a `format`, and a value that can be null has two types. Adds the schema's rule as its description.
 */
export function plainSchema(schema: TSchema): OpenApiSchema {
  const text = JSON.stringify(schema, (key, value: unknown) => (key === '~refine' ? undefined : value));
  return JSON.parse(text, (_key, value: unknown) => standardized(value)) as OpenApiSchema;
}

function standardized(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return [withRule, withoutNullUnion, withoutConst, withType, withFormat, withoutPattern].reduce(
    (schema, convert) => convert(schema),
    value as OpenApiSchema,
  );
}

function withRule(schema: OpenApiSchema): OpenApiSchema {
  const { 'x-rule': rule, 'x-any-case': anyCase, ...rest } = schema;
  if (typeof rule !== 'string' && anyCase !== true) return schema;
  const words = [rule, anyCase === true ? 'case-insensitive' : undefined].filter((part) => part !== undefined);
  return { description: words.join(', '), ...rest };
}

/** A union with null becomes one schema with two types. Generators create a class for each union. */
function withoutNullUnion(schema: OpenApiSchema): OpenApiSchema {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [first, second] = anyOf as OpenApiSchema[];
  if (second?.type !== 'null' || typeof first?.type !== 'string') return schema;
  return { ...first, ...rest, type: [first.type, 'null'] };
}

/** A constant text becomes a list of one value; other constants become their type. Many generators ignore `const`. */
function withoutConst(schema: OpenApiSchema): OpenApiSchema {
  const { const: constant, ...rest } = schema;
  if (constant === undefined || typeof constant === 'object') return schema;
  return typeof constant === 'string'
    ? { ...rest, type: 'string', enum: [constant] }
    : { ...rest, type: typeof constant === 'boolean' ? 'boolean' : 'integer' };
}

function withType(schema: OpenApiSchema): OpenApiSchema {
  if (!Array.isArray(schema.enum) || schema.type !== undefined) return schema;
  return { ...schema, type: typeof schema.enum[0] === 'number' ? 'integer' : 'string' };
}

/** Without a format, generators choose 32 bits, even if the maximum is larger. */
function withFormat(schema: OpenApiSchema): OpenApiSchema {
  const isInteger = schema.type === 'integer' || (Array.isArray(schema.type) && schema.type.includes('integer'));
  if (!isInteger || schema.format !== undefined) return schema;
  const fits = typeof schema.maximum === 'number' && schema.maximum <= 0x7fffffff;
  return { ...schema, format: fits ? 'int32' : 'int64' };
}

/** A map with any names is declared with a pattern; generators only know the short form. */
function withoutPattern(schema: OpenApiSchema): OpenApiSchema {
  const { patternProperties, ...rest } = schema;
  const values = (patternProperties as Record<string, OpenApiSchema> | undefined)?.['^.*$'];
  return values === undefined ? schema : { ...rest, additionalProperties: values };
}
