import type { Format } from '../../formats/format.ts';
import type { Connector } from '../../sdk/connector.ts';
import { type JsonSchema, schemaOf } from '../../sdk/option.ts';
import type { Transform } from '../../transforms/transform.ts';
import { destinationOptions } from '../options/destination.ts';
import { jobOptions } from '../options/job.ts';
import { optionsOfSource } from '../options/login.ts';
import { nameSchema } from '../options/names.ts';
import { sourceOptions } from '../options/source.ts';
import { datasourceOptions, targetOptions } from '../options/target.ts';
import { topOptions } from '../options/top.ts';
import { topMaps } from '../parse/top.ts';

/** Everything that declares its own options. */
export interface Declarations {
  readonly connectors: readonly Connector[];
  readonly formats: readonly Format[];
  readonly transforms: readonly Transform[];
}

/**
 * The JSON Schema (2020-12) of a complete config, for editors. It's generated from the same declarations as validation,
 * but is slightly more permissive, because it can't check everything: any value may be a variable, a connector may be
 * the user's own, and no portable pattern matches non-ASCII letters.
 */
export function configSchema(declarations: Declarations): JsonSchema {
  const top = schemaOf({ ...topOptions, ...topMaps });
  const schema = {
    ...top,
    properties: {
      ...(top.properties as object),
      destinations: mapOf(topMaps.destinations.schema, schemaOf(destinationOptions)),
      sources: mapOf(topMaps.sources.schema, sourceSchema(declarations.connectors)),
      jobs: mapOf(topMaps.jobs.schema, jobSchema(declarations)),
    },
  };
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Sluice config',
    description: 'Jobs that move rows from sources to dashboard data sources.',
    ...(allowVariables(schema) as JsonSchema),
  };
}

function mapOf(map: JsonSchema, members: JsonSchema): JsonSchema {
  return { ...map, propertyNames: nameSchema, additionalProperties: members };
}

/**
 * One schema branch per built-in connector. Any other name is the user's own connector, whose options are unknown to
 * this schema.
 */
function sourceSchema(connectors: readonly Connector[]): JsonSchema {
  const ids = connectors.map(({ id }) => id);
  const word = sourceOptions.connector.schema;
  const named = connectors.map((connector) => ({
    if: { properties: { connector: { const: connector.id } }, required: ['connector'] },
    ...branch(schemaOf(optionsOfSource(connector))),
  }));
  return {
    type: 'object',
    required: ['connector'],
    properties: { connector: { ...word, anyOf: [{ enum: ids }, { type: 'string' }] } },
    allOf: named,
  };
}

/** Linters mistake an object with a `then` member for a promise, so only this function creates such an object. */
function branch(schema: JsonSchema): JsonSchema {
  return Object.fromEntries([['then', schema]]);
}

function jobSchema({ connectors, formats, transforms }: Declarations): JsonSchema {
  const about = (name: keyof typeof jobOptions, more: JsonSchema): JsonSchema => {
    const { type: _, items: __, ...rest } = jobOptions[name].schema;
    return { ...rest, ...more };
  };
  const job = schemaOf(jobOptions);
  const own = formats.filter(({ isForDatasources }) => isForDatasources);
  return {
    ...job,
    properties: {
      ...(job.properties as object),
      query: about('query', { anyOf: [{ type: 'string' }, ...connectors.map(querySchema), { type: 'object' }] }),
      transforms: about('transforms', { type: 'array', items: transformSchema(transforms) }),
      format: about('format', { anyOf: [{ enum: own.map(({ id }) => id) }, ...own.map(formatSchema)] }),
      target: about('target', { anyOf: [{ type: 'string' }, targetSchema()] }),
    },
  };
}

function querySchema(connector: Connector): JsonSchema {
  return { title: `query of ${connector.id}`, ...schemaOf(connector.query) };
}

function transformSchema(transforms: readonly Transform[]): JsonSchema {
  const properties = transforms.map(({ id, summary, schema }) => [id, { description: summary, ...schema }]);
  return {
    type: 'object',
    minProperties: 1,
    maxProperties: 1,
    additionalProperties: false,
    properties: Object.fromEntries(properties),
  };
}

function formatSchema({ id, summary, options }: Format): JsonSchema {
  const own = schemaOf(options);
  const type = { const: id, description: summary };
  return { ...own, properties: { type, ...(own.properties as object) } };
}

function targetSchema(): JsonSchema {
  const target = schemaOf(targetOptions);
  const { type: _, ...datasource } = targetOptions.datasource.schema;
  const declared = { ...datasource, ...schemaOf(datasourceOptions) };
  return { ...target, properties: { ...(target.properties as object), datasource: declared } };
}

const isVariable: JsonSchema = { type: 'string', pattern: '\\$\\{' };
const scalars = ['integer', 'number', 'boolean'];

/** Also allows a variable wherever the schema allows a number, a boolean, an enum or a string with a pattern. */
function allowVariables(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(allowVariables);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([key, value]) => [key, isData.has(key) ? value : allowVariables(value)]);
  const open = Object.fromEntries(entries) as Record<string, unknown>;
  // YAML parses an unquoted `null` as null, but validation treats it as the string "null".
  if (isWord(open) && (open.enum as unknown[]).includes('null')) open.enum = [...(open.enum as unknown[]), null];
  const isNarrow = scalars.includes(String(open.type)) || (open.type === 'string' && 'pattern' in open) || isWord(open);
  if (!isNarrow) return open;
  const { description, default: fallback, examples, writeOnly, ...rest } = open;
  const about = Object.entries({ description, default: fallback, examples, writeOnly });
  return { ...Object.fromEntries(about.filter(([, value]) => value !== undefined)), anyOf: [rest, isVariable] };
}

/** JSON Schema keywords whose value is data or a condition, not a schema for config values. */
const isData = new Set(['enum', 'const', 'default', 'examples', 'required', 'if', 'propertyNames']);

function isWord(node: Record<string, unknown>): boolean {
  return Array.isArray(node.enum);
}
