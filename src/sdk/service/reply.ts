import { createHash } from 'node:crypto';
import { excerptAt } from '../../lib/redact.ts';
import type { HttpResponse } from '../http/client.ts';
import type { PageSpool } from '../http/page-spool.ts';
import type { RecordInput } from '../records/input.ts';
import type { ServiceAnswer } from './answer.ts';
import type { Decoding } from './description.ts';
import { parseExact } from './exact-json.ts';
import { parseXml } from './xml-tree.ts';

/** A complete response: parsed if it's JSON or XML, or stored on disk if it's a table or a file. */
export interface Reply {
  readonly answer: ServiceAnswer;
  /** The file of a large response. */
  readonly input: RecordInput | undefined;
  /** A hash, to compare responses. */
  readonly digest: string;
  /** Why the body couldn't be parsed. */
  readonly fault: unknown;
}

/** Number of characters at the start of an error response that are shown and searched. */
const shownBytes = 64 * 1024;

interface ReadReplyOptions {
  readonly decode: Decoding;
  readonly spool: PageSpool;
  /** Maximum size of a response that is parsed in memory. */
  readonly maxBytes: number;
  readonly tooLarge: () => Error;
}

/** Reads a response to its end. */
export async function readReply(http: HttpResponse, init: ReadReplyOptions): Promise<Reply> {
  const { decode, spool } = init;
  const isStreamed = decode !== 'json' && decode !== 'xml' && http.status < 300;
  if (!isStreamed) return parsedReply(http, init);
  const { first, body } = await peeked(http.body);
  // Some services return errors with status 200, as JSON rather than as a table.
  if (isTable(decode) && /^\uFEFF?\s*\{/.test(first)) {
    return { ...(await parsedReply({ ...http, body }, init)), fault: 'JSON instead of a table' };
  }
  const { input, sha256 } = await spool.add(body);
  return { answer: { ...plain(http), body: undefined, text: '' }, input, digest: sha256, fault: undefined };
}

function isTable(decode: Decoding): boolean {
  return decode === 'csv' || (typeof decode === 'object' && decode.as === 'csv');
}

/** The first chunk of a body, and the whole body including that chunk. */
async function peeked(body: AsyncIterable<Buffer>): Promise<{ first: string; body: AsyncIterable<Buffer> }> {
  const pieces = body[Symbol.asyncIterator]();
  const first = await pieces.next();
  async function* whole(): AsyncGenerator<Buffer> {
    if (first.done === true) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => pieces };
  }
  return { first: first.done === true ? '' : first.value.subarray(0, 16).toString('utf8'), body: whole() };
}

type ResponseHead = Omit<HttpResponse, 'body'> & { readonly body: AsyncIterable<Buffer> };

async function parsedReply(http: ResponseHead, { decode, maxBytes, tooLarge }: ReadReplyOptions): Promise<Reply> {
  const isGood = http.status < 300;
  const bytes = await collect(http.body, isGood ? maxBytes : shownBytes, isGood ? tooLarge : undefined);
  const whole = bytes.toString('utf8').replace(/^\uFEFF/, '');
  // Only the beginning of an error response is read, so a secret at its end may have been cut off.
  const text = !isGood && bytes.length > shownBytes ? excerptAt(whole, 0, whole.length) : whole;
  const digest = createHash('sha256').update(bytes).digest('hex');
  const isXml = decode === 'xml' || (!isGood && text.trimStart().startsWith('<'));
  let body: unknown;
  let fault: unknown;
  try {
    body = text.trim() === '' ? undefined : isXml ? parseXml(text) : parseExact(text);
  } catch (error) {
    fault = error;
  }
  return { answer: { ...plain(http), body, text }, input: undefined, digest, fault };
}

function plain({
  url,
  status,
  headers,
}: Omit<HttpResponse, 'body'>): Pick<ServiceAnswer, 'url' | 'status' | 'headers'> {
  const flat = Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat().join(', ')] as const);
  return { url, status, headers: Object.fromEntries(flat) };
}

async function collect(body: AsyncIterable<Buffer>, maxBytes: number, tooLarge?: () => Error): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > maxBytes && tooLarge !== undefined) throw tooLarge();
    parts.push(part);
    if (size > maxBytes) break;
  }
  return Buffer.concat(parts);
}
