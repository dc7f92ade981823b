import { SaxesParser } from 'saxes';
import type { Problem } from '../lib/problem.ts';
import type { Checked, Checker } from './format.ts';
import { invalid } from './invalid.ts';
import { characterEnd } from './utf8.ts';
import { Utf8Gate } from './utf8-gate.ts';

/** Deeper documents are refused, so that what is remembered of open elements stays small. */
const deepest = 1000;
/**
 * The parser gets the document in parts of this size, because where it sees a fault depends on how it is fed: so the
 * answer depends on the document alone.
 */
const partBytes = 64 * 1024;

/**
 * What the parser collects of one tag, comment, reference or CDATA section may be this long. It drops running text, but
 * keeps these until they end, and a document may never end one.
 */
const longestToken = 16 * 1024 * 1024;
/** The members in which saxes 6 collects them; it has no public way to ask. */
const collected = ['text', 'name', 'entity', 'piTarget'] as const;

const readable = /^(utf-?8|us-ascii|ascii)$/i;

/**
 * Checks that a document is well-formed XML 1.0 in UTF-8. A document type declaration is refused: entities of a
 * document's own making can grow without bound or point outside, and data does not need them.
 */
export class XmlChecker implements Checker {
  readonly #parser = new SaxesParser({ position: true });
  readonly #gate = new Utf8Gate(
    (bytes) => this.#accept(bytes),
    () => this.#refusal(),
  );
  readonly #held = Buffer.allocUnsafeSlow(partBytes);
  #heldBytes = 0;
  #depth = 0;
  #records = 0;
  #visible = false;
  /** Bytes and characters that the parser got before the part at hand, and that part. */
  #byte = 0;
  #characters = 0;
  #part = '';

  constructor() {
    const parser = this.#parser;
    parser.on('error', (error) => {
      throw this.#invalid(sentence(error.message));
    });
    parser.on('doctype', () => {
      throw this.#invalid('a document type declaration, which is not accepted,');
    });
    parser.on('xmldecl', ({ version, encoding = 'UTF-8' }) => {
      if (!readable.test(encoding)) throw this.#invalid(`the encoding ${encoding}, where only UTF-8 is accepted,`);
      if (version !== '1.0') throw this.#invalid('an XML version other than 1.0');
    });
    parser.on('opentagstart', () => this.#open());
    parser.on('closetag', () => {
      this.#depth--;
    });
  }

  write(chunk: Uint8Array): void {
    this.#gate.write(chunk);
  }

  end(): Checked {
    this.#gate.end();
    if (!this.#visible) throw invalid('XML', 'the document is empty', { line: 1, byte: 0 });
    this.#parse(this.#heldBytes);
    this.#parser.close();
    return { records: this.#records };
  }

  #accept(bytes: Buffer): void {
    this.#visible ||= bytes.some((byte) => byte > 32);
    for (let start = 0; start < bytes.length; ) {
      const copied = bytes.copy(this.#held, this.#heldBytes, start);
      this.#heldBytes += copied;
      start += copied;
      if (this.#heldBytes === partBytes) this.#parse(characterEnd(this.#held, 0, partBytes - 3, partBytes));
    }
  }

  /** Feeds the first bytes of what is held and keeps the rest. */
  #parse(bytes: number): void {
    this.#part = this.#held.toString('utf8', 0, bytes);
    this.#parser.write(this.#part);
    this.#characters += this.#part.length;
    this.#byte += bytes;
    this.#part = '';
    this.#held.copyWithin(0, bytes, this.#heldBytes);
    this.#heldBytes -= bytes;
    if (collected.some((member) => String(Reflect.get(this.#parser, member)).length > longestToken)) {
      throw this.#invalid(`a tag, comment, reference or CDATA section of more than ${longestToken} characters`);
    }
  }

  #refusal(): Problem {
    this.#parse(this.#heldBytes);
    return invalid('XML', 'a byte that is not UTF-8', { line: this.#parser.line, byte: this.#byte });
  }

  #open(): void {
    this.#depth++;
    if (this.#depth === 2) this.#records++;
    if (this.#depth > deepest) throw this.#invalid(`more than ${deepest} open elements`);
  }

  #invalid(what: string): Problem {
    const { line, position } = this.#parser;
    const within = Math.max(0, position - this.#characters);
    return invalid('XML', what, { line, byte: this.#byte + Buffer.byteLength(this.#part.slice(0, within)) });
  }
}

/** The parser's message without its own position and full stop. */
function sentence(message: string): string {
  return message.replace(/^\d+:\d+: /, '').replace(/\.$/, '');
}
