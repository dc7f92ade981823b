import type { ByteCells } from '../sdk/batch.ts';
import type { CellWriter } from './cell-writer.ts';
import { mostGrowth, plain } from './cell-writer.ts';
import { mostReserved, type Output } from './output.ts';
import type { ColumnFrame } from './row-encoder.ts';

/** The cells of one batch, all of them bytes by now. */
export interface Source {
  readonly cells: readonly ByteCells[];
  /** Columns whose cells are numbered by visible row instead of stored row. */
  readonly staged: readonly boolean[];
  readonly rows: Int32Array | undefined;
}

/** Which visible rows to write, and the constants around them. */
export interface Stretch {
  readonly frames: readonly ColumnFrame[];
  readonly lead: Buffer;
  readonly tail: Buffer;
  readonly from: number;
  readonly to: number;
}

/** Room for the constants around a cell and the quotes that a writer adds. */
const slack = 32;

/**
 * The one row loop of all formats. Everything is in local arrays and the output in local variables, because this loop
 * runs once per cell and property loads would cost more than the copying does.
 */
export function writeRows({ cells, staged, rows }: Source, out: Output, stretch: Stretch): void {
  const { frames, lead, tail, from, to } = stretch;
  const count = frames.length;
  const writers: CellWriter[] = frames.map((frame, c) => (staged[c] ? frame.valueWriter : frame.writer));
  const plainly = writers.map((writer) => writer === plain);
  const befores = frames.map((frame) => frame.before);
  const afters = frames.map((frame) => frame.after);
  const around = frames.map((frame) => frame.before.length + frame.after.length + slack);
  const sources = cells.map((column) => column.bytes);
  const spans = cells.map((column) => column.spans);
  const strides = cells.map((column) => 2 * column.stride);
  const slots = cells.map((column) => 2 * column.slot);
  const perRow = lead.length + tail.length;
  let { buffer, position } = out;

  for (let i = from; i < to; i++) {
    if (position + perRow > buffer.length) {
      out.position = position;
      out.reserve(perRow);
      ({ buffer, position } = out);
    }
    for (let k = 0; k < lead.length; k++) buffer[position++] = lead[k]!;
    const stored = rows === undefined ? i : rows[i]!;
    for (let c = 0; c < count; c++) {
      const span = spans[c]!;
      const at = (staged[c]! ? i : stored) * strides[c]! + slots[c]!;
      let start = span[at]!;
      if (start < 0) {
        const { absent } = frames[c]!;
        if (position + absent.length > buffer.length) {
          out.position = position;
          out.bytes(absent);
          ({ buffer, position } = out);
        } else for (let k = 0; k < absent.length; k++) buffer[position++] = absent[k]!;
        continue;
      }
      const end = span[at + 1]!;
      const room = (end - start) * mostGrowth + around[c]!;
      if (position + room > buffer.length) {
        out.position = position;
        if (room > mostReserved) {
          out.bytes(befores[c]!);
          writers[c]!.large(out, sources[c]!, start, end);
          out.bytes(afters[c]!);
          ({ buffer, position } = out);
          continue;
        }
        out.reserve(room);
        ({ buffer, position } = out);
      }
      const before = befores[c]!;
      for (let k = 0; k < before.length; k++) buffer[position++] = before[k]!;
      const source = sources[c]!;
      if (plainly[c]! && end - start <= 64) while (start < end) buffer[position++] = source[start++]!;
      else position = writers[c]!.small(buffer, position, source, start, end);
      const after = afters[c]!;
      for (let k = 0; k < after.length; k++) buffer[position++] = after[k]!;
    }
    if (position + tail.length > buffer.length) {
      out.position = position;
      out.reserve(tail.length);
      ({ buffer, position } = out);
    }
    for (let k = 0; k < tail.length; k++) buffer[position++] = tail[k]!;
  }
  out.position = position;
}
