import { type Batch, type ByteCells, type Cells, type Column, type ColumnType, Problem } from '#sdk';

/**
 * How a column's bytes become canonical text.
 *
 * - `in place`: the canonical text isn't longer than the original. `fix` rewrites the text and moves `spans[at]` and
 * `spans[at + 1]`.
 * - `boolean`: the first byte says whether the value is true or false.
 * - `rewrite`: all other columns. The text is written to new bytes.
 */
export type CellRewrite =
  | { readonly how: 'in place'; readonly fix: (bytes: Buffer, spans: Int32Array, at: number) => void }
  | { readonly how: 'boolean'; readonly isTrue: BooleanReader }
  | { readonly how: 'rewrite'; readonly text: (bytes: Buffer, start: number, end: number) => string };

type BooleanReader = (bytes: Buffer, start: number, end: number) => boolean;

/** A server type's canonical type, and how its bytes become canonical text. */
export interface CellType {
  readonly type: ColumnType;
  readonly fix?: CellRewrite;
}

/** A column of the result, and how its bytes become canonical text. */
export interface WireColumn {
  readonly column: Column;
  readonly fix?: CellRewrite;
}

/** Rows in wire format: `length` rows of `width` cells each. `spans` has the positions of the cells in `bytes`. */
export interface WireRows {
  readonly bytes: Buffer;
  readonly spans: Int32Array;
  readonly length: number;
  /** Number of rows that precede these rows in the result. */
  readonly before: number;
}

/** Converts wire rows to a batch, column by column. Columns whose text is already canonical are left unchanged. */
export class BatchMaker {
  readonly columns: readonly Column[];
  readonly #wire: readonly WireColumn[];

  constructor(wire: readonly WireColumn[]) {
    this.#wire = wire;
    this.columns = wire.map(({ column }) => column);
  }

  make(rows: WireRows): Batch {
    const cells = this.#wire.map((wire, slot) => this.#cells(wire, slot, rows));
    return { columns: this.columns, cells, length: rows.length };
  }

  #cells({ fix }: WireColumn, slot: number, rows: WireRows): Cells {
    const stride = this.#wire.length;
    if (fix?.how === 'rewrite') return this.#rewritten(fix.text, slot, rows);
    if (fix?.how === 'boolean') return this.#booleans(fix.isTrue, slot, rows);
    if (fix?.how === 'in place') this.#rewrite(fix.fix, slot, rows);
    return { kind: 'bytes', bytes: rows.bytes, spans: rows.spans, stride, slot };
  }

  #booleans(isTrue: BooleanReader, slot: number, rows: WireRows): ByteCells {
    const { bytes, spans, length, before } = rows;
    const step = 2 * this.#wire.length;
    const own = new Int32Array(2 * length);
    let r = 0;
    try {
      for (let at = 2 * slot; r < length; r++, at += step) {
        const start = spans[at]!;
        const truth = start >= 0 && isTrue(bytes, start, spans[at + 1]!);
        own[2 * r] = start < 0 ? -1 : truth ? 0 : 4;
        own[2 * r + 1] = start < 0 ? 0 : truth ? 4 : 9;
      }
    } catch (thrown) {
      throw this.#placed(thrown, slot, before + r + 1);
    }
    return { kind: 'bytes', bytes: words, spans: own, stride: 1, slot: 0 };
  }

  #rewrite(fix: (bytes: Buffer, spans: Int32Array, at: number) => void, slot: number, rows: WireRows): void {
    const { bytes, spans, length } = rows;
    const step = 2 * this.#wire.length;
    let r = 0;
    try {
      for (let at = 2 * slot; r < length; r++, at += step) if (spans[at]! >= 0) fix(bytes, spans, at);
    } catch (thrown) {
      throw this.#placed(thrown, slot, rows.before + r + 1);
    }
  }

  #rewritten(text: (bytes: Buffer, start: number, end: number) => string, slot: number, rows: WireRows): ByteCells {
    const step = 2 * this.#wire.length;
    const own = new OwnBytes(rows.length);
    let r = 0;
    try {
      for (let at = 2 * slot; r < rows.length; r++, at += step) {
        const start = rows.spans[at]!;
        own.add(start < 0 ? null : text(rows.bytes, start, rows.spans[at + 1]!));
      }
    } catch (thrown) {
      throw this.#placed(thrown, slot, rows.before + r + 1);
    }
    return own.cells();
  }

  #placed(thrown: unknown, slot: number, row: number): unknown {
    return thrown instanceof Problem ? thrown.at({ row, column: this.columns[slot]!.name }) : thrown;
  }
}

/** The cells of a column whose text is written to new bytes. */
class OwnBytes {
  readonly #spans: Int32Array;
  #bytes: Buffer;
  #filled = 0;
  #rows = 0;

  constructor(rows: number) {
    this.#spans = new Int32Array(2 * rows);
    this.#bytes = Buffer.allocUnsafe(16 * rows);
  }

  add(text: string | null): void {
    const at = 2 * this.#rows++;
    this.#spans[at] = text === null ? -1 : this.#filled;
    if (text === null) return;
    const maxBytes = 3 * text.length;
    if (this.#filled + maxBytes > this.#bytes.length) this.#grow(this.#filled + maxBytes);
    this.#filled += this.#bytes.write(text, this.#filled, 'utf8');
    this.#spans[at + 1] = this.#filled;
  }

  #grow(minBytes: number): void {
    const larger = Buffer.allocUnsafe(Math.max(minBytes, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#filled);
    this.#bytes = larger;
  }

  cells(): ByteCells {
    return { kind: 'bytes', bytes: this.#bytes, spans: this.#spans, stride: 1, slot: 0 };
  }
}

/** All cells of a boolean column are slices of these nine bytes. */
const words = Buffer.from('truefalse');

/** Rejects duplicate column names, because a record can hold only one value per name. */
export function refuseDuplicates(columns: readonly Column[]): void {
  const seen = new Set<string>();
  for (const { name } of columns) {
    if (seen.has(name)) {
      throw new Problem({
        code: 'DB_DUPLICATE_COLUMN',
        family: 'job',
        message: `the result has two columns named ${JSON.stringify(name)}`,
        where: { column: name },
        next: 'rename one of them in the query: select … as other_name',
      });
    }
    seen.add(name);
  }
}
