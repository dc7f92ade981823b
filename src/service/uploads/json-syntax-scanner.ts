import { invalid } from '../../formats/invalid.ts';
import type { Problem } from '../../lib/problem.ts';
import { ReplacedCharacters } from '../../lib/replaced-characters.ts';
import { JsonPaths } from '../../sdk/records/json-paths.ts';
import { JsonScanner } from '../../sdk/records/json-scanner.ts';

/** Maximum nesting depth. Deeper documents are rejected, because a recursive reader would overflow its stack. */
export const maxDepth = 1000;

/** Maximum number of cached row keys. Real data needs fewer keys, but nothing prevents a document from having more. */
const maxKeys = 1024;

/** Thrown if the rows have more different keys than can be cached. */
export class TooManyKeys extends Error {}

const nothing = { name: 'upload', open: () => [] as unknown as AsyncIterable<Uint8Array> };

/** A JSON scanner that creates no cells. It only checks the syntax, and reports the line and byte of an error. */
export class JsonSyntaxScanner extends JsonScanner {
  constructor() {
    const paths = new JsonPaths(0);
    paths.meet = () => {
      if (paths.all().length === maxKeys) throw new TooManyKeys();
    };
    super({ input: nothing, paths, replaced: new ReplacedCharacters(), isRead: false });
    this.begin(0, Number.POSITIVE_INFINITY);
  }

  /** Returns -1 if the bytes are incomplete; otherwise, throws an error. */
  refuse(pos: number, expected: string): -1 {
    return this.wrong(pos, expected);
  }

  override tooDeep(pos: number): Problem {
    return this.fault(pos, `more than ${maxDepth} open brackets`);
  }

  override fault(pos: number, what: string): Problem {
    return invalid('JSON', what, { line: this.lines + 1, byte: this.offset + pos });
  }

  protected override wrong(pos: number, expected: string): -1 {
    const byte = this.bytes[pos];
    if (byte === undefined) return -1;
    throw this.fault(pos, `expected ${expected}, found ${shown(byte)}`);
  }
}

function shown(byte: number): string {
  if (byte < 0x20 || byte === 0x7f) return 'a control character';
  return byte > 0x7f ? 'a character beyond ASCII' : String.fromCharCode(byte);
}
