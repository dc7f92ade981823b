import { isUtf8 } from 'node:buffer';
import {
  type Column,
  decodeText,
  excerpt,
  isUtf8Name,
  Problem,
  type RunWarning,
  replacementCharacter,
  strictDecoder,
} from '#sdk';
import type { CellRewrite, WireColumn } from './cells.ts';
import type { SourceValues } from './options.ts';

interface TextOptions {
  readonly encoding?: string | undefined;
  readonly bad_text: SourceValues['bad_text'];
}

const excerptLength = 80;

/** Whether the texts have another encoding than UTF-8, which is the default. */
export const hasOtherEncoding = ({ encoding = 'utf-8' }: Pick<TextOptions, 'encoding'>) => !isUtf8Name(encoding);

/** Whether a text may differ from the one in the database, so that the database can't compare the two. */
export const changesTexts = (source: TextOptions) => source.bad_text !== 'refuse' || hasOtherEncoding(source);

/**
 * Decodes the texts of one result, for a database that doesn't know their encoding. The option `bad_text` says what
 * happens to texts that aren't valid in the encoding.
 */
export class SourceTexts {
  readonly #encoding: string;
  readonly #badText: TextOptions['bad_text'];
  readonly #decode: (bytes: Buffer) => string | undefined;
  #changed = 0;
  #first: { readonly column: string; readonly seen: string } | undefined;

  constructor({ encoding = 'utf-8', bad_text }: TextOptions) {
    this.#encoding = encoding;
    this.#badText = bad_text;
    this.#decode = strictDecoder(encoding);
  }

  /** Whether a text may differ from the one in the database. */
  get changes(): boolean {
    return changesTexts({ encoding: this.#encoding, bad_text: this.#badText });
  }

  /**
   * The text of a cell. `finish` makes it the canonical text of the column's type; base64 already is. Throws a Problem
   * without the row.
   */
  read(bytes: Buffer, { name, type }: Column, finish: (text: string) => string = (text) => text): string {
    const text = this.#decode(bytes);
    if (text !== undefined) return finish(text);
    const legible = decodeText(bytes, this.#encoding);
    const seen = excerpt(legible, excerptLength);
    if (this.#badText === 'refuse') throw this.#refusal(name, seen);
    this.#changed += 1;
    this.#first ??= { column: name, seen };
    if (this.#badText === 'replace') return finish(legible);
    const base64 = bytes.toString('base64');
    return type === 'json' ? JSON.stringify(base64) : base64;
  }

  /** A column of a result in wire format, with its texts decoded. */
  decoded(wire: WireColumn): WireColumn {
    const { column, fix } = wire;
    if (column.name.includes(replacementCharacter)) throw badName(column.name);
    if (column.type !== 'text' && column.type !== 'json') return wire;
    return { column, fix: fix === undefined && !this.changes ? this.#checked(column) : this.#rewritten(column, fix) };
  }

  #checked(column: Column): CellRewrite {
    return {
      how: 'in place',
      fix: (bytes, spans, at) => {
        const cell = bytes.subarray(spans[at], spans[at + 1]);
        if (!isUtf8(cell)) this.read(cell, column);
      },
    };
  }

  #rewritten(column: Column, fix: CellRewrite | undefined): CellRewrite {
    const finish = (text: string) => {
      if (fix?.how !== 'rewrite') return text;
      const bytes = Buffer.from(text);
      return fix.text(bytes, 0, bytes.length);
    };
    return { how: 'rewrite', text: (bytes, start, end) => this.read(bytes.subarray(start, end), column, finish) };
  }

  /** The warning about the texts that were changed; undefined if there were none. */
  get warning(): RunWarning | undefined {
    if (this.#first === undefined) return undefined;
    const { column, seen } = this.#first;
    const isReplaced = this.#badText === 'replace';
    const what = this.#changed === 1 ? '1 text is' : `${this.#changed} texts are`;
    const became = isReplaced ? 'the invalid characters became U+FFFD' : 'the whole texts became base64';
    return {
      code: isReplaced ? 'CHARACTERS_REPLACED' : 'DB_BAD_TEXT',
      message: `${what} not valid ${this.#encoding}, so ${became}; the first one is in column ${JSON.stringify(column)}`,
      seen,
      next: 'set encoding to the encoding of the text, or correct the text in the database',
      replaced: true,
    };
  }

  #refusal(column: string, seen: string): Problem {
    return new Problem({
      code: 'DB_BAD_TEXT',
      family: 'row',
      message: `column ${JSON.stringify(column)} has a text that is not valid ${this.#encoding}`,
      where: { column },
      seen,
      next: 'set encoding in the source to the encoding of the text, such as windows-1252, or set bad_text: replace',
    });
  }
}

/**
 * The texts of a PostgreSQL database, by the encoding that its server reports; undefined if the server knows the
 * encoding, and so converts the texts itself. Throws a Problem if the options name an encoding all the same, because
 * texts that are converted twice are damaged.
 */
export function postgresTexts(source: TextOptions, serverEncoding: string): SourceTexts | undefined {
  if (serverEncoding === 'SQL_ASCII') return new SourceTexts(source);
  if (hasOtherEncoding(source)) throw encodingKnown(serverEncoding);
  return undefined;
}

function encodingKnown(encoding: string): Problem {
  return new Problem({
    code: 'DB_ENCODING_KNOWN',
    family: 'config',
    message: 'encoding does not apply to this database, because the server knows the encoding of its text',
    seen: encoding === '' ? 'the server does not report SQL_ASCII' : encoding,
    allowed: 'databases with the encoding SQL_ASCII',
    next: 'remove encoding from the source',
  });
}

/** The driver decodes names as UTF-8. */
function badName(name: string): Problem {
  return new Problem({
    code: 'DB_BAD_TEXT',
    family: 'job',
    message: 'the name of a column is not valid UTF-8',
    seen: excerpt(name, excerptLength),
    next: 'rename the column in the query: select … as other_name',
  });
}
