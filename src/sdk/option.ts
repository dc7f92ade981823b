/**
 * An option is declared once: name (its key in the config), type, default, description, example, and whether it's
 * secret. Config validation, the JSON Schema for editors, the reference page and the sample file are all generated from
 * that declaration.
 */

/** A JSON Schema (2020-12) node, as plain data. */
export type JsonSchema = { readonly [key: string]: unknown };

/**
 * One declared option. `T` is the type of its value after defaults are filled in, and exists only for the type checker.
 */
export interface Option<T> {
  readonly schema: JsonSchema;
  /** The user must set it. */
  readonly required: boolean;
  /** Whether the value is secret: it's registered for redaction as soon as it's read, and is never shown. */
  readonly secret: boolean;
  readonly about: string;
  readonly example?: unknown;
  readonly default?: T;
  /** False if the option doesn't affect the rows, so that a change of it doesn't reset the job's checkpoint. */
  readonly changesRows?: boolean;
}

/** Options by name in the config. */
export type OptionSet = { readonly [name: string]: Option<unknown> };

/** The values of a set of options. An optional option without a default may be undefined. */
export type OptionValues<S extends OptionSet> = { readonly [K in keyof S]: S[K] extends Option<infer T> ? T : never };

interface About {
  /** One sentence for the reference page and the editor's tooltip. */
  readonly about: string;
  readonly example?: unknown;
  readonly secret?: boolean;
  readonly changesRows?: false;
}
type Required_ = About & { readonly required: true };
type Defaulted<T> = About & { readonly default: T };

function declare<T>(schema: JsonSchema, given: About & { required?: true; default?: T }): Option<T> {
  const secret = given.secret ?? false;
  return {
    schema: {
      ...schema,
      description: given.about,
      ...(given.default === undefined ? {} : { default: given.default }),
      ...(given.example === undefined ? {} : { examples: [given.example] }),
      ...(secret ? { writeOnly: true } : {}),
    },
    required: given.required ?? false,
    secret,
    about: given.about,
    ...(given.example === undefined ? {} : { example: given.example }),
    ...(given.default === undefined ? {} : { default: given.default }),
    ...(given.changesRows === undefined ? {} : { changesRows: given.changesRows }),
  };
}

interface Builder<T, X> {
  (given: Required_ & X): Option<T>;
  (given: Defaulted<T> & X): Option<T>;
  (given: About & X): Option<T | undefined>;
}

function builder<T, X extends object>(schemaOf: (given: X) => JsonSchema): Builder<T, X> {
  return ((given: About & X & { required?: true; default?: T }) => declare<T>(schemaOf(given), given)) as Builder<T, X>;
}

type Bounds = { readonly minimum?: number; readonly maximum?: number };
const bounds = ({ minimum, maximum }: Bounds): JsonSchema => ({
  ...(minimum === undefined ? {} : { minimum }),
  ...(maximum === undefined ? {} : { maximum }),
});

function choice<const C extends string>(choices: readonly C[], given: Required_ | Defaulted<C>): Option<C>;
function choice<const C extends string>(choices: readonly C[], given: About): Option<C | undefined>;
function choice<const C extends string>(
  choices: readonly C[],
  given: About & { required?: true; default?: C },
): Option<C> {
  return declare<C>({ enum: choices }, given);
}

/**
 * Functions that declare options. An option's name is a noun in snake_case and includes the unit (`timeout_seconds`).
 */
export const option = {
  /** Any string. `pattern` is an ECMAScript regular expression. */
  text: builder<string, { readonly pattern?: string }>(({ pattern }) => ({
    type: 'string',
    ...(pattern === undefined ? {} : { pattern }),
  })),
  integer: builder<number, Bounds>((given) => ({ type: 'integer', ...bounds(given) })),
  number: builder<number, Bounds>((given) => ({ type: 'number', ...bounds(given) })),
  boolean: builder<boolean, object>(() => ({ type: 'boolean' })),
  /** One of a fixed list of words. */
  choice,
  /** A list whose items match `items`. */
  list: <T>(items: JsonSchema, given: About & { required?: true; default?: readonly T[] }): Option<readonly T[]> =>
    declare<readonly T[]>(
      { type: 'array', items },
      { ...given, ...(given.required ? {} : { default: given.default ?? [] }) },
    ),
  /** A map from any name to a value that matches `values`. */
  map: <T>(
    values: JsonSchema,
    given: About & { default?: Readonly<Record<string, T>> },
  ): Option<Readonly<Record<string, T>>> =>
    declare<Readonly<Record<string, T>>>(
      { type: 'object', additionalProperties: values },
      { ...given, default: given.default ?? {} },
    ),
  /** An option of any other type, declared by a custom JSON Schema. */
  schema: <T>(schema: JsonSchema, given: About & { required?: true; default?: T }): Option<T> =>
    declare<T>(schema, given),
};

const schemas = new WeakMap<OptionSet, JsonSchema>();

/**
 * The JSON Schema for a set of options: an object that rejects unknown keys. Cached, because option sets never change.
 */
export function schemaOf(set: OptionSet): JsonSchema {
  const known = schemas.get(set) ?? schemaMadeOf(set);
  schemas.set(set, known);
  return known;
}

function schemaMadeOf(set: OptionSet): JsonSchema {
  const names = Object.keys(set);
  const required = names.filter((name) => set[name]!.required);
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(names.map((name) => [name, set[name]!.schema])),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** The given values, plus the defaults of options that aren't set. The values must already have been validated. */
export function withDefaults<S extends OptionSet>(set: S, given: Readonly<Record<string, unknown>>): OptionValues<S> {
  const filled = Object.keys(set).map((name) => [name, given[name] ?? set[name]!.default]);
  return Object.fromEntries(filled) as OptionValues<S>;
}
