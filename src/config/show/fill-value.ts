import { isMap } from '../../lib/is-map.ts';
import { type JsonSchema, type OptionSet, schemaOf } from '../../sdk/option.ts';
import { below, type Document, type Path } from '../text/document.ts';
import { memberOf, type Nature } from '../text/register-secrets.ts';
import type { Part } from '../text/variables.ts';

/** The text that replaces every secret. */
export const hidden = '[redacted]';

/** Each value's origin, by path. Values without an origin are defaults. */
export type Origins = Record<Path, string>;

/** What is needed to show parts of a config. */
export interface Showing {
  readonly document: Document;
  /** The config's top level. */
  readonly top: Part;
  readonly from: Origins;
}

/** Returns all options of a part (a map) with their effective values. */
export function fillPart(part: Part, options: OptionSet, { document, from }: Showing): Record<string, unknown> {
  const nature = { schema: schemaOf(options), secret: false };
  return fillValue(part.value ?? {}, part.path, { document, part, from, nature }) as Record<string, unknown>;
}

interface Given {
  readonly document: Document;
  readonly part: Part;
  readonly from: Origins;
}

/**
 * Returns an option's effective value, with defaults for unset options and with secrets hidden. Adds each value's
 * origin in the file (its line and variables) to `from`. A list counts as one value.
 */
function fillValue(value: unknown, path: Path, { nature, ...given }: Given & { nature: Nature }): unknown {
  const { schema } = nature;
  if (value === undefined || value === null) return defaultOf(schema);
  const secret = nature.secret || schema?.writeOnly === true;
  if (!isMap(value)) {
    given.from[path] = originOf(path, given);
    return hideBelow(value, { schema, secret });
  }
  const names = new Set([...Object.keys(membersFor(schema, value)), ...Object.keys(value)]);
  const filled = [...names].map((name) => [
    name,
    fillValue(value[name], below(path, name), { ...given, nature: memberOf({ schema, secret }, name) }),
  ]);
  return Object.fromEntries(filled.filter(([, member]) => member !== undefined));
}

/** Returns the schema's default. Members that the default doesn't contain may have their own defaults. */
function defaultOf(schema: JsonSchema | undefined): unknown {
  const whole = schema?.default;
  if (!isMap(whole)) return whole;
  const members = Object.entries(membersFor(schema, whole)).map(([name, inside]) => [name, defaultOf(inside)]);
  return { ...Object.fromEntries(members.filter(([, member]) => member !== undefined)), ...whole };
}

/** Returns the schemas of the members that a map may have. */
function membersFor(schema: JsonSchema | undefined, value: Record<string, unknown>): Record<string, JsonSchema> {
  return (formFor(schema, value)?.properties ?? {}) as Record<string, JsonSchema>;
}

/** Returns the schema variant whose constants match this map. */
function formFor(schema: JsonSchema | undefined, value: Record<string, unknown>): JsonSchema | undefined {
  if (schema === undefined) return undefined;
  const branches = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => (list ?? []) as JsonSchema[]);
  const forms = branches.map((one) => (isMap(one.then) && fits(one.if, value) ? one.then : one));
  return forms.find((form) => isMap(form.properties) && fits(form, value)) ?? schema;
}

function fits(form: unknown, value: Record<string, unknown>): boolean {
  const properties = isMap(form) && isMap(form.properties) ? form.properties : {};
  return Object.entries(properties).every(
    ([name, inside]) => !isMap(inside) || !('const' in inside) || inside.const === value[name],
  );
}

function hideBelow(value: unknown, nature: Nature): unknown {
  if (Array.isArray(value)) {
    return value.map((item, i) => hideBelow(item, listed(nature, memberOf(nature, String(i)))));
  }
  if (!isMap(value)) return nature.secret ? hidden : value;
  const members = Object.entries(value).map(([name, member]) => [name, hideBelow(member, memberOf(nature, name))]);
  return Object.fromEntries(members);
}

/** If a list is secret, its items are secret too. */
const listed = (list: Nature, item: Nature): Nature => ({ ...item, secret: list.secret || item.secret });

/**
 * Returns `line 12` and the variables on that line. Shows only each variable's name, because its default may be a
 * secret.
 */
function originOf(path: Path, { document, part }: Given): string {
  const line = `line ${document.place(path).line}`;
  // For a shorthand ("query: select 1"), variables are recorded at the path of the equivalent map.
  const variable = part.resolved.get(path) ?? part.resolved.get(path.slice(0, path.lastIndexOf('/')));
  if (variable === undefined) return line;
  const { written, whole, pieces } = variable;
  return `${line}, ${whole && !written.includes(':-') ? written : pieces.map(({ name }) => name).join(', ')}`;
}
