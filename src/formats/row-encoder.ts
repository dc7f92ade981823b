import { Problem } from '../lib/problem.ts';
import { ReplacedCharacters } from '../lib/replaced-characters.ts';
import type { Batch, ByteCells, ValueCells } from '../sdk/batch.ts';
import type { Column } from '../sdk/column.ts';
import type { Constant } from './constant.ts';
import type { Encoder } from './format.ts';
import type { Output } from './output.ts';
import { type ColumnFrame, RowLoop } from './row-loop.ts';
import { ValueBuffer } from './value-buffer.ts';

/** Characters that writers replaced: the count since the last reset, and the location of the first one. */
export interface ReplacedBytes {
  count: number;
  from: Buffer | undefined;
  at: number;
  codePoint: number;
}

/** A format reduced to the constant bytes around its cells, compiled once per set of columns. */
export interface Framing {
  readonly columns: readonly Column[];
  readonly frames: readonly ColumnFrame[];
  /** Replaces `frames` for the first row only. */
  readonly firstFrames?: readonly ColumnFrame[];
  /** Matches a character that the format can't represent in a column name. Absent if the names aren't written. */
  readonly notInNames?: RegExp;
  /** The counter of the writers that replace characters. */
  readonly replaced?: ReplacedBytes;
  readonly begin: Constant;
  /** Written before the first row; `lead` is written before every other row. */
  readonly firstLead: Constant;
  readonly lead: Constant;
  /** After every row. */
  readonly tail: Constant;
  /** Written after the last row, or `endEmpty` if there are no rows. */
  readonly end: Constant;
  readonly endEmpty: Constant;
}

/**
 * Encodes batches with a framing. Byte cells are copied. Value cells are first converted to bytes, one column of a
 * batch at a time.
 */
export class RowEncoder implements Encoder {
  readonly replaced = new ReplacedCharacters();
  readonly #framing: Framing;
  readonly #staging: readonly ValueBuffer[];
  readonly #first: RowLoop;
  readonly #others: RowLoop;
  #rows = 0;

  constructor(framing: Framing) {
    this.#framing = framing;
    const { columns, notInNames, firstFrames, frames, firstLead, lead, tail } = framing;
    this.#first = new RowLoop(firstFrames ?? frames, { lead: firstLead, tail });
    this.#others = new RowLoop(frames, { lead, tail });
    for (const { name } of columns) {
      const codePoint = notInNames?.exec(name)?.[0].codePointAt(0);
      if (codePoint !== undefined) this.replaced.addName(name, codePoint);
    }
    this.#staging = columns.map(
      (column, c) => new ValueBuffer(column, { check: framing.frames[c]!.check, replaced: this.replaced }),
    );
  }

  begin(out: Output): void {
    out.bytes(this.#framing.begin.bytes);
  }

  batch(batch: Batch, out: Output): void {
    if (batch.length === 0) return;
    const cells = batch.cells.map((column, c) => (column.kind === 'bytes' ? column : this.#stage(batch, column, c)));
    const staged = batch.cells.map((column) => column.kind === 'values');
    const source = { cells, staged, rows: batch.rows };
    if (this.#framing.replaced !== undefined) this.#framing.replaced.count = 0;
    const from = this.#rows === 0 ? 1 : 0;
    if (from === 1) this.#first.write(source, out, { from: 0, to: 1 });
    this.#others.write(source, out, { from, to: batch.length });
    this.#countReplaced(batch, cells);
    this.#rows += batch.length;
  }

  end(out: Output): void {
    const { end, endEmpty } = this.#framing;
    out.bytes(this.#rows === 0 ? endEmpty.bytes : end.bytes);
  }

  #countReplaced(batch: Batch, cells: readonly ByteCells[]): void {
    const { replaced, columns } = this.#framing;
    if (replaced === undefined || replaced.count === 0) return;
    const { codePoint } = replaced;
    this.replaced.add(replaced.count, () => {
      const [c, i] = cellOfByte(batch, cells, replaced);
      return { codePoint, row: this.#rows + i + 1, column: columns[c]!.name };
    });
    replaced.count = 0;
  }

  #stage(batch: Batch, cells: ValueCells, c: number): ByteCells {
    try {
      return this.#staging[c]!.stage(batch, cells, this.#rows);
    } catch (thrown) {
      throw thrown instanceof Problem ? rowOfRun(thrown, this.#rows) : thrown;
    }
  }
}

/** Column and visible row (0-based) of the cell that contains a given byte. */
function cellOfByte(batch: Batch, cells: readonly ByteCells[], { from, at }: ReplacedBytes): [number, number] {
  for (const [c, { bytes, spans, stride, slot }] of cells.entries()) {
    const rows = batch.cells[c]!.kind === 'bytes' ? batch.rows : undefined;
    for (let i = 0; bytes === from && i < batch.length; i++) {
      const span = 2 * ((rows === undefined ? i : rows[i]!) * stride + slot);
      if (spans[span]! >= 0 && spans[span]! <= at && at < spans[span + 1]!) return [c, i];
    }
  }
  return [0, 0];
}

/**
 * Converts a problem's row number. The value buffer numbers the rows of a batch, but problems report rows of the run.
 */
function rowOfRun(problem: Problem, before: number): Problem {
  const { where } = problem;
  return problem.with({ where: { ...where, row: before + (where.row ?? 0) } });
}
