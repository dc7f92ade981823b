import type { Fields } from '#sdk';
import { disordered } from './problems.ts';
import { partOf, partsOf, valueIn } from './tree.ts';

interface Member {
  readonly hierarchy: string;
  readonly caption: string;
}
type Tuple = readonly Member[];

/**
 * Flattens a multidimensional result: one column per tuple on the first axis, and one row per combination of tuples on
 * the other axes. Cells are numbered with the first axis changing fastest, and they arrive in this order. Omitted cells
 * are empty.
 */
export class CellTable {
  readonly #names: readonly string[];
  readonly #heads: Iterator<readonly Tuple[]>;
  #head: readonly Tuple[] | undefined;
  #values: unknown[] = [];
  /** Number of the current row's first cell. */
  #from = 0;

  constructor(axes: readonly unknown[]) {
    const tuples = axes.filter((axis) => partOf(axis, '@name') !== 'SlicerAxis').map(tuplesOf);
    this.#names = columnNames(tuples[0] ?? [[]]);
    this.#heads = combinations(tuples.slice(1));
    this.#advance();
  }

  /** Adds a cell, and returns the rows that are now complete. */
  *put(cell: unknown): Generator<Fields> {
    const ordinal = Number(partOf(cell, '@CellOrdinal'));
    if (!(ordinal >= this.#from)) throw disordered(ordinal);
    while (this.#head !== undefined && ordinal >= this.#from + this.#names.length) yield this.#row();
    this.#values[ordinal - this.#from] = valueIn(partOf(cell, 'Value'));
  }

  /** The rows after the last cell. */
  *rest(): Generator<Fields> {
    while (this.#head !== undefined) yield this.#row();
  }

  #row(): Fields {
    const heads = this.#head!.flat().map(({ hierarchy, caption }) => [hierarchy, caption] as const);
    const values = this.#names.map((name, i) => [name, this.#values[i] ?? null] as const);
    this.#values = [];
    this.#from += this.#names.length;
    this.#advance();
    return Object.fromEntries([...heads, ...values]);
  }

  #advance(): void {
    const step = this.#heads.next();
    this.#head = step.done === true ? undefined : step.value;
  }
}

function tuplesOf(axis: unknown): Tuple[] {
  return partsOf(partOf(axis, 'Tuples'), 'Tuple').map((tuple) =>
    partsOf(tuple, 'Member').map((member) => ({
      hierarchy: String(partOf(member, '@Hierarchy') ?? ''),
      caption: String(valueIn(partOf(member, 'Caption')) ?? valueIn(partOf(member, 'UName')) ?? ''),
    })),
  );
}

/**
 * The column names: each tuple's captions, joined. Numbers are appended to duplicate names. If there is no first axis,
 * there is one column.
 */
function columnNames(across: readonly Tuple[]): string[] {
  const names: string[] = [];
  for (const [i, tuple] of across.entries()) {
    const plain = tuple.map(({ caption }) => caption).join(' / ') || 'value';
    names.push(names.includes(plain) ? `${plain}_${i + 1}` : plain);
  }
  return names;
}

/** All combinations of tuples. The first axis changes fastest. */
function* combinations(axes: readonly (readonly Tuple[])[]): Generator<readonly Tuple[]> {
  const [last, rest] = [axes.at(-1), axes.slice(0, -1)];
  if (last === undefined) return yield [];
  for (const tuple of last) for (const before of combinations(rest)) yield [...before, tuple];
}
