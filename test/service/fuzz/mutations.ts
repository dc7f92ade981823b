import type { Dice } from './dice.ts';
import { idsIn } from './known.ts';

type Fields = Record<string, unknown>;

/** What a mutation may use besides its input. */
interface Given {
  readonly dice: Dice;
  /** Unexpected text. */
  readonly text: string;
  /** An ID that the body doesn't contain yet, usually another account's. */
  readonly stranger: () => string;
}

const million = 1024 * 1024;
/** Even numbers nest lists, odd numbers nest components. */
const depths = [30, 1_001, 2_000, 3_000, 3_001, 4_000, 5_000, 6_000, 20_000];

/** Values that no field expects. */
const oddities: readonly ((given: Given) => unknown)[] = [
  () => null,
  ({ text }) => text,
  () => -1,
  () => 2 ** 53,
  () => 1e308,
  () => 0.5,
  () => true,
  () => '',
  () => [],
  () => ({}),
  () => '\0',
  () => '\ud800',
  () => '\u202e\u0000\uffff\u{10ffff}',
  () => "'; drop table users; --",
  () => '%',
  () => '$&$`',
  () => '{props.{props.a}} {props.\ud800} {props.__proto__} {props.constructor}',
  () => 'x'.repeat(300),
  () => 'ä'.repeat(70_000),
  () => ['toString', null, { id: '__proto__' }],
  ({ stranger }) => stranger(),
  ({ stranger }) => [stranger(), stranger()],
  ({ stranger }) => [{ id: stranger(), group_id: stranger(), user_id: stranger(), klip_id: stranger() }],
  ({ dice }) => `nested ${dice.pick(depths)!} deep`,
  ({ text }) => ({ [text]: text, toString: 1, hasOwnProperty: null, '\ud800': '\udfff', '': '', $where: 1 }),
];

/**
 * Expands JSON that is nested deeply enough to overflow a recursive parser's stack, and too deeply for the serializer
 * of the other values.
 */
function nested(text: string): string {
  return text.replaceAll(/"nested (\d+) deep"/g, (_all, depth: string) => {
    const [open, close] = Number(depth) % 2 === 0 ? ['[', ']'] : ['{"type":"t","components":[', ']}'];
    return open.repeat(Number(depth)) + close.repeat(Number(depth));
  });
}

/** Inserts an odd value into the fields, at the top level or below. */
function spoil(fields: Fields, given: Given): Fields {
  const names = Object.keys(fields);
  const name = given.dice.pick([...names, given.text])!;
  const inner = fields[name];
  if (given.dice.percent(40) && typeof inner === 'object' && inner !== null) {
    return { ...fields, [name]: Array.isArray(inner) ? spoilList(inner, given) : spoil(inner as Fields, given) };
  }
  return { ...fields, [name]: given.dice.pick(oddities)!(given) };
}

function spoilList(list: readonly unknown[], given: Given): unknown[] {
  const [first, ...rest] = list;
  if (typeof first !== 'object' || first === null || Array.isArray(first)) {
    return [given.dice.pick(oddities)!(given), ...list];
  }
  return [spoil(first as Fields, given), ...rest];
}

/** The same body, with each ID replaced by a foreign one. */
function exchangeIds(fields: Fields, { stranger }: Given): Fields {
  let text = JSON.stringify(fields);
  for (const id of idsIn(text)) text = text.replace(id, stranger());
  return JSON.parse(text) as Fields;
}

const withoutOne = (fields: Fields, { dice }: Given): Fields => {
  const { [dice.pick(Object.keys(fields)) ?? '']: _gone, ...rest } = fields;
  return rest;
};

/** Mutations of the fields and of their serialized text. */
const ofFields = [spoil, spoil, exchangeIds, exchangeIds, withoutOne] as const;
const ofText: readonly ((text: string, given: Given) => string | Buffer)[] = [
  (text) => text.replace('{', '{"__proto__":{"isAdmin":true,"account_id":1},"constructor":{"prototype":{"a":1}},'),
  (text) => text.replaceAll('":', String.raw`\u0000":`),
  (text) => text.slice(0, -1),
  (text) => `[${text}]`,
  (text) => `\ufeff${text}`,
  (text) => Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0xfe])]),
  () => '',
  () => 'null',
  () => '['.repeat(50_000),
  (text) => text.replace('}', `,"pad":"${'y'.repeat(million)}"}`),
  (_text, { text }) => text,
];

/** The body to send: usually unchanged. */
export function written(fields: Fields, given: Given): string | Buffer {
  const { dice } = given;
  const changed = dice.percent(45) ? dice.pick(ofFields)!(fields, given) : fields;
  const text = nested(JSON.stringify(changed));
  return dice.percent(7) ? dice.pick(ofText)!(text, given) : text;
}

/** Data to upload, in one of the formats or in no valid one. */
export function uploaded(marker: string, { dice, text }: Given): string | Buffer {
  return dice.pick([
    JSON.stringify([{ marker, text }]),
    `a,b\n${marker},1\n`,
    `<rows><row a="${marker}">1</row></rows>`,
    JSON.stringify({ [text]: text }),
    `a,"${text}`,
    `<a>${text}</a>`,
    '',
    '['.repeat(100_000),
    Buffer.from([0, 255, 254, 10, 44]),
    `"${marker.repeat(20_000)}"`,
  ])!;
}
