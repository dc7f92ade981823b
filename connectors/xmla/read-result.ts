import { type Fields, Problem, type RecordInput, type Scope, type XmlPart, xmlParts } from '#sdk';
import { CellTable } from './cells.ts';
import { brokeOff, noResult, refused, unreadable } from './problems.ts';
import { Rowset } from './rowset.ts';

/**
 * The parts of an Execute response. Metadata comes first and is followed by rows or cells. An error may occur at any
 * position.
 */
const names = ['schema', 'row', 'Axes', 'Cell', 'Fault', 'Messages'];

/** Reads a spooled result. Rows and cells are streamed; the schema and the axes are kept in memory. */
export async function* readResult(input: RecordInput, { layout }: Scope): AsyncGenerator<Fields> {
  let rowset: Rowset | undefined;
  let cells: CellTable | undefined;
  for await (const { name, value } of partsOf(input)) {
    if (name === 'Fault') throw refused(value);
    if (name === 'Messages') throw brokeOff(value);
    if (name === 'schema' && layout === 'tabular') rowset = new Rowset(value);
    if (name === 'row' && rowset !== undefined) yield rowset.record(value);
    if (name === 'Axes') cells = new CellTable([(value as { Axis?: unknown }).Axis ?? []].flat());
    if (name === 'Cell' && cells !== undefined) yield* cells.put(value);
  }
  if (rowset === undefined && cells === undefined) throw noResult();
  if (cells !== undefined) yield* cells.rest();
}

async function* partsOf(input: RecordInput): AsyncGenerator<XmlPart> {
  try {
    yield* xmlParts(input.open(), names);
  } catch (error) {
    throw error instanceof Problem ? error : unreadable(error);
  }
}
