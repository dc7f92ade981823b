import { isUtf8 } from 'node:buffer';
import { type Batch, type Column, excerpt, unescapeInPlace } from '#sdk';
import { brokenProtocol } from './broken-protocol.ts';
import { BatchMaker, refuseDuplicates, type WireColumn } from './cells.ts';
import { exceptionIn } from './clickhouse-problems.ts';
import { clickhouseType, withDenormals } from './clickhouse-types.ts';
import type { SourceTexts } from './source-texts.ts';

/** After an exception, a server may close the response as if it were complete. Only a complete result has this line. */
const endLine = '\u0001end\n';

/**
 * Rows as lines of JSON values between tabs, after a line of names and a line of types. JSON has no tab or line feed
 * inside a value. https://clickhouse.com/docs/interfaces/formats/CustomSeparated
 */
export const format = 'CustomSeparatedWithNamesAndTypes';

/** Settings with which values keep all digits, and times are in UTC. */
export const formatSettings: Readonly<Record<string, string>> = {
  format_custom_escaping_rule: 'JSON',
  format_custom_field_delimiter: '\t',
  format_custom_row_before_delimiter: '',
  format_custom_row_after_delimiter: '\n',
  format_custom_row_between_delimiter: '',
  format_custom_result_before_delimiter: '',
  format_custom_result_after_delimiter: endLine,
  output_format_json_quote_64bit_integers: '0',
  output_format_json_quote_64bit_floats: '0',
  output_format_json_quote_decimals: '0',
  output_format_json_quote_denormals: '1',
  output_format_json_escape_forward_slashes: '0',
  output_format_decimal_trailing_zeros: '1',
  date_time_output_format: 'iso',
};

const maxRows = 1024;
const maxCells = 128 * 1024;
const maxErrorBytes = 16 * 1024;

const tab = 9;
const feed = 10;
const quote = 34;
const backslash = 92;
/** The characters with which a JSON value other than a string begins. */
const isValueStart = new Uint8Array(256);
for (const character of '-0123456789tfn[{') isValueStart[character.charCodeAt(0)] = 1;

/** Reads the body of a response in {@link format}. */
export class ClickhouseRows {
  readonly #lines: AsyncGenerator<Buffer, void, void>;
  readonly #texts: SourceTexts;
  /** Complete lines that haven't been read. */
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #wire: readonly WireColumn[] = [];
  #columns: readonly Column[] = [];
  /** Whether the rows being read have values that need care: bytes that aren't UTF-8, or `nan` and `inf`. */
  #needsCare = false;
  #spans = new Int32Array(0);
  #before = 0;

  constructor(body: AsyncIterable<Buffer>, texts: SourceTexts) {
    this.#lines = wholeLines(body);
    this.#texts = texts;
  }

  /** Reads the names and types of the columns. */
  async open(): Promise<readonly Column[]> {
    const names = await this.#headLine();
    const types = await this.#headLine();
    this.#wire = names.map((name, c): WireColumn => {
      const { type, fix } = clickhouseType(types[c] ?? '', name);
      const column = { name, type };
      return fix === undefined ? { column } : { column, fix };
    });
    this.#columns = this.#wire.map(({ column }) => column);
    refuseDuplicates(this.#columns);
    return this.#columns;
  }

  /** The rows. Throws an exception of the server, a Problem, or the connection's error. */
  async *batches(): AsyncGenerator<Batch, void, void> {
    const width = this.#wire.length;
    const capacity = Math.max(16, Math.min(maxRows, Math.floor(maxCells / width)));
    this.#spans = new Int32Array(2 * width * capacity);
    const plain = new BatchMaker(this.#wire);
    const careful = new BatchMaker(this.#wire.map((wire) => this.#texts.decoded(withDenormals(wire))));
    for (;;) {
      if (this.#at === this.#bytes.length && !(await this.#more())) throw await this.#fault('');
      this.#needsCare = this.#texts.changes || !isUtf8(this.#bytes);
      while (this.#at < this.#bytes.length) {
        let length = 0;
        while (length < capacity && this.#at < this.#bytes.length && this.#bytes[this.#at] !== 1) {
          if (!this.#row(length)) throw await this.#fault(this.#bytes.toString('utf8', this.#at));
          length++;
        }
        if (length > 0) {
          const maker = this.#needsCare ? careful : plain;
          const rows = { bytes: this.#bytes, spans: this.#spans, length, before: this.#before };
          yield { ...maker.make(rows), columns: this.#columns };
          this.#before += length;
        }
        if (this.#bytes[this.#at] !== 1) continue;
        const rest = this.#bytes.toString('utf8', this.#at);
        if (rest !== endLine || (await this.#more())) throw await this.#fault(rest);
        return;
      }
    }
  }

  /** Reads the spans of a row's cells. Returns false if the line isn't a row. */
  #row(r: number): boolean {
    const bytes = this.#bytes;
    const { length } = bytes;
    const width = this.#wire.length;
    const spans = this.#spans;
    const columns = this.#columns;
    let i = this.#at;
    let s = 2 * width * r;
    for (let c = 0; c < width; c++) {
      let end = i + 1;
      if (bytes[i] === quote) {
        let isEscaped = false;
        for (; end < length && bytes[end] !== quote; end++) {
          if (bytes[end] !== backslash) continue;
          isEscaped = true;
          end++;
        }
        const { type } = columns[c]!;
        const isJson = type === 'json';
        spans[s++] = isJson ? i : i + 1;
        spans[s++] = isJson ? end + 1 : isEscaped ? unescapeInPlace(bytes, [i + 1, end], () => undefined) : end;
        if (type === 'float') this.#needsCare = true;
        end++;
      } else {
        if (isValueStart[bytes[i]!] !== 1) return false;
        while (end < length && bytes[end] !== tab && bytes[end] !== feed) end++;
        const isNull = bytes[i] === 110;
        spans[s++] = isNull ? -1 : i;
        spans[s++] = isNull ? -1 : end;
      }
      if (bytes[end] !== (c + 1 === width ? feed : tab)) return false;
      i = end + 1;
    }
    this.#at = i;
    return true;
  }

  /** Reads more complete lines. Returns false at the end of the response. */
  async #more(): Promise<boolean> {
    const next = await this.#lines.next();
    if (next.done) return false;
    this.#bytes = next.value;
    this.#at = 0;
    return true;
  }

  /** The texts in one of the first two lines. */
  async #headLine(): Promise<readonly string[]> {
    if (this.#at === this.#bytes.length && !(await this.#more())) throw await this.#fault('');
    const end = this.#bytes.indexOf(feed, this.#at) + 1;
    const line = this.#bytes.toString('utf8', this.#at, end === 0 ? this.#bytes.length : end);
    this.#at = end;
    try {
      return JSON.parse(`[${line.replaceAll('\t', ',')}]`) as readonly string[];
    } catch {
      throw await this.#fault(line);
    }
  }

  /** Why the result isn't complete: an exception of the server, the connection's error, or a Problem. */
  async #fault(seen: string): Promise<unknown> {
    let text = seen;
    try {
      for await (const bytes of this.#lines) {
        text += bytes.toString('utf8');
        if (text.length > maxErrorBytes) break;
      }
    } catch (thrown) {
      return exceptionIn(text) ?? thrown;
    }
    if (text === '') return new Error('the response ended before the result did');
    return exceptionIn(text) ?? brokenProtocol('a line that is not a row', excerpt(text, 80));
  }
}

/** The body in pieces that end with a line feed, but for what follows the last one. */
async function* wholeLines(body: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void, void> {
  let pieces: Buffer[] = [];
  try {
    for await (const chunk of body) {
      const end = chunk.lastIndexOf(feed) + 1;
      if (end > 0) {
        yield Buffer.concat([...pieces, chunk.subarray(0, end)]);
        pieces = [];
      }
      if (end < chunk.length) pieces.push(chunk.subarray(end));
    }
  } catch (thrown) {
    // The server may have written why it closes the connection.
    if (pieces.length > 0) yield Buffer.concat(pieces);
    throw thrown;
  }
  if (pieces.length > 0) yield Buffer.concat(pieces);
}
