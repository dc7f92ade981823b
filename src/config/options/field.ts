import { isMap } from '../../lib/is-map.ts';
import { spanOf } from '../../lib/span.ts';
import { type JsonSchema, type Option, type OptionSet, option, schemaOf } from '../../sdk/option.ts';
import type { Faults } from '../text/faults.ts';
import { type Part, partAt } from '../text/variables.ts';
import { fits } from './fits.ts';

/**
 * The config's own options. Validation, the reference page and the config object use the same declarations. For
 * example, `timeout_seconds: 60` in a file becomes `timeoutMs: 60_000` in the config object.
 */

/**
 * Parses the value. Returns undefined if the value is invalid, and reports the error unless the schema check already
 * has.
 */
type Read<T> = (at: Part, faults: Faults) => T | undefined;

/** An option whose value in the config object differs from its value in the file. */
export interface ConfigOption<T, U extends string = ''> extends Option<unknown> {
  /**
   * The unit suffix of the option's name in the config object. It replaces the unit in the option's name in the file.
   */
  readonly unit: U;
  readonly read: Read<T>;
  /** True if the option is a group, whose members are validated separately. */
  readonly isGroup: boolean;
}

type ValueOf<O> = O extends ConfigOption<infer T, string> ? T : O extends Option<infer T> ? T : never;
type Camel<K> = K extends `${infer A}_${infer B}` ? `${A}${Capitalize<Camel<B>>}` : K & string;
type Bare<K> = K extends `${infer A}_seconds` | `${infer A}_megabytes` ? A : K;
type NameOf<K, O> = O extends { readonly unit: infer U extends string }
  ? U extends ''
    ? Camel<K>
    : `${Camel<Bare<K>>}${U}`
  : Camel<K>;

/** The values of a set of options, with their names and types in the config object. */
export type Values<S extends OptionSet> = {
  readonly [K in keyof S as undefined extends ValueOf<S[K]> ? never : NameOf<K, S[K]>]: ValueOf<S[K]>;
} & {
  readonly [K in keyof S as undefined extends ValueOf<S[K]> ? NameOf<K, S[K]> : never]?: ValueOf<S[K]>;
};

function nameOf(name: string, { unit = '' }: Partial<ConfigOption<unknown, string>>): string {
  const bare = unit === '' ? name : name.replace(/_(seconds|megabytes)$/, '');
  return bare.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) + unit;
}

/** Returns the valid options that are set in the file. */
export function readWritten<S extends OptionSet>(set: S, at: Part, faults: Faults): Partial<Values<S>> {
  return readEach(set, at, { faults, defaultOf: () => undefined });
}

/**
 * Like {@link readWritten}, but uses defaults for unset options. Missing required options stay absent; {@link
 * isComplete} detects them.
 */
export function readOptions<S extends OptionSet>(set: S, at: Part, faults: Faults): Partial<Values<S>> {
  return readEach(set, at, { faults, defaultOf: (one) => one.default });
}

/** Whether all required options are present. */
export function isComplete<S extends OptionSet>(set: S, values: Partial<Values<S>>): values is Values<S> {
  return Object.entries(set).every(([name, one]) => !one.required || Object.hasOwn(values, nameOf(name, one)));
}

interface Reading {
  readonly faults: Faults;
  readonly defaultOf: (one: Option<unknown>) => unknown;
}

function readEach<S extends OptionSet>(set: S, at: Part, { faults, defaultOf }: Reading): Partial<Values<S>> {
  const written = isMap(at.value) ? at.value : {};
  const isSound = fits(schemaOf(set), at.value);
  const entries = Object.entries(set).flatMap(([name, one]) => {
    const inside = partAt({ ...at, value: written }, name);
    const own = written[name] === undefined ? undefined : readOne(one, inside, { isSound, faults });
    const value = own ?? readOne(one, { ...inside, value: defaultOf(one) }, { isSound: true, faults });
    return value === undefined ? [] : [[nameOf(name, one), value]];
  });
  return Object.fromEntries(entries) as Partial<Values<S>>;
}

function readOne(
  one: Option<unknown> | ConfigOption<unknown, string>,
  at: Part,
  { isSound, faults }: { isSound: boolean; faults: Faults },
): unknown {
  const isField = 'read' in one;
  if (at.value === undefined) return undefined;
  if (!isSound && !(isField && one.isGroup) && !fits(one.schema, at.value)) return undefined;
  return isField ? one.read(at, faults) : at.value;
}

type Same<O, T> = O extends Option<infer W> ? (undefined extends W ? T | undefined : T) : never;

/**
 * Declares an option whose value in the config object differs from its value in the file. `read` receives only values
 * that passed the option's schema.
 */
export function readAs<O extends Option<unknown>, T, const U extends string = ''>(
  one: O,
  { read, unit, isGroup = false }: { read: Read<T>; unit?: U; isGroup?: boolean },
): ConfigOption<Same<O, T>, U> {
  return { ...one, unit: unit ?? ('' as U), read: read as Read<Same<O, T>>, isGroup };
}

/** A whole number of seconds: `timeout_seconds` in the file becomes `timeoutMs` in the config object. */
export const seconds = <O extends Option<number> | Option<number | undefined>>(
  one: O,
): ConfigOption<Same<O, number>, 'Ms'> => readAs(one, { unit: 'Ms', read: ({ value }) => Number(value) * 1000 });

/** A whole number of megabytes: `limit_megabytes` in the file becomes `limitBytes` in the config object. */
export const megabytes = <O extends Option<number> | Option<number | undefined>>(
  one: O,
): ConfigOption<Same<O, number>, 'Bytes'> =>
  readAs(one, { unit: 'Bytes', read: ({ value }) => Number(value) * 1_000_000 });

/** A string whose pattern allows only durations: `remind` in the file becomes `remindMs` in the config object. */
export const duration = <O extends Option<unknown>>(one: O): ConfigOption<Same<O, number>, 'Ms'> =>
  readAs(one, { unit: 'Ms', read: ({ value }) => spanOf(String(value)) });

/** A string whose pattern allows only percentages. The value in the config object is a fraction. */
export const percentage = <O extends Option<unknown>>(one: O): ConfigOption<Same<O, number>> =>
  readAs(one, { read: ({ value }) => fractionOf(String(value)) });

/** Converts a percentage to a fraction: `50%` becomes 0.5. */
export const fractionOf = (percent: string): number => Number.parseFloat(percent) / 100;

interface About<D> {
  readonly about: string;
  readonly example?: unknown;
  readonly required?: true;
  readonly default?: D;
}

type Kept<T, G> = G extends { readonly required: true } | { readonly default: unknown } ? T : T | undefined;

/** A map with these options. If a required option has an error, the map's value is undefined. */
export function group<S extends OptionSet, G extends About<object>>(
  set: S,
  given: G,
): ConfigOption<Kept<Values<S>, G>> {
  const readMap: Read<Values<S>> = (at, faults) => readWhole(set, at, faults);
  return readAs(option.schema<never>(schemaOf(set), given as never), { isGroup: true, read: readMap }) as never;
}

/** Like {@link group}, but also accepts `false`, which disables the group. */
export function groupOrFalse<S extends OptionSet, G extends About<object>>(
  set: S,
  given: G,
): ConfigOption<Kept<Values<S> | false, G>> {
  const readMap: Read<Values<S> | false> = (at, faults) => at.value !== false && readWhole(set, at, faults);
  return readAs(option.schema<never>(orFalse(schemaOf(set)), given as never), {
    isGroup: true,
    read: readMap,
  }) as never;
}

export const orFalse = (schema: JsonSchema): JsonSchema => ({ anyOf: [{ const: false }, schema] });

/** Returns a map's options, or undefined if a required option has an error. */
export function readWhole<S extends OptionSet>(set: S, at: Part, faults: Faults): Values<S> | undefined {
  const values = isMap(at.value) ? readOptions(set, at, faults) : {};
  return isMap(at.value) && isComplete(set, values) ? values : undefined;
}

/** A list of maps with these options. Excludes maps in which a required option has an error. */
export const groups = <S extends OptionSet>(set: S, given: { about: string; example: readonly object[] }) =>
  readAs(option.list<object>(schemaOf(set), given), {
    isGroup: true,
    read: (at, faults): readonly Values<S>[] =>
      Array.isArray(at.value) ? at.value.flatMap((_, i) => readWhole(set, partAt(at, i), faults) ?? []) : [],
  });

/** Returns an environment variable in the config's syntax. */
export const variable = (name: string): string => `\${env:${name}}`;
