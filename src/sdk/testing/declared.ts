import assert, { fail } from 'node:assert/strict';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Errors } from 'typebox/schema';
import type { Connector } from '../connector.ts';
import { type JsonSchema, type Option, type OptionSet, schemaOf, withDefaults } from '../option.ts';
import type { Check } from './check.ts';
import type { Options } from './world.ts';

/** Checks that need only the connector's declarations. */
export function declaredChecks(connector: Connector, file: string | undefined): Check[] {
  return [
    ...(file === undefined
      ? []
      : [{ name: 'has an ID that equals its file name', run: async () => idIsFile(connector, file) }]),
    { name: 'has a title and a summary of what it reads', run: async () => introduces(connector) },
    {
      name: 'documents its options, each with an example or a default, and with the unit in its name',
      run: async () => documents(connector),
    },
    { name: 'accepts the examples and defaults of its own options', run: async () => takesItsOwn(connector) },
    { name: 'reports errors in options instead of throwing them', run: async () => rulesHold(connector) },
    { name: 'has complete texts for the reference page', run: async () => pageIsWhole(connector) },
  ];
}

function idIsFile({ id }: Connector, file: string): void {
  const path = file.startsWith('file:') ? fileURLToPath(file) : file;
  const name = basename(path).replace(/\.[cm]?[jt]s$/, '');
  assert.equal(id, name === 'index' ? basename(dirname(path)) : name);
}

function introduces({ id, title, summary }: Connector): void {
  assert.match(id, /^[a-z][\w]*$/i, 'an id is a word');
  assert.ok(title.trim() !== '' && !title.endsWith('.'), 'a title is a name, without a period');
  assert.match(summary, /^[A-Z].{10,}\.$/s, 'a summary is a sentence that ends with a period');
}

function documents(connector: Connector): void {
  for (const [name, option] of optionsOf(connector)) {
    assert.match(name, /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/, `option ${name}: names are snake_case`);
    assert.match(option.about, /\S.{8,}[.!]$/s, `option ${name}: "about" is a sentence that ends with a period`);
    assert.ok(isShown(option), `option ${name}: it needs an example or a default, unless it is a choice of words`);
    assert.ok(!lacksUnit(name, option.schema), `option ${name}: the name must contain the unit, as in ${name}_seconds`);
  }
}

function optionsOf({ source, query }: Connector): [string, Option<unknown>][] {
  return [...Object.entries(source), ...Object.entries(query)];
}

function isShown({ schema, example, default: fallback }: Option<unknown>): boolean {
  return example !== undefined || fallback !== undefined || schema.enum !== undefined || schema.type === 'boolean';
}

const duration = /(^|_)(timeout|interval|delay|wait|pause|lifetime|age|duration|period|lag|look_?back|ttl)$/;

function lacksUnit(name: string, { type }: JsonSchema): boolean {
  return (type === 'integer' || type === 'number') && duration.test(name);
}

function takesItsOwn(connector: Connector): void {
  for (const [name, { schema, example, default: fallback }] of optionsOf(connector)) {
    for (const value of [example, fallback]) {
      if (value === undefined || holdsVariable(value)) continue;
      const faults = Errors(schema, value)[1].map(({ message }) => message);
      assert.deepEqual(faults, [], `option ${name}: ${JSON.stringify(value)} does not match the option's declaration`);
    }
  }
}

/** A config variable may have a value of any type. */
function holdsVariable(value: unknown): boolean {
  return JSON.stringify(value).includes('$' + '{');
}

function rulesHold(connector: Connector): void {
  const examples = (set: OptionSet): Options =>
    Object.fromEntries(
      Object.entries(set).map(([name, { example, default: fallback }]) => [name, example ?? fallback]),
    );
  for (const [source, query] of [
    [{}, {}],
    [examples(connector.source), examples(connector.query)],
  ] as const) {
    assert.doesNotThrow(() => faultsOf(connector, source, undefined));
    assert.doesNotThrow(() => faultsOf(connector, source, query));
  }
}

function pageIsWhole({ id, columns, limits = [], resumes, example, retired }: Connector): void {
  for (const text of [columns, resumes, retired]) {
    if (text !== undefined) assert.match(text, /\S.{8,}[.|]\s*$/s, `"${text}" is not a complete sentence`);
  }
  for (const text of limits)
    assert.match(text, /^\S.{8,}\.$/s, `the limit "${text}" is not a sentence that ends with a period`);
  if (example === undefined && retired === undefined) fail('the connector has no example (part of a config, as YAML)');
  if (example !== undefined && !example.includes(`connector: ${id}`))
    fail(`the example has no source with "connector: ${id}"`);
}

interface Fault {
  readonly option: string;
  readonly message: string;
}

/**
 * The errors that loading a config with these options would report: schema errors or, if there are none, violations of
 * the connector's rules.
 */
export function faultsOf(connector: Connector, source: Options, query: Options | undefined): Fault[] {
  const bySchema = [...schemaFaults(connector.source, source), ...schemaFaults(connector.query, query ?? {})];
  if (bySchema.length > 0 && query !== undefined) return bySchema;
  const given = {
    source: withDefaults(connector.source, source),
    query: query === undefined ? undefined : withDefaults(connector.query, query),
  };
  const byRule = connector.validate?.(given) ?? [];
  for (const { option } of byRule) {
    const isKnown = Object.hasOwn(connector.source, option) || Object.hasOwn(connector.query, option);
    assert.ok(
      isKnown,
      `its rules report an error at "${option}", which is not one of its options, so the error would not be shown`,
    );
  }
  return [...byRule];
}

function schemaFaults(set: OptionSet, values: Options): Fault[] {
  return Errors(schemaOf(set), values)[1].flatMap(({ instancePath, message, params }): Fault[] => {
    const { requiredProperties = [], additionalProperties = [] } = params as Record<string, string[]>;
    const names =
      instancePath === '' ? [...requiredProperties, ...additionalProperties] : [instancePath.split('/')[1]!];
    return names.map((option) => ({ option, message }));
  });
}
