import { cellText, storedRow } from '../batch.ts';
import { withDefaults } from '../option.ts';
import type { RecordInput } from '../records/input.ts';
import { recordOptions } from '../records/options.ts';
import { readRecords } from '../records/reader.ts';
import type { ServiceAnswer } from './answer.ts';
import { matches } from './classify.ts';
import type { Decoding, Fields, RecordsAt, StreamData } from './description.ts';
import { isObject, parseExact, textOf } from './exact-json.ts';
import { stepsOf, type ValuePath, valueAt, valuesAt } from './path.ts';
import type { Reply } from './reply.ts';
import { noList, unreadable } from './service-problems.ts';
import type { Scope } from './template.ts';

type RecordRules = Pick<StreamData, 'records' | 'absent' | 'decode' | 'each' | 'only'>;

const chunkRows = 1000;

/** A chunk of a reply's records: the records after filtering, and the number and last of the original records. */
export interface RecordPiece {
  readonly records: readonly Fields[];
  readonly count: number;
  readonly last: Fields | undefined;
}

/** A reply's records, in chunks of at least one record. */
export async function* recordsOf(reply: Reply, stream: RecordRules, scope: Scope): AsyncGenerator<RecordPiece> {
  const { each, only } = stream;
  for await (const chunk of chunksOf(reply, stream, scope)) {
    const wanted = only === undefined ? chunk : chunk.filter((record) => isWanted(record, only));
    const records = each === undefined ? wanted : wanted.flatMap((record) => each(record, scope) ?? []);
    yield { records, count: chunk.length, last: chunk.at(-1) };
  }
}

/** Whether a record matches the filter. */
export function isWanted(record: Fields, only: StreamData['only']): boolean {
  return Object.entries(only ?? {}).every(([path, value]) => matches(valueAt(record, path), value as never));
}

async function* chunksOf(reply: Reply, stream: RecordRules, scope: Scope): AsyncGenerator<Fields[]> {
  const { decode = 'json' } = stream;
  if (reply.input === undefined) yield* sliced(listed(reply.answer, stream, scope));
  else if (decode === 'raw') yield [{ content: await textIn(reply.input) }];
  else if (decode === 'jsonl') yield* lines(reply.input, reply.answer.url);
  else if (typeof decode === 'object' && decode.as === 'file') yield [{ file: reply.input }];
  else if (typeof decode === 'object' && decode.as === 'stream') yield* gathered(decode.read(reply.input, scope));
  else yield* rows(reply.input, typeof decode === 'object' ? decode : { as: 'csv' });
}

/**
 * The records of a parsed response.
 * @throws Problem if the path to the records is missing, because that doesn't mean an empty list.
 */
export function listed(
  answer: ServiceAnswer,
  stream: Pick<RecordRules, 'records' | 'absent' | 'decode'>,
  scope: Scope,
): Iterable<Fields> {
  const { records: at } = stream;
  if (typeof at === 'function') return at(answer, scope);
  if (typeof at === 'string' || Array.isArray(at)) return listAt(answer, at as ValuePath, stream).map(asFields);
  const shape = at as Exclude<RecordsAt, string | readonly string[] | ((...given: never[]) => unknown)>;
  if ('one' in shape) return [recordAt(answer, shape.one)];
  if ('zip' in shape) return zipped(answer, shape, stream);
  const table = valueAt(answer.body, shape.at);
  if (!Array.isArray(table)) throw noList(answer, shape.at);
  return underHeader(table);
}

/** The items of the list at a path. In XML, items that are nil are dropped. */
export function listAt(
  answer: ServiceAnswer,
  path: ValuePath,
  { absent, decode }: Pick<RecordRules, 'absent' | 'decode'> = {},
): unknown[] {
  const steps = stepsOf(path);
  const star = steps.indexOf('*');
  const list = valueAt(answer.body, star < 0 ? steps : steps.slice(0, star));
  if (list === null) throw noList(answer, path);
  if (list === undefined) {
    const isEmpty = absent !== undefined && isObject(answer.body) && valueAt(answer.body, absent) !== undefined;
    if (isEmpty) return [];
    throw noList(answer, path);
  }
  // In XML, a list with one item looks the same as the item.
  const isList = Array.isArray(list) || decode === 'xml' || (star >= 0 && isObject(list));
  if (!isList) throw noList(answer, path);
  const items = star < 0 ? [list].flat() : itemsIn(answer, path, { list, rest: steps.slice(star + 1) });
  // A record that can't be read must not be dropped.
  if (decode !== 'xml' && items.includes(null)) throw noList(answer, path, 'a list of records without null');
  return items.filter((item) => item !== null);
}

/** The values at the rest of the path in each item of the first list. Every item must have that path. */
function itemsIn(
  answer: ServiceAnswer,
  path: ValuePath,
  { list, rest }: { list: unknown; rest: readonly string[] },
): unknown[] {
  return valuesAt(list, ['*']).flatMap((item) => {
    const found = valuesAt(item, rest);
    if (found.length === 0 && !rest.includes('*')) throw noList(answer, path);
    return found.flat();
  });
}

function recordAt(answer: ServiceAnswer, path: ValuePath): Fields {
  const value = valueAt(answer.body, path);
  if (!isObject(value)) throw noList(answer, path, 'an object');
  return value;
}

function asFields(value: unknown): Fields {
  return isObject(value) ? value : { value };
}

function* zipped(
  answer: ServiceAnswer,
  shape: Extract<RecordsAt, { zip: unknown }>,
  stream: Pick<RecordRules, 'absent'>,
): Generator<Fields> {
  const groups = shape.zip.map(({ names, values }) => ({ names: valuesAt(answer.body, names).map(String), values }));
  for (const row of listAt(answer, shape.at, stream)) {
    const pairs = groups.flatMap(({ names, values }) => {
      const found = valuesAt(row, values);
      if (found.length !== names.length) throw noList(answer, values, `${names.length} values in each row`);
      return names.map((name, i) => [name, found[i]] as const);
    });
    yield Object.fromEntries(pairs);
  }
}

/** The first row contains the names. Missing and duplicate names get a number; short rows are padded. */
function* underHeader(table: readonly unknown[]): Generator<Fields> {
  const names = headerNames((table[0] as unknown[] | undefined) ?? []);
  for (const row of table.slice(1) as unknown[][]) {
    if (!Array.isArray(row) || row.length === 0) continue;
    yield Object.fromEntries(names.map((name, i) => [name, row[i] === '' ? null : row[i]]));
  }
}

function headerNames(header: readonly unknown[]): string[] {
  const names: string[] = [];
  for (const [i, cell] of header.entries()) {
    const plain = (textOf(cell) ?? '').trim() || `column${i + 1}`;
    let name = plain;
    for (let n = 2; names.includes(name); n++) name = `${plain}_${n}`;
    names.push(name);
  }
  return names;
}

function* sliced(records: Iterable<Fields>): Generator<Fields[]> {
  let chunk: Fields[] = [];
  for (const record of records) {
    if (chunk.push(record) < chunkRows) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

async function* gathered(records: AsyncIterable<Fields>): AsyncGenerator<Fields[]> {
  let chunk: Fields[] = [];
  for await (const record of records) {
    if (chunk.push(record) < chunkRows) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

async function textIn(input: RecordInput): Promise<string> {
  return Buffer.concat(await Array.fromAsync(input.open())).toString('utf8');
}

async function* lines(input: RecordInput, url: URL): AsyncGenerator<Fields[]> {
  const record = (text: string) => asFields(parsedLine(text, url));
  let rest = '';
  const decoder = new TextDecoder();
  for await (const piece of input.open()) {
    const texts = (rest + decoder.decode(piece, { stream: true })).split('\n');
    rest = texts.pop()!;
    yield* sliced(texts.filter((text) => text.trim() !== '').map(record));
  }
  if (rest.trim() !== '') yield [record(rest)];
}

function parsedLine(text: string, url: URL): unknown {
  try {
    return parseExact(text);
  } catch (error) {
    throw unreadable('The service', { url, text }, error);
  }
}

/** The rows of a CSV document as records of strings. */
async function* rows(input: RecordInput, decode: Exclude<Decoding, string>): AsyncGenerator<Fields[]> {
  const { drop_nul = false, ...options } = decode as Extract<Decoding, { as: 'csv' }>;
  if (await isBlank(input)) return;
  const text = drop_nul ? { ...input, open: () => withoutNul(input.open()) } : input;
  const { columns, batches } = await readRecords([text], { ...withDefaults(recordOptions, options), format: 'csv' });
  for await (const batch of batches) {
    yield Array.from({ length: batch.length }, (_unused, i) => {
      const r = storedRow(batch, i);
      return Object.fromEntries(columns.map(({ name }, c) => [name, cellText(batch.cells[c]!, 'text', r)]));
    });
  }
}

async function* withoutNul(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) yield piece.includes(0) ? piece.filter((byte) => byte !== 0) : piece;
}

async function isBlank(input: RecordInput): Promise<boolean> {
  for await (const piece of input.open()) if (piece.length > 0) return false;
  return true;
}
