import type { Endpoint } from '../endpoint.ts';
import type { OperationLink } from './operation.ts';
import { type OpenApiSchema, plainSchema } from './schemas.ts';

/**
 * The operations that take an ID from an operation's response, by operation ID. Only lists have links: a list's first
 * item identifies an asset whose path is the list's path plus the ID.
 */
export function linksOf(endpoint: Endpoint, all: readonly Endpoint[]): Record<string, OperationLink> {
  const { method, path, answer } = endpoint;
  const list = method === 'GET' && answer.data !== 'bytes' ? listIn(plainSchema(answer.data)) : undefined;
  if (list === undefined) return {};
  const own = parametersIn(path).map((name) => [name, `$request.path.${name}`]);
  const targets = all.flatMap((target) => {
    const rest = target.path.startsWith(`${path}/`) ? target.path.slice(path.length + 1) : '';
    const name = /^\{(\w+)\}[^{]*$/.exec(rest)?.[1];
    if (name === undefined || target.refuses === true) return [];
    const parameters = Object.fromEntries([...own, [name, `$response.body#/data/${list}/0/id`]]);
    return [[target.id, { operationId: target.id, parameters }] as const];
  });
  return Object.fromEntries(targets);
}

/** The name of the field that contains a list of items with IDs. */
function listIn({ properties = {} }: OpenApiSchema): string | undefined {
  const lists = Object.entries(properties).filter(([, { items }]) => items?.properties?.id !== undefined);
  return lists.length === 1 && Object.keys(properties).length === 1 ? lists[0]![0] : undefined;
}

function parametersIn(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}
