import { isMap } from '../lib/is-map.ts';
import { exactFields } from './exact-fields.ts';
import { secretProblem } from './problems.ts';
import type { SecretContent } from './provider.ts';

/** The name of a secret and, optionally, one of its fields, as written in a config: `secret/db#password`. */
export interface SecretReference {
  readonly name: string;
  readonly field: string | undefined;
}

/** Splits a reference at its first `#`. */
export function referenceOf(written: string): SecretReference {
  const at = written.indexOf('#');
  if (at < 0) return { name: written.trim(), field: undefined };
  return { name: written.slice(0, at).trim(), field: written.slice(at + 1).trim() };
}

/** The value of one field. If no field is given, the content must be a string or have only one field. */
export function fieldOf(content: SecretContent, { name, field }: SecretReference): string {
  if (field === undefined) return wholeOf(content, name);
  const fields = typeof content === 'string' ? exactFields(content) : content;
  if (fields === undefined) {
    throw secretProblem('CONFIG_SECRET_MISSING', {
      message: `The secret ${name} has no fields, because its value is not a JSON object`,
      seen: `#${field}`,
      next: `to use the whole value, remove #${field}`,
    });
  }
  const found = memberOf(fields, field);
  if (found === undefined || found === null) {
    throw secretProblem('CONFIG_SECRET_MISSING', {
      message: `The secret ${name} has no field "${field}"`,
      allowed: namesOf(fields),
      next: 'correct the field, or add it to the secret',
    });
  }
  return textOf(found, `${name}#${field}`);
}

function wholeOf(content: SecretContent, name: string): string {
  if (typeof content === 'string') return content;
  const [only, ...others] = Object.values(content);
  if (only !== undefined && others.length === 0) return textOf(only, name);
  throw secretProblem('CONFIG_SECRET_MISSING', {
    message: `The secret ${name} has ${only === undefined ? 'no' : 'several'} fields`,
    allowed: namesOf(content),
    next: `specify a field: ${name}#FIELD`,
  });
}

/**
 * The field with this name or, if there is none, at this path of names and list positions: `database.users.0.password`.
 */
function memberOf(fields: object, field: string): unknown {
  if (Object.hasOwn(fields, field)) return (fields as Record<string, unknown>)[field];
  return field.split('.').reduce<unknown>((at, key) => {
    const isInside = typeof at === 'object' && at !== null && Object.hasOwn(at, key);
    return isInside ? (at as Record<string, unknown>)[key] : undefined;
  }, fields);
}

function textOf(value: unknown, name: string): string {
  if (typeof value !== 'object' || value === null) return String(value);
  throw secretProblem('CONFIG_SECRET_MISSING', {
    message: `The secret ${name} is ${Array.isArray(value) ? 'a list' : 'a map'}, not a string`,
    ...(isMap(value) ? { allowed: namesOf(value) } : {}),
    next: 'specify a nested field, with dots between the names',
  });
}

function namesOf(fields: object): string {
  return Object.keys(fields).join(', ') || 'none';
}
