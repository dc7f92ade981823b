import { SaxesParser } from 'saxes';
import { invalid } from '../../formats/invalid.ts';
import type { Problem } from '../../lib/problem.ts';
import { characterEnd } from '../../lib/utf8.ts';
import { maxDepth } from './xml-syntax.ts';

/**
 * Size of the parts in which the parser receives the document. The position that the parser reports for an error
 * depends on the parts. Because their size is fixed, the response depends only on the document.
 */
const partBytes = 64 * 1024;

/**
 * Maximum length of a tag, comment, reference or CDATA section. The parser discards text as it reads, but collects such
 * a token until it ends, and in some documents a token never ends.
 */
const maxTokenBytes = 16 * 1024 * 1024;
/** The members in which saxes 6 collects tokens. saxes has no public API for this. */
const collected = ['text', 'name', 'entity', 'piTarget'] as const;

const readable = /^(utf-?8|us-ascii|ascii)$/i;

/** The part of a document that the scanner has already accepted and that the parser doesn't parse again. */
export interface Before {
  readonly bytes: number;
  /** The line in which the rest of the document begins, counted from 1. */
  readonly line: number;
  readonly depth: number;
  readonly records: number;
  /** The start tags of all open elements. If the root element is already closed, an empty root element instead. */
  readonly tags: string;
}

/**
 * Parses a whole document, or the rest of a document from any point after the root's start tag. Throws the first error.
 */
export class XmlParser {
  readonly #parser = new SaxesParser({ position: true });
  readonly #held = Buffer.allocUnsafeSlow(partBytes);
  #heldBytes = 0;
  #depth = 0;
  #records = 0;
  /** Number of bytes that were parsed before the current part. */
  #byte = 0;
  /** Number of characters that were parsed before the current part. */
  #characters = 0;
  #part = '';

  constructor(before?: Before) {
    if (before !== undefined) this.#goOn(before);
    this.#listen();
  }

  /** Takes whole characters. */
  accept(bytes: Buffer): void {
    for (let start = 0; start < bytes.length; ) {
      const copied = bytes.copy(this.#held, this.#heldBytes, start);
      this.#heldBytes += copied;
      start += copied;
      if (this.#heldBytes === partBytes) this.#parse(characterEnd(this.#held, 0, partBytes - 3, partBytes));
    }
  }

  /** Ends the document. Returns the number of child elements of the root. */
  end(): number {
    this.#parse(this.#heldBytes);
    this.#parser.close();
    return this.#records;
  }

  /**
   * Returns an error whose position is just after the accepted bytes. If there is an earlier error, throws that error.
   */
  invalid(what: string): Problem {
    this.#parse(this.#heldBytes);
    return invalid('XML', what, { line: this.#parser.line, byte: this.#byte });
  }

  /** Puts the parser in the state that it would have if it had parsed the accepted part itself. */
  #goOn({ bytes, line, depth, records, tags }: Before): void {
    this.#parser.write(tags);
    this.#parser.line = line;
    this.#characters = tags.length;
    this.#byte = bytes;
    this.#depth = depth;
    this.#records = records;
  }

  #listen(): void {
    const parser = this.#parser;
    parser.on('error', (error) => {
      throw this.#at(sentence(error.message));
    });
    parser.on('doctype', () => {
      throw this.#at('a document type declaration, which is not accepted,');
    });
    parser.on('xmldecl', ({ version, encoding = 'UTF-8' }) => {
      if (!readable.test(encoding)) throw this.#at(`the encoding ${encoding}, but only UTF-8 is accepted,`);
      if (version !== '1.0') throw this.#at('an XML version other than 1.0');
    });
    parser.on('opentagstart', () => this.#open());
    parser.on('closetag', () => {
      this.#depth--;
    });
  }

  /** Parses this number of the held bytes and keeps the rest. */
  #parse(bytes: number): void {
    this.#part = this.#held.toString('utf8', 0, bytes);
    this.#parser.write(this.#part);
    this.#characters += this.#part.length;
    this.#byte += bytes;
    this.#part = '';
    this.#held.copyWithin(0, bytes, this.#heldBytes);
    this.#heldBytes -= bytes;
    if (collected.some((member) => String(Reflect.get(this.#parser, member)).length > maxTokenBytes)) {
      throw this.#at(`a tag, comment, reference or CDATA section with more than ${maxTokenBytes} characters`);
    }
  }

  #open(): void {
    this.#depth++;
    if (this.#depth === 2) this.#records++;
    if (this.#depth > maxDepth) throw this.#at(`more than ${maxDepth} open elements`);
  }

  #at(what: string): Problem {
    const { line, position } = this.#parser;
    const within = Math.max(0, position - this.#characters);
    return invalid('XML', what, { line, byte: this.#byte + Buffer.byteLength(this.#part.slice(0, within)) });
  }
}

/** Returns the parser's message without the position and the full stop. */
function sentence(message: string): string {
  return message.replace(/^\d+:\d+: /, '').replace(/\.$/, '');
}
