import type { JsonSchema } from '../../sdk/option.ts';
import { unescaped } from '../text/document.ts';

/**
 * Returns the schema node at a schema path (`#/properties/url`), or undefined if the path leads outside this schema.
 */
export function nodeAt(schema: JsonSchema, schemaPath: string): JsonSchema | undefined {
  return schemaPath
    .split('/')
    .slice(1)
    .reduce<JsonSchema | undefined>((node, key) => node?.[unescaped(key)] as JsonSchema | undefined, schema);
}

const typeWords: Record<string, string> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of options',
  null: 'nothing',
};

function wordOf(value: unknown): string {
  return typeof value === 'string' && !/^\w[\w.-]*$/.test(value) ? JSON.stringify(value) : String(value);
}

/** Describes in words which values a schema accepts. */
export function describeSchema(node: JsonSchema): string {
  if (Array.isArray(node.enum)) return node.enum.map(wordOf).join(', ');
  if ('const' in node) return String(node.const);
  const branches = (node.anyOf ?? node.oneOf) as JsonSchema[] | undefined;
  if (branches !== undefined) return branches.map(describeSchema).join('; or ');
  const types = [node.type ?? 'anything'].flat().map((type) => typeWords[String(type)] ?? String(type));
  return types.join(' or ') + boundsOf(node) + membersOf(node);
}

function boundsOf(node: JsonSchema): string {
  const { minimum, maximum } = node;
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `, ${minimum} or more`;
  return maximum === undefined ? '' : `, at most ${maximum}`;
}

function membersOf(node: JsonSchema): string {
  const names = Object.keys((node.properties as object | undefined) ?? {});
  return node.type === 'object' && names.length > 0 ? ` (${names.join(', ')})` : '';
}

/** Describes the allowed values, based on one validator error. */
export function allowedBy(error: { keyword: string; params: object }, node: JsonSchema | undefined): string {
  const params = error.params as { limit?: number; propertyNames?: string[]; pattern?: unknown };
  const example = (node?.examples as unknown[] | undefined)?.[0];
  switch (error.keyword) {
    case 'pattern':
      // If the example is a variable, it doesn't show what the value must look like.
      return typeof example === 'string' && example.startsWith('${')
        ? String(node?.description ?? `text that matches ${String(params.pattern)}`)
        : example === undefined
          ? `text that matches ${String(params.pattern)}`
          : `text like ${JSON.stringify(example)}`;
    case 'minLength':
      return 'text that is not empty';
    case 'minItems':
      return `a list with at least ${params.limit} ${params.limit === 1 ? 'item' : 'items'}`;
    case 'maxItems':
      return `a list with at most ${params.limit} ${params.limit === 1 ? 'item' : 'items'}`;
    case 'minProperties':
      return `a map with at least ${params.limit} key${params.limit === 1 ? '' : 's'}`;
    case 'maxProperties':
      return `a map with at most ${params.limit} key${params.limit === 1 ? '' : 's'}`;
    case 'uniqueItems':
      return 'a list without duplicates';
    default:
      return node === undefined ? 'see the reference, docs/config.md' : describeSchema(node);
  }
}
