import { type Answer, type Fields, Problem } from '#sdk';
import { partOf, partsOf, valueIn } from './tree.ts';

interface Column {
  /** The name of the element in a row. */
  readonly element: string;
  readonly name: string;
  readonly type: string | undefined;
}

/** The rows of a result in the tabular layout, with all columns that its schema declares. */
export function* recordsOfRows({ body }: Answer): Generator<Fields> {
  const root = partOf(body, 'Envelope', 'Body', 'ExecuteResponse', 'return', 'root');
  if (root === undefined) throw noResult();
  const columns = columnsOf(partOf(root, 'schema'));
  for (const row of partsOf(root, 'row')) {
    yield Object.fromEntries(columns.map(({ element, name, type }) => [name, valueIn(partOf(row, element), type)]));
  }
}

/** The columns stand in the schema as the type "row"; `sql:field` has the name that the server means. */
function columnsOf(schema: unknown): Column[] {
  const types = partsOf(schema, 'complexType');
  const row = types.find((type) => partOf(type, '@name') === 'row');
  return partsOf(partOf(row, 'sequence'), 'element').map((element) => {
    const name = String(partOf(element, '@name'));
    const field = partOf(element, '@field');
    const type = partOf(element, '@type');
    return {
      element: name,
      name: field === undefined ? decoded(name) : String(field),
      type: type === undefined ? undefined : String(type),
    };
  });
}

/** `_x005B_` stands for a character that no name of an element may hold. */
function decoded(name: string): string {
  return name.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

export function noResult(): Problem {
  return new Problem({
    code: 'XMLA_NO_RESULT',
    family: 'job',
    message: 'the server answers without a result',
    next: 'look whether the statement is one that returns something, and whether the address is that of XMLA',
  });
}
