import { createHash } from 'node:crypto';
import { Errors } from 'typebox/schema';
import { Settings } from 'typebox/system';
import { didYouMean } from '../../lib/nearest.ts';
import { redact } from '../../lib/redact.ts';
import type { JsonSchema } from '../../sdk/option.ts';
import { allowedBy, nodeAt } from '../options/describe-schema.ts';
import { fits } from '../options/fits.ts';
import { type Path, unescaped } from '../text/document.ts';
import type { Fault, Faults } from '../text/faults.ts';
import { memberOf } from '../text/register-secrets.ts';
import { kindOf, showValue } from '../text/show-value.ts';
import { type Part, partAt } from '../text/variables.ts';
import { distinct, type SchemaError } from './distinct-errors.ts';

/** Removes the library's default limit of eight errors, because users want to see all errors at once. */
Settings.Set({ maxErrors: 10_000 });

/** Options that belong in another part of the config but that users often put here by mistake. */
export interface Elsewhere {
  readonly options: readonly string[];
  /** The part in which the options belong, for example "a job's query". */
  readonly place: string;
}

interface Rules {
  readonly schema: JsonSchema;
  readonly noun: string;
  readonly faults: Faults;
  readonly elsewhere?: Elsewhere;
}

/**
 * Validates a part of the config against a JSON Schema and reports every error with its location. In `part.value`, a
 * value that is a single variable becomes a number or boolean if the schema requires one, and an unquoted `null`
 * becomes the string "null" if the schema allows it. `noun` names the part in messages: "source", "job", "destination".
 */
export function validatePart(part: Part, { schema, noun, faults, elsewhere }: Rules): void {
  fillUnread(part, schema);
  convertValues(part, schema);
  for (const error of distinct(errorsOf(schema, part.value))) {
    const path = part.path + error.instancePath;
    if (isBroken(part, path)) continue;
    const around = { part, schema, noun, written: (at: Path) => faults.written(at), elsewhere };
    for (const fault of faultsOf(error, around)) faults.add(fault);
  }
}

/** A yes-or-no check is several times faster than collecting errors, and most configs have no errors. */
function errorsOf(schema: JsonSchema, value: unknown): SchemaError[] {
  return fits(schema, value) ? [] : Errors(schema, value)[1];
}

function isBroken(part: Part, path: Path): boolean {
  return [...part.broken].some((broken) => broken === path || broken.startsWith(`${path}/`));
}

/**
 * Replaces each value that contains an unread variable with a value that the schema allows, so that everything else can
 * be checked. Two values with different text get different replacements if the schema allows it.
 */
function fillUnread(part: Part, schema: JsonSchema): void {
  for (const [path, { written, whole, isUnread }] of part.resolved) {
    if (!isUnread || !path.startsWith(`${part.path}/`)) continue;
    const keys = path.slice(part.path.length + 1).split('/');
    const set = (value: unknown): unknown => (part.value = changed(part.value, keys, () => value));
    const node = keys.reduce<JsonSchema | undefined>(
      (at, key) => memberOf({ schema: at, secret: false }, key).schema,
      schema,
    );
    const faults = () => errorsOf(schema, part.value).filter(({ instancePath }) => part.path + instancePath === path);
    const hash = createHash('sha256').update(written).digest('hex').slice(0, 32);
    if (whole) set(valueLike(node, hash) ?? partAt(part, ...keys).value);
    const allowed = faults().flatMap((error) => allowedBySchema(nodeAt(schema, error.schemaPath)));
    for (const value of [hash, ...allowed]) if (faults().length > 0) set(value);
  }
}

/** Returns a value of the same type as the option's default or example; undefined if the example is ordinary text. */
function valueLike(node: JsonSchema | undefined, hash: string): unknown {
  const [example] = (node?.examples ?? []) as unknown[];
  if (node?.default !== undefined || typeof example !== 'string') return node?.default;
  if (/^https?:/.test(example)) return `https://${hash}.invalid/api/1.0`;
  return /^[\da-f]{32}$/.test(example) ? hash : undefined;
}

function allowedBySchema(node: JsonSchema | undefined): unknown[] {
  const { default: fallback, examples = [], enum: choices = [], minimum = 1 } = node ?? {};
  return [fallback, ...[examples, choices].flat(), minimum, true].filter((value) => value !== undefined);
}

/**
 * Converts values to the type that the schema requires. `requests_per_day: ${env:N}` is a string unless the schema
 * requires a number, and `zero_dates: null` is null unless the schema allows the string "null".
 */
function convertValues(part: Part, schema: JsonSchema): void {
  for (const error of errorsOf(schema, part.value)) {
    const convert = conversionFor(error, { part, schema });
    if (convert !== undefined) part.value = changed(part.value, error.instancePath.split('/').slice(1), convert);
  }
}

function conversionFor(
  { keyword, instancePath, schemaPath, params }: SchemaError,
  { part, schema }: { readonly part: Part; readonly schema: JsonSchema },
): ((value: unknown) => unknown) | undefined {
  if (keyword === 'enum') {
    const words = nodeAt(schema, schemaPath)?.enum as readonly unknown[];
    return (value) => (value === null && words.includes('null') ? 'null' : value);
  }
  if (keyword !== 'type' || !part.resolved.get(part.path + instancePath)?.whole) return undefined;
  const wanted = [(params as { type: string | string[] }).type].flat();
  return (text) => converted(text, wanted);
}

function converted(value: unknown, wanted: readonly string[]): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  if (wanted.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const isNumber =
    /^-?\d+(\.\d+)?$/.test(text) && String(Number(text)) === text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
  return isNumber && (wanted.includes('number') || wanted.includes('integer')) ? Number(text) : value;
}

function changed(value: unknown, [key, ...rest]: string[], change: (old: unknown) => unknown): unknown {
  if (key === undefined) return change(value);
  const name = unescaped(key);
  if (Array.isArray(value)) return value.map((item, i) => (String(i) === name ? changed(item, rest, change) : item));
  const map = value as Record<string, unknown>;
  return { ...map, [name]: changed(map[name], rest, change) };
}

interface Around {
  readonly part: Part;
  readonly schema: JsonSchema;
  readonly noun: string;
  readonly written: (path: Path) => string;
  readonly elsewhere: Elsewhere | undefined;
}

function faultsOf(error: SchemaError, around: Around): Fault[] {
  const path = around.part.path + error.instancePath;
  const params = error.params as { requiredProperties?: string[] };
  if (error.keyword === 'boolean') return [unknownOption(error, path, around)];
  if (error.keyword === 'required')
    return (params.requiredProperties ?? []).map((name) => missing(name, path, { error, around }));
  if (error.schemaPath.includes('/propertyNames')) return [wrongName(error, path, around)];
  return [wrongValue(error, path, around)];
}

function wrongName(error: SchemaError, path: Path, { schema }: Around): Fault {
  const name = error.instancePath.slice(error.instancePath.lastIndexOf('/') + 1);
  return {
    code: 'CONFIG_NAME',
    message: `"${name}" is not a valid name`,
    path,
    on: 'key',
    allowed: String(nodeAt(schema, error.schemaPath)?.description ?? allowedBy(error, undefined)),
  };
}

function unknownOption(error: SchemaError, path: Path, { schema, noun, elsewhere }: Around): Fault {
  const cut = error.instancePath.lastIndexOf('/');
  const name = unescaped(error.instancePath.slice(cut + 1));
  const owner = nodeAt(schema, error.schemaPath.replace(/\/(additionalProperties|unevaluatedProperties)$/, ''));
  const known = Object.keys((owner?.properties as object | undefined) ?? {});
  const next =
    cut <= 0 && elsewhere?.options.includes(name) ? `move it to ${elsewhere.place}` : didYouMean(name, known);
  const inside = cut <= 0 ? noun : `"${error.instancePath.slice(1, cut).split('/').at(-1)}"`;
  return {
    code: 'CONFIG_UNKNOWN_OPTION',
    message: `Unknown option "${name}" in ${cut <= 0 ? `this ${inside}` : inside}`,
    path,
    on: 'key',
    allowed: known.join(', ') || 'none',
    next,
  };
}

function missing(name: string, path: Path, { error, around }: { error: SchemaError; around: Around }): Fault {
  const owner = nodeAt(around.schema, error.schemaPath);
  const node = ((owner?.properties ?? {}) as Record<string, JsonSchema>)[name];
  const example = (node?.examples as unknown[] | undefined)?.[0];
  const inside = error.instancePath === '' ? `this ${around.noun}` : `"${error.instancePath.split('/').at(-1)}"`;
  const value = example === undefined ? '…' : typeof example === 'string' ? example : JSON.stringify(example);
  const about = node?.description === undefined ? '' : `  # ${String(node.description)}`;
  return {
    code: 'CONFIG_MISSING_OPTION',
    message: `"${name}" is missing from ${inside}`,
    path,
    on: 'key',
    next: `add a line: ${name}: ${value}${about}`,
  };
}

function wrongValue(error: SchemaError, path: Path, { part, schema, written }: Around): Fault {
  const node = nodeAt(schema, error.schemaPath);
  const value = error.instancePath
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[unescaped(key)], part.value);
  const variable = part.resolved.get(path);
  const isSecret = node?.enum === undefined && isInsideSecret(schema, error.schemaPath);
  const plain =
    typeof value === 'number' && variable === undefined ? written(path) || showValue(value) : showValue(value);
  const shown = isSecret ? `${kindOf(value)} (a secret, not shown)` : redact(plain);
  const name = path.slice(path.lastIndexOf('/') + 1);
  const isItem = /^\d+$/.test(name);
  const fix = fixOf(value, { node, quoted: isSecret ? '' : `: "${written(path)}"` });
  return {
    code: 'CONFIG_WRONG_VALUE',
    message: isItem ? `Invalid item ${Number(name) + 1} in this list` : `Invalid value for "${name}"`,
    path,
    seen: variable === undefined ? shown : `${shown}, from ${variable.written}`,
    allowed: lacksUnit(value, node) ? allowedBy({ ...error, keyword: 'pattern' }, node) : allowedBy(error, node),
    next: fix,
  };
}

/**
 * Whether a value is inside a secret. If a whole map is secret (such as `headers`), all of its values are secret too.
 */
function isInsideSecret(schema: JsonSchema, schemaPath: string): boolean {
  const keys = schemaPath.split('/');
  return keys.some((_, i) => nodeAt(schema, keys.slice(0, i + 1).join('/'))?.writeOnly === true);
}

/**
 * Whether the value is a number without a unit although the example has a unit. If so, quoting the value wouldn't help.
 */
function lacksUnit(value: unknown, node: JsonSchema | undefined): boolean {
  const example = (node?.examples as unknown[] | undefined)?.[0];
  return /^\d+(\.\d+)?$/.test(String(value)) && typeof example === 'string' && /^\d+[a-z%]$/.test(example);
}

/**
 * Whether an option's text is a single word or a variable, like its example, so that a quoted number may be valid. It
 * isn't valid as, for example, a cron expression, a time zone or a URL.
 */
const isWord = (example: unknown): boolean => typeof example !== 'string' || /^[\w.${}-]*$/.test(example);

function fixOf(value: unknown, { node, quoted }: { node: JsonSchema | undefined; quoted: string }): string | undefined {
  const wantsText = [node?.type].flat().includes('string');
  const example = (node?.examples as unknown[] | undefined)?.[0];
  if (lacksUnit(value, node)) return `write it with its unit, as in ${example}`;
  if (node?.type === 'array' && typeof value === 'string' && Array.isArray(example) && quoted !== '')
    return `write a list, as in ${JSON.stringify(example)}`;
  if (wantsText && (typeof value === 'number' || typeof value === 'boolean'))
    return isWord(example) ? `put it in quotes${quoted}` : `write text, as in ${JSON.stringify(example)}`;
  if (typeof value !== 'string') return undefined;
  if (node?.type === 'boolean' && /^(yes|on|y)$/i.test(value)) return 'write true';
  if (node?.type === 'boolean' && /^(no|off|n)$/i.test(value)) return 'write false';
  return didYouMean(value, ((node?.enum as unknown[] | undefined) ?? []).map(String));
}
