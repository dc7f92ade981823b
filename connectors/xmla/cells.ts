import type { Answer, Fields } from '#sdk';
import { noResult } from './rowset.ts';
import { partOf, partsOf, valueIn } from './tree.ts';

interface Member {
  readonly hierarchy: string;
  readonly caption: string;
}
type Tuple = readonly Member[];

/**
 * The cells of a result in the multidimensional layout, laid out flat: a row for each combination of tuples of the second
 * axis and those behind it, a column for each tuple of the first. Cells are numbered, the first axis changing fastest; those
 * that the server leaves out are empty.
 */
export function* recordsOfCells({ body }: Answer): Generator<Fields> {
  const root = partOf(body, 'Envelope', 'Body', 'ExecuteResponse', 'return', 'root');
  if (root === undefined) throw noResult();
  const axes = partsOf(partOf(root, 'Axes'), 'Axis').filter((axis) => partOf(axis, '@name') !== 'SlicerAxis');
  const [across = [[]], ...down] = axes.map(tuplesOf);
  const cells = cellsOf(root);
  const names = columnNames(across);
  let ordinal = 0;
  for (const tuples of combinations(down)) {
    const heads = tuples.flat().map(({ hierarchy, caption }) => [hierarchy, caption] as const);
    const values = names.map((name) => [name, cells.get(ordinal++) ?? null] as const);
    yield Object.fromEntries([...heads, ...values]);
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

function cellsOf(root: unknown): Map<number, unknown> {
  const cells = partsOf(partOf(root, 'CellData'), 'Cell');
  return new Map(cells.map((cell) => [Number(partOf(cell, '@CellOrdinal')), valueIn(partOf(cell, 'Value'))]));
}

/** Captions of a tuple, joined; a name that stands twice gets a number. Without a first axis there is one cell. */
function columnNames(across: readonly Tuple[]): string[] {
  const names: string[] = [];
  for (const [i, tuple] of across.entries()) {
    const plain = tuple.map(({ caption }) => caption).join(' / ') || 'value';
    names.push(names.includes(plain) ? `${plain}_${i + 1}` : plain);
  }
  return names;
}

/** All combinations, the first axis changing fastest. */
function* combinations(axes: readonly (readonly Tuple[])[]): Generator<readonly Tuple[]> {
  const [last, rest] = [axes.at(-1), axes.slice(0, -1)];
  if (last === undefined) return yield [];
  for (const tuple of last) for (const before of combinations(rest)) yield [...before, tuple];
}
