import type { IncomingMessage, ServerResponse } from 'node:http';
import { maxDepth } from '../uploads/json-syntax-scanner.ts';
import { badRequest } from './api-error.ts';
import type { WriteConditions } from './etag.ts';
import { type BodyReadOptions, withStallTimeout } from './slow-client.ts';
import { refuseUnstorable } from './unstorable.ts';

const maxTextBytes = 1024 * 1024;

/** A request body that is read lazily. */
export class IncomingBody {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #reading: BodyReadOptions;

  constructor(request: IncomingMessage, response: ServerResponse, reading: BodyReadOptions) {
    this.#request = request;
    this.#response = response;
    this.#reading = reading;
  }

  /** The Content-Length that the client announced; undefined for a chunked body. */
  get announcedBytes(): number | undefined {
    const length = this.#request.headers['content-length'];
    return length === undefined ? undefined : Number(length);
  }

  /** The conditions under which the body may replace data. */
  get conditions(): WriteConditions {
    const { 'if-match': match, 'if-none-match': noneMatch } = this.#request.headers;
    return { match, noneMatch };
  }

  /**
   * Streams the body; can be called only once. A chunk is valid only until the next one is requested, so copy data to
   * keep it. Sends `100 Continue` now if the client waits for it; thus a client whose request was rejected earlier
   * never sends a body. Throws if the client disconnects or stalls.
   */
  async *chunks(): AsyncGenerator<Buffer, void> {
    const request = this.#request;
    const { idleMs, entry } = this.#reading;
    refuseCompressed(request.headers['content-encoding']);
    if (/100-continue/i.test(request.headers.expect ?? '')) this.#response.writeContinue();
    // Breaking out of the loop must not destroy the connection, which still carries the error response.
    const reader = request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
    try {
      for await (const piece of withStallTimeout(reader, idleMs)) {
        if (entry !== undefined) entry.bytes_in += piece.length;
        yield piece;
        release(piece);
      }
    } finally {
      // Some clients read the response only after they have sent the whole body, so read and discard the rest.
      const dropRest = (): void => void request.resume();
      reader.return?.().then(dropRest, dropRest);
    }
  }
}

/**
 * Frees a chunk's memory immediately. Otherwise, the chunks of a 10 MB document make the garbage collector scan the
 * whole heap, which takes longer than checking the document.
 */
function release({ buffer, byteLength }: Buffer): void {
  if (byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

function refuseCompressed(encoding = 'identity'): void {
  if (/^\s*(identity)?\s*$/i.test(encoding)) return;
  throw badRequest(`Content-Encoding ${encoding} is not supported; send the body uncompressed`);
}

/**
 * Reads the body as a JSON object. An empty body, `null` and `[]` count as an empty object, because some clients send
 * these to operations without fields. Throws an ApiError (400) for values that couldn't be stored as they are.
 */
export async function readJson(incoming: IncomingBody): Promise<Record<string, unknown>> {
  const text = await readText(incoming);
  if (text.trim() === '') return {};
  const value = parse(text);
  if (value === null || (Array.isArray(value) && value.length === 0)) return {};
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw badRequest('The body must be a JSON object');
  }
  return value as Record<string, unknown>;
}

/** Reads the body as UTF-8 text. At most one megabyte is accepted. */
export async function readText(incoming: IncomingBody): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of incoming.chunks()) {
    bytes += piece.length;
    if (bytes > maxTextBytes) throw badRequest(`The body is larger than ${maxTextBytes} bytes`);
    pieces.push(Buffer.from(piece));
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
  } catch {
    throw badRequest('The body is not valid UTF-8');
  }
}

function parse(text: string): unknown {
  // Deeper values would exceed the stack or not, depending on what the service did before.
  if (text.length > maxDepth && depthOf(text) > maxDepth) {
    throw badRequest(`The body has more than ${maxDepth} open brackets`);
  }
  const { json, value } = parseStrictly(text);
  refuseUnstorable(json);
  return value;
}

interface ParsedJson {
  /** The text as strict JSON. */
  readonly json: string;
  readonly value: unknown;
}

function parseStrictly(json: string): ParsedJson {
  try {
    return { json, value: JSON.parse(json) };
  } catch (thrown) {
    const lenient = parseLeniently(json);
    if (lenient === undefined) throw badRequest(`The body is not valid JSON: ${(thrown as Error).message}`);
    return lenient;
  }
}

/** Accepts strings in single quotes, which the vendor's examples for curl, and clients that are based on them, have. */
function parseLeniently(text: string): ParsedJson | undefined {
  if (!text.includes("'")) return undefined;
  const json = text.replaceAll(tokens, (all, inner?: string) => (inner === undefined ? all : quoted(inner)));
  try {
    return { json, value: JSON.parse(json) };
  } catch {
    return undefined;
  }
}

/** Puts the content of a string in single quotes into double quotes. */
function quoted(inner: string): string {
  return `"${inner.replaceAll(/\\.|"/gs, (mark) => (mark === '"' ? '\\"' : mark === "\\'" ? "'" : mark))}"`;
}

/**
 * A string in double or single quotes (whose content is the group), or a bracket. A string without an end reaches to the
 * end of the text, so the text is scanned only once.
 */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"?|'([^'\\]*(?:\\.[^'\\]*)*)'?|[[{\]}]/gs;

/** The largest number of brackets that are open at the same place. */
function depthOf(text: string): number {
  let open = 0;
  let depth = 0;
  for (const [token] of text.matchAll(tokens)) {
    if (token === '[' || token === '{') depth = Math.max(depth, ++open);
    else if (token === ']' || token === '}') open--;
  }
  return depth;
}
