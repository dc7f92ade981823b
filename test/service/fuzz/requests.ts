import { prefixes } from '../../../src/service/http/prefixes.ts';
import type { OpenApiSchema } from '../../../src/service/openapi/schemas.ts';
import fc from '../../property.ts';
import { Dice } from './dice.ts';
import { uploaded, written } from './mutations.ts';
import type { Operation } from './operations.ts';
import { type Caller, type Family, idOf, markerOf } from './people.ts';
import { fieldsFor, idFor, placeOf, type Source, valueFor } from './values.ts';
import type { World } from './world.ts';

/** The decisions for one request. What exists when it's sent determines the actual request. */
export interface Plan {
  readonly operation: number;
  readonly caller: number;
  readonly dice: readonly number[];
  readonly text: string;
}

/** A request as it is sent. */
export interface Request {
  readonly operation: Operation;
  readonly caller: Caller;
  /** The name of the addressed account, unless something is wrong with the request. */
  readonly account: string;
  readonly method: string;
  /** With prefix and query. */
  readonly url: string;
  /** Without prefix and query. */
  readonly path: string;
  readonly body: string | Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** Up to this many plans. */
export function plans(most: number): fc.Arbitrary<Plan[]> {
  const number = fc.noBias(fc.nat(0xff_ffff));
  const plan = fc.record({
    operation: number,
    caller: number,
    dice: fc.noBias(fc.array(number, { maxLength: 40, size: 'max' })),
    text: fc.string({ unit: 'binary', maxLength: 12 }),
  });
  return fc.noBias(fc.array(plan, { maxLength: most, size: 'max' }));
}

/** Builds a plan's request, as a user in this family. */
export async function carryOut(plan: Plan, family: Family, world: World): Promise<void> {
  const caller = family.callers[plan.caller % family.callers.length]!;
  const operation = world.operations[plan.operation % world.operations.length]!;
  const given = { world, family, caller, operation, text: plan.text };
  await perform(given, plan.dice, plan.operation % 2 === 0);
}

/** Makes one request. If requested and possible, first reads what the request is about to change. */
export async function perform(given: Omit<Composing, 'dice'>, numbers: readonly number[], reads: boolean) {
  const composed = (): Request => compose({ ...given, dice: new Dice(numbers) });
  const { operation, world } = given;
  const twin = world.operations.find(({ method, path }) => method === 'GET' && path === operation.path);
  if (operation.method === 'PUT' && reads && twin !== undefined) {
    await world.ask({ ...composed(), operation: twin, method: 'GET', body: null });
  }
  return world.ask(composed());
}

interface Composing {
  readonly world: World;
  readonly family: Family;
  readonly caller: Caller;
  readonly operation: Operation;
  readonly dice: Dice;
  readonly text: string;
  /** The account whose assets are named; drawn by default. */
  readonly account?: string;
}

/** Builds the request from these decisions: whose assets it names, then its path, query and body. */
function compose(given: Composing): Request {
  const { world, family, caller, operation, dice } = given;
  const own = given.account ?? ownAccount(given);
  const account = dice.percent(25) ? dice.pick(world.accounts)! : own;
  const client = account === caller.account || !takesClient(operation) || dice.percent(5) ? undefined : idOf(account);
  const meant = client === undefined ? caller.account : account;
  const inBody = client !== undefined && typeof operation.body === 'object' && dice.percent(50);
  // A mutation may replace an ID in the body, and all clients of a company may contain the company's own marker.
  const shared = inBody || !family.accounts.includes(meant);
  const writer = caller.account !== family.name ? caller.account : shared ? family.name : meant;
  const source: Source = { world, dice, account, writer };
  const path = pathFor(given, source);
  const body = bodyFor(given, { ...source, path }, inBody ? client : undefined);
  const query = queryFor(given, { ...source, path }, inBody ? undefined : client);
  const url = `${prefixes[dice.below(2)]}${path}${query}`;
  const method = dice.percent(1) ? dice.pick(['PATCH', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE'])! : operation.method;
  const type = dice.pick(['application/json', 'text/csv', 'application/json; charset=utf-16', '', '%'])!;
  return { operation, caller, account: meant, method, url, path, body, headers: { 'content-type': type } };
}

const takesClient = ({ query }: Operation): boolean => query.client_id !== undefined;

/** One of the accounts that the caller can act in. */
function ownAccount({ caller, family, operation, dice }: Composing): string {
  if (caller.account !== family.name || !takesClient(operation)) return caller.account;
  return family.accounts[dice.percent(35) ? 1 + dice.below(2) : 0]!;
}

function pathFor({ operation, dice, text, world }: Composing, source: Source): string {
  const ids = idsFor(operation, source);
  if (ids.length === 0) return operation.path;
  const at = dice.below(ids.length);
  // Usually an ID of the right kind. There are none of a kind that no list shows.
  const place = dice.percent(80) ? operation.places[at] : undefined;
  if (dice.percent(20)) ids[at] = world.strangeId(dice, source.account, place);
  else if (dice.percent(4)) ids[dice.below(ids.length)] = dice.pick([text, '\0', 'x'.repeat(2_000), '__proto__'])!;
  return operation.path.replaceAll(/\{\w+\}/g, () => segment(ids.shift() ?? idOf('nothing')));
}

/**
 * IDs for the parameters: those of an existing asset if there is one; otherwise, one for each parameter according to
 * its name.
 */
function idsFor({ places, params }: Operation, source: Source): string[] {
  const known = source.world.known(source.account);
  for (const [at, place] of [...places.entries()].reverse()) {
    const things = known.of(place);
    if (things.length === 0 || source.dice.percent(10)) continue;
    const { ids } = source.dice.pick(things)!;
    return [...ids, ...params.slice(at + 1).map((name) => idFor(name, source))];
  }
  return params.map((name) => (placeOf(name, source.world) === undefined ? anyId(source) : idFor(name, source)));
}

const anyId = ({ world, dice, account }: Source): string => world.known(account).id('', dice) ?? idOf('nothing');

/** One path segment. The client would remove a segment that consists of dots. */
const segment = (id: string): string => encodeURIComponent(id.toWellFormed()).replace(/^\.{0,2}$/, '%20');

function queryFor({ operation, dice, text }: Composing, source: Source, client: string | undefined): string {
  const query = new URLSearchParams(client === undefined ? {} : { client_id: client });
  for (const [name, { needed, ...schema }] of Object.entries(operation.query)) {
    if (name === 'client_id' || !(needed || dice.percent(30))) continue;
    query.append(name, queryText(name, schema, source, text));
    if (dice.percent(2)) query.append(name, '7');
  }
  if (dice.percent(2)) query.append(dice.pick(['__proto__', 'constructor', text])!, '1');
  return query.size === 0 ? '' : `?${query}`;
}

function queryText(name: string, schema: OpenApiSchema, source: Source, text: string): string {
  const { dice, world, account, path = '' } = source;
  if (dice.percent(15)) return dice.pick([text, '', '-1', '101', '1e9', 'null', '\0'])!;
  const before =
    schema.type === 'string' && dice.percent(50) ? world.known(account).value(path, name, dice) : undefined;
  return String(before ?? valueFor(schema, name, source));
}

function bodyFor({ operation, dice, text, world }: Composing, source: Source, client: string | undefined) {
  const more = { dice, text, stranger: () => world.strangeId(dice, source.account) };
  if (operation.body === undefined) return null;
  if (operation.body === 'data') return uploaded(markerOf(source.writer), more);
  const fields = fieldsFor(operation.body, source);
  return written(client === undefined ? fields : { ...fields, client_id: client }, more);
}
