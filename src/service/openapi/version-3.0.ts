import type { OpenApi } from './document.ts';

/**
 * Converts the document to OpenAPI 3.0.3, for generators that don't support 3.1 fully. The versions differ in how they
 * say that a value can be null, and 3.0 has no rules for the names of a map's keys.
 */
export function asOpenApi30(document: OpenApi): object {
  const text = JSON.stringify({ ...document, openapi: '3.0.3' });
  return JSON.parse(text, (key, value: unknown) => {
    if (key === 'propertyNames' && typeof value === 'object') return undefined;
    return isNullable(value) ? nullable(value) : value;
  }) as object;
}

type NullableSchema = { readonly type: readonly [string, 'null'] };

function isNullable(value: unknown): value is NullableSchema {
  const { type } = (value ?? {}) as { type?: unknown };
  return Array.isArray(type) && type.length === 2 && type[1] === 'null';
}

function nullable({ type: [type], ...schema }: NullableSchema): object {
  return { ...schema, type, nullable: true };
}
