import { prefixes } from '../../../src/service/http/prefixes.ts';
import { idsIn } from './known.ts';
import type { Operation } from './operations.ts';
import { type Family, idOf } from './people.ts';
import type { World } from './world.ts';

/** Everything that a company's admin can read, by URL. */
export type State = ReadonlyMap<string, string>;

/**
 * Reads everything that the company and its clients have: every list, every item in it, every list of that item, and so
 * on.
 */
export async function stateOf(world: World, family: Family): Promise<State> {
  const state = new Map<string, string>();
  for (const account of family.accounts) await readAccount(world, { family, account, state });
  return state;
}

interface Reading {
  readonly family: Family;
  readonly account: string;
  readonly state: Map<string, string>;
}

async function readAccount(world: World, reading: Reading): Promise<void> {
  const gets = world.operations.filter(({ method }) => method === 'GET');
  const left = gets
    .filter(({ params }) => params.length === 0)
    .map((operation) => ({ operation, path: operation.path }));
  const seen = new Set<string>();
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (seen.has(next.path)) continue;
    seen.add(next.path);
    for (const id of await readAll(world, reading, next)) {
      const thing = `${next.path}/${id}`;
      left.push(...gets.flatMap((operation) => under(operation, thing)));
    }
  }
}

/** URLs below an item: the item itself and its subresources. */
function under(operation: Operation, thing: string): { operation: Operation; path: string }[] {
  const place = thing.replaceAll(/[0-9a-f]{32}/g, '{}');
  const blank = operation.path.replaceAll(/\{\w+\}/g, '{}');
  if (operation.places.at(-1) !== place) return [];
  return [{ operation, path: thing + blank.slice(place.length) }];
}

/** Reads every page of a list. Returns the IDs of its items. */
async function readAll(
  world: World,
  { family, account, state }: Reading,
  { operation, path }: { operation: Operation; path: string },
): Promise<string[]> {
  const ids: string[] = [];
  for (let offset = 0; ; offset += 100) {
    const url = `${prefixes[0]}${path}?${queryOf(operation, family.name === account ? undefined : idOf(account), offset)}`;
    const { text, status } = await world.read({ caller: family.keeper, method: 'GET', url, body: null, headers: {} });
    state.set(url, `${status} ${text.replace(/"error_id":"\w+"/, '')}`);
    const page = text.startsWith('{"meta"') ? listedIn(text) : [];
    ids.push(...page);
    if (page.length < 100) return ids;
  }
}

function queryOf({ query }: Operation, client: string | undefined, offset: number): URLSearchParams {
  const asked = new URLSearchParams(client === undefined || query.client_id === undefined ? {} : { client_id: client });
  if (query.limit !== undefined) asked.set('limit', '100');
  if (query.offset !== undefined) asked.set('offset', String(offset));
  if (query.full !== undefined) asked.set('full', 'true');
  for (const [name, { needed, minimum, maximum }] of Object.entries(query)) {
    if (needed) asked.set(name, String(name.startsWith('start') ? minimum : maximum));
  }
  return asked;
}

function listedIn(text: string): string[] {
  const { data = {} } = JSON.parse(text) as { data?: Record<string, unknown> };
  const lists = Object.values(data).filter((value) => Array.isArray(value)) as { id?: unknown }[][];
  const ids = lists.flat().map((item) => item?.id);
  return ids.filter((id) => typeof id === 'string' && idsIn(id).length === 1) as string[];
}

/** The URLs at which two dumps differ. */
export function differences(before: State, after: State): string[] {
  const addresses = [...new Set([...before.keys(), ...after.keys()])];
  return addresses.filter((address) => before.get(address) !== after.get(address));
}
