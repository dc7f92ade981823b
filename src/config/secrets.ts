import { registerSecret } from '../lib/redact.ts';
import type { JsonSchema, OptionSet } from '../sdk/option.ts';
import { below, type Path } from './document.ts';
import type { Part } from './variables.ts';

/** A name that says that what stands under it is not for everybody's eyes. */
const secretName = /pass(word|wd|phrase)?|secret|token|credential|api[-_]?key|private[-_]?key|authorization|cookie/i;

/**
 * Makes every secret of a part known to redaction, before anything else looks at it: values of secret options, the
 * parts of them that came from variables, passwords inside of addresses, and variables whose name says it all.
 */
export function registerSecrets(part: Part, options: OptionSet): void {
  const values = (part.value ?? {}) as Record<string, unknown>;
  if (typeof values !== 'object') return;
  for (const [name, value] of Object.entries(values)) {
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    registerBelow(value, below(part.path, name), { part, schema: option?.schema, secret: option?.secret ?? false });
  }
}

/** What is known of a value before it is looked at. */
export interface Nature {
  readonly schema: JsonSchema | undefined;
  readonly secret: boolean;
}

interface Around extends Nature {
  readonly part: Part;
}

/** The nature of a member of a map or list. */
export function memberOf({ schema, secret }: Nature, name: string): Nature {
  const inside = memberSchemas(schema, name);
  // Of a map that is secret as a whole, plain words ("basic", "application/json") are not: hiding them would blot out logs.
  const isSecret = inside.some((node) => node.writeOnly === true) || (secret && secretName.test(name));
  return { schema: inside[0], secret: isSecret };
}

function registerBelow(value: unknown, path: Path, { part, schema, secret }: Around): void {
  const isSecret = secret || schema?.writeOnly === true;
  if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      registerPieces(below(path, name), part, isSecret);
      registerBelow(member, below(path, name), { part, ...memberOf({ schema, secret: isSecret }, name) });
    }
    return;
  }
  registerPieces(path, part, isSecret);
  // A variable without a value stands there as it is written, which is no secret.
  if (part.broken.has(path)) return;
  if (typeof value === 'string') registerPassword(value);
  if (isSecret && (typeof value === 'string' || typeof value === 'number')) registerSecret(String(value));
}

function registerPieces(path: Path, part: Part, isSecret: boolean): void {
  for (const { name, text } of part.resolved.get(path)?.pieces ?? []) {
    if (isSecret || secretName.test(name)) registerSecret(text);
  }
}

function registerPassword(text: string): void {
  const password = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*?:([^/?#\s]+)@/i.exec(text)?.[1];
  if (password === undefined) return;
  registerSecret(password);
  try {
    registerSecret(decodeURIComponent(password));
  } catch {
    // Not percent-encoded: the form as written is all there is.
  }
}

function memberSchemas(schema: JsonSchema | undefined, name: string): JsonSchema[] {
  if (schema === undefined) return [];
  const lists = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => (list ?? []) as JsonSchema[]);
  const branches = schema.then === undefined ? lists : [...lists, schema.then as JsonSchema];
  const named = (schema.properties as Record<string, JsonSchema> | undefined)?.[name];
  const items = /^\d+$/.test(name) ? (schema.items as JsonSchema | undefined) : undefined;
  const rest = schema.additionalProperties;
  const own = named ?? items ?? (typeof rest === 'object' && rest !== null ? (rest as JsonSchema) : undefined);
  return [...(own === undefined ? [] : [own]), ...branches.flatMap((branch) => memberSchemas(branch, name))];
}
