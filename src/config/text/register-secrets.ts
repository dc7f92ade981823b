import { registerEncodedSecret, registerSecret, secretName, secretWord } from '../../lib/redact.ts';
import type { JsonSchema, OptionSet } from '../../sdk/option.ts';
import { below, type Path } from './document.ts';
import type { Part } from './variables.ts';

/**
 * Registers all secrets of a part for redaction before anything else uses them: values of secret options, parts of
 * those values that came from variables, passwords in URLs, and values of variables whose names suggest a secret.
 */
export function registerSecrets(part: Part, options: OptionSet): void {
  const values = (part.value ?? {}) as Record<string, unknown>;
  if (typeof values !== 'object') return;
  for (const [name, value] of Object.entries(values)) {
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    registerBelow(value, below(part.path, name), { part, schema: option?.schema, secret: option?.secret ?? false });
  }
}

/** A value's schema, and whether the value is inside a secret. */
export interface Nature {
  readonly schema: JsonSchema | undefined;
  readonly secret: boolean;
}

interface Around extends Nature {
  readonly part: Part;
}

/** Returns the schema of a member of a map or list, and whether the member is secret. */
export function memberOf({ schema, secret }: Nature, name: string): Nature {
  const inside = memberSchemas(schema, name);
  const telling = isDeclared(schema, name) ? secretWord : secretName;
  // In a map that is secret as a whole, ordinary words ("basic", "application/json") aren't treated as secrets, because
  // redacting them would make logs unreadable. A schema can also say that a value isn't secret despite its name.
  const isTelling = secret && telling.test(name) && inside[0]?.writeOnly !== false;
  const isSecret = isTelling || inside.some((node) => node.writeOnly === true);
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
  // An unresolved variable stays as written, and the variable's text isn't secret.
  if (part.broken.has(path)) return;
  if (typeof value === 'string') registerPassword(value);
  if (!isSecret || (typeof value !== 'string' && typeof value !== 'number')) return;
  registerSecret(String(value));
  registerPath(String(value));
}

function registerPieces(path: Path, part: Part, isSecret: boolean): void {
  for (const { name, text } of part.resolved.get(path)?.pieces ?? []) {
    if (isSecret || secretWord.test(name)) registerSecret(text);
  }
}

function registerPassword(text: string): void {
  const password = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*?:([^/?#\s]+)@/i.exec(text)?.[1];
  if (password !== undefined) registerEncodedSecret(password);
}

/** Minimum length of a URL part to redact. Shorter parts are usually ordinary words. */
const minPartLength = 12;

/** A secret URL's path or query contains the secret. The server may echo either of them separately. */
function registerPath(text: string): void {
  const url = /^https?:/i.test(text) ? URL.parse(text) : null;
  if (url === null) return;
  const whole = `${url.pathname}${url.search}`;
  const parts = [...url.pathname.split('/'), ...url.searchParams.values()];
  for (const part of [whole, ...parts]) if (part.length >= minPartLength) registerSecret(part);
}

/** Whether the schema declares this member. Otherwise, the member belongs to a map with user-defined keys. */
function isDeclared(schema: JsonSchema | undefined, name: string): boolean {
  if (schema === undefined) return false;
  return Object.hasOwn(schema.properties ?? {}, name) || branchesOf(schema).some((branch) => isDeclared(branch, name));
}

function branchesOf(schema: JsonSchema): JsonSchema[] {
  const lists = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => (list ?? []) as JsonSchema[]);
  return schema.then === undefined ? lists : [...lists, schema.then as JsonSchema];
}

function memberSchemas(schema: JsonSchema | undefined, name: string): JsonSchema[] {
  if (schema === undefined) return [];
  const branches = branchesOf(schema);
  const named = (schema.properties as Record<string, JsonSchema> | undefined)?.[name];
  const items = /^\d+$/.test(name) ? (schema.items as JsonSchema | undefined) : undefined;
  const rest = schema.additionalProperties;
  const own = named ?? items ?? (typeof rest === 'object' && rest !== null ? (rest as JsonSchema) : undefined);
  return [...(own === undefined ? [] : [own]), ...branches.flatMap((branch) => memberSchemas(branch, name))];
}
