import { type TSchema, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { type OpenApiSchema, plainSchema } from '../../src/service/openapi/schemas.ts';

/** The simplest value that a schema allows, with only required fields. `made` overrides values by field name. */
export function validValue(schema: OpenApiSchema, made: (name: string) => unknown, name = ''): unknown {
  if (schema.enum !== undefined) return schema.default ?? schema.enum[0];
  const known = made(name);
  if (known !== undefined) return schema.type === 'array' && !Array.isArray(known) ? [known] : known;
  if (schema.default !== undefined) return schema.default;
  if ('const' in schema) return schema.const;
  if (schema.anyOf !== undefined) return validValue(schema.anyOf[0]!, made, name);
  if (schema.type === 'integer' || schema.type === 'number') return Math.max(1, Number(schema.minimum ?? 1));
  if (schema.type === 'boolean') return true;
  if (schema.type === 'array') return [validValue(schema.items ?? {}, made, singular(name))];
  if (schema.type === 'object') return validFields(schema, made);
  return 'Sample';
}

const singular = (name: string): string => name.replace(/s$/, '');

/** An object's required fields. */
export function validFields(schema: OpenApiSchema, made: (name: string) => unknown): Record<string, unknown> {
  const names = (schema.required ?? []).filter((name) => schema.properties?.[name]?.default === undefined);
  return Object.fromEntries(names.map((name) => [name, validValue(schema.properties?.[name] ?? {}, made, name)]));
}

/** A body with one error, and the path to it. */
export interface Broken {
  readonly field: string;
  readonly body: Record<string, unknown>;
}

const oneOfEach: readonly unknown[] = ['', 'no such word', 7, -1, 1.5, true, [], [1], {}, { a: 1 }];

/** Every declared field, at any depth of a valid body, with values that its schema doesn't allow. */
export function wrongTypes(schema: OpenApiSchema, valid: Readonly<Record<string, unknown>>): Broken[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [
    ...notAllowed(inner).map((value) => ({ field: name, body: { ...valid, [name]: value } })),
    ...deeper(inner, valid[name]).map(({ field, body }) => ({
      field: `${name}.${field}`,
      body: { ...valid, [name]: body },
    })),
  ]);
}

function deeper(schema: OpenApiSchema, value: unknown): { field: string; body: unknown }[] {
  if (Array.isArray(value) && schema.items !== undefined) {
    const items = schema.items;
    const [first] = value as unknown[];
    return [
      ...notAllowed(items).map((wrong) => ({ field: '0', body: [wrong] })),
      ...deeper(items, first).map(({ field, body }) => ({ field: `0.${field}`, body: [body] })),
    ];
  }
  if (typeof value !== 'object' || value === null || schema.properties === undefined) return [];
  const fields = value as Record<string, unknown>;
  return [...wrongTypes(schema, fields), ...missing(schema, fields)];
}

function notAllowed(schema: OpenApiSchema): unknown[] {
  const compiled = Compile(schema as TSchema);
  return oneOfEach.filter((value) => !compiled.Check(value));
}

/** Each required field omitted. */
export function missing(schema: OpenApiSchema, valid: Readonly<Record<string, unknown>>): Broken[] {
  const names = (schema.required ?? []).filter((name) => schema.properties?.[name]?.default === undefined);
  return names.map((name) => {
    const { [name]: _gone, ...body } = valid;
    return { field: name, body };
  });
}

/** Query strings that aren't valid for this schema. */
export function wrongTexts(schema: OpenApiSchema): string[] {
  if (schema.enum !== undefined) return ['no such word', ''];
  if (schema.type === 'boolean') return ['yes', '1', ''];
  if (schema.type === 'integer') return ['x', '', '1.5', '1e3', ' 1', String(Number(schema.minimum ?? 0) - 1)];
  return schema.minLength === undefined ? [] : [''];
}

export const fieldsOf = (fields: Record<string, TSchema>): OpenApiSchema => plainSchema(Type.Object(fields));
