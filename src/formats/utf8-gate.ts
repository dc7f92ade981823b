import { isUtf8 } from 'node:buffer';
import { characterLength, validPrefix, wholeEnd } from '../lib/utf8.ts';

/** Receives complete characters of valid UTF-8. */
type Accept = (valid: Buffer) => void;

const nothing = Buffer.alloc(0);

/**
 * Passes on valid UTF-8 in complete characters, no matter how the input is split. Passes on the characters before an
 * invalid byte before throwing, so that an earlier error in them is reported first.
 */
export class Utf8Gate {
  readonly #accept: Accept;
  readonly #refuse: () => Error;
  #carry: Buffer = nothing;

  /** `refuse` creates the error for an invalid byte. It's called after all bytes before that one were accepted. */
  constructor(accept: Accept, refuse: () => Error) {
    this.#accept = accept;
    this.#refuse = refuse;
  }

  write(chunk: Uint8Array): void {
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.#carry.length > 0) bytes = this.#join(bytes);
    const end = wholeEnd(bytes);
    this.#pass(bytes.subarray(0, end));
    this.#carry = Buffer.from(bytes.subarray(end));
  }

  /** Throws if the document ends in the middle of a character. */
  end(): void {
    if (this.#carry.length > 0) throw this.#refuse();
  }

  /**
   * Completes the character that the previous chunk began and passes it on. Returns the bytes that haven't been passed
   * on.
   */
  #join(chunk: Buffer): Buffer {
    const missing = characterLength(this.#carry[0]!) - this.#carry.length;
    const first = Buffer.concat([this.#carry, chunk.subarray(0, missing)]);
    this.#carry = nothing;
    if (chunk.length < missing) return first;
    this.#pass(first);
    return chunk.subarray(missing);
  }

  #pass(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (isUtf8(bytes)) {
      this.#accept(bytes);
      return;
    }
    const good = validPrefix(bytes);
    if (good > 0) this.#accept(bytes.subarray(0, good));
    throw this.#refuse();
  }
}
