import type { Fields } from '#sdk';
import { partOf, partsOf, valueIn } from './tree.ts';

interface Column {
  /** The element's name in a row. */
  readonly element: string;
  readonly name: string;
  readonly type: string | undefined;
}

/** A tabular result: a schema, followed by the rows. Every row has all columns that the schema declares. */
export class Rowset {
  readonly #columns: readonly Column[];

  /** `schema` declares the columns in its type named "row". `sql:field` is a column's original name. */
  constructor(schema: unknown) {
    const types = partsOf(schema, 'complexType');
    const row = types.find((type) => partOf(type, '@name') === 'row');
    this.#columns = partsOf(partOf(row, 'sequence'), 'element').map(columnOf);
  }

  record(row: unknown): Fields {
    const pairs = this.#columns.map(({ element, name, type }) => [name, valueIn(partOf(row, element), type)] as const);
    return Object.fromEntries(pairs);
  }
}

function columnOf(element: unknown): Column {
  const name = String(partOf(element, '@name'));
  const field = partOf(element, '@field');
  const type = partOf(element, '@type');
  return {
    element: name,
    name: field === undefined ? decoded(name) : String(field),
    type: type === undefined ? undefined : String(type),
  };
}

/** `_x005B_` is the encoding of a character that isn't allowed in element names. */
function decoded(name: string): string {
  return name.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
