import type { JsonSchema } from '../../sdk/option.ts';

/**
 * Converts a property's string to an option's type: a number, a boolean, or a JSON list or map. A list of strings may
 * also be comma-separated. A string that can't be converted stays unchanged and fails validation.
 */
export function typedValue(value: unknown, schema: JsonSchema): unknown {
  if (typeof value !== 'string' || takes(schema, 'string')) return value;
  const parsed = parse(value);
  if (takes(schema, 'array') && !Array.isArray(parsed)) {
    const items = (schema.items ?? {}) as JsonSchema;
    return value.split(',').map((item) => typedValue(item.trim(), items));
  }
  return parsed === undefined ? value : parsed;
}

function takes(schema: JsonSchema, type: string): boolean {
  const branches = [schema.anyOf, schema.oneOf].flatMap((list) => (list ?? []) as JsonSchema[]);
  const words = (schema.enum ?? []) as readonly unknown[];
  return (
    [schema.type].flat().includes(type) ||
    (type === 'string' && words.some((word) => typeof word === 'string')) ||
    branches.some((branch) => takes(branch, type))
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
