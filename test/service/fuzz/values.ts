import type { OpenApiSchema } from '../../../src/service/openapi/schemas.ts';
import type { Dice } from './dice.ts';
import { idOf, markerOf } from './people.ts';
import type { World } from './world.ts';

/**
 * Values for declared fields. They consist of what is known about an account and of words that contain the account's
 * marker.
 */
export interface Source {
  readonly world: World;
  readonly dice: Dice;
  /** The account whose assets are named. */
  readonly account: string;
  /** The account whose marker is written. */
  readonly writer: string;
  /** The request's path. */
  readonly path?: string;
}

/** Names of ID fields whose assets have a different name in paths. */
const otherNames: Readonly<Record<string, string>> = { dashboard: 'tabs', company: 'clients', holder: 'groups' };

/** The kind of asset whose ID a field or parameter with this name contains; undefined if it contains no ID. */
export function placeOf(name: string, world: World): string | undefined {
  const word = name.replace(/_ids?$/, '');
  const plural = otherNames[word] ?? (word.endsWith('s') ? word : `${word}s`);
  const place = `/${plural}/{}`;
  return world.places.has(place) ? place : undefined;
}

/** One of this account's IDs for a field with this name. */
export function idFor(name: string, { world, dice, account }: Source): string {
  return world.known(account).id(placeOf(name, world) ?? '', dice) ?? idOf('nothing');
}

/** The fields of a body, usually including optional ones. Passwords are rare, because hashing them takes long. */
export function fieldsFor(schema: OpenApiSchema, source: Source): Record<string, unknown> {
  const { properties = {}, required = [] } = schema;
  const names = Object.keys(properties).filter((name) => name !== 'client_id' || required.includes(name));
  const often = (name: string): number => (name === 'password' ? 90 : 20);
  const chosen = names.filter((name) => required.includes(name) || !source.dice.percent(often(name)));
  return Object.fromEntries(chosen.map((name) => [name, valueFor(properties[name]!, name, source)]));
}

/** A value for a field: either an object or list that was read before, or a new value that the schema allows. */
export function valueFor(schema: OpenApiSchema, name: string, source: Source): unknown {
  const { dice, world, account, path = '' } = source;
  const plain = schema.type === 'string' || schema.type === 'integer' || schema.type === 'boolean';
  const before = !plain && dice.percent(40) ? world.known(account).value(path, name, dice) : undefined;
  return before === undefined ? newValue(schema, name, source) : before;
}

function newValue(schema: OpenApiSchema, name: string, source: Source): unknown {
  const { dice } = source;
  if (schema.enum !== undefined) return dice.pick(schema.enum);
  if (schema.anyOf !== undefined) return newValue(dice.pick(schema.anyOf)!, name, source);
  if (schema.type === 'boolean') return dice.below(2) === 0;
  if (schema.type === 'integer') return wholeNumber(schema, dice);
  if (schema.type === 'string') return textFor(schema, name, source);
  if (schema.type === 'array') {
    const items = Math.max(Number(schema.minItems ?? 0), 1) + (schema.maxItems === 1 ? 0 : dice.below(3));
    return Array.from({ length: items }, () => newValue(schema.items ?? {}, name, source));
  }
  const free = schema.properties === undefined || schema.additionalProperties === true;
  return { ...(free ? freeFields(source) : {}), ...fieldsFor(schema, source) };
}

function wholeNumber({ minimum, maximum, multipleOf }: OpenApiSchema, dice: Dice): number {
  const least = Number(minimum ?? -1);
  const edges = [Number(multipleOf ?? least + 2), least, 100, Number(maximum ?? 5)];
  return dice.pick(edges.filter((edge) => edge >= least))!;
}

function textFor(schema: OpenApiSchema, name: string, source: Source): string {
  const marker = markerOf(source.writer);
  const place = placeOf(name, source.world);
  if (place !== undefined && schema.pattern === undefined) {
    const { world, dice, account } = source;
    return dice.percent(30) ? world.strangeId(dice, account, place) : idFor(name, source);
  }
  const number = source.world.next();
  if (name === 'email') return `user-${number}@${marker}.test`;
  if (String(schema.pattern).includes('https?')) return `https://${marker}.test/${number}`;
  return `${name} ${number} ${marker} ${source.dice.pick(['', '', '{props.region}', 'ß – 名'])}`;
}

function freeFields({ dice, writer, world, account }: Source): Record<string, unknown> {
  const marker = markerOf(writer);
  const id = world.known(account).id('', dice) ?? marker;
  return dice.pick<Record<string, unknown>>([
    { region: marker },
    { [`p ${marker}`]: marker },
    { query: `{props.region} ${marker}`, region: marker },
    { endpoint_url: `https://${marker}.test/{props.region}`, deep: { list: [marker, { id }] } },
    { [id]: { region: 1, idx: 0 } },
  ])!;
}
