import { didYouMean } from '../../lib/nearest.ts';
import { Problem } from '../../lib/problem.ts';
import { type Batch, cellText, storedRow, type Value } from '../../sdk/batch.ts';
import type { Column } from '../../sdk/column.ts';
import { parsePath } from '../../sdk/places/path-syntax.ts';
import { isObject, parseExact, textOf } from '../../sdk/service/exact-json.ts';
import { valueAt } from '../../sdk/service/path.ts';
import { columnIndex, refuseTwice } from '../columns.ts';
import { RepeatedRows } from '../repeated-rows.ts';
import { shown } from '../show.ts';
import { defineTransform } from '../transform.ts';
import { jsonItems } from '../values/json-items.ts';

interface HeaderColumn {
  readonly column: string;
  readonly path?: string;
}

interface Options {
  readonly column: string;
  readonly columns?: Readonly<Record<string, string>>;
  readonly header_from?: 'first_item' | HeaderColumn;
  readonly empty?: 'keep' | 'drop';
}

type Given = string | Options;

/** The steps from an item to the values of the new columns. */
type Paths = readonly (readonly string[])[];

const pathsAllowed = "$ (the whole item), sku, price.amount, [0], ['a.b']";

/** Makes a row of each item of a list. */
export default defineTransform<Given>({
  id: 'explode',
  title: 'Explode',
  summary: 'Makes a row of each item of a list; the other columns repeat.',
  schema: {
    anyOf: [
      { type: 'string', minLength: 1 },
      {
        type: 'object',
        required: ['column'],
        additionalProperties: false,
        properties: {
          column: { type: 'string', minLength: 1, description: 'The column with the lists.' },
          columns: {
            type: 'object',
            minProperties: 1,
            additionalProperties: { type: 'string' },
            description:
              'A map from new column to the path of its value in an item, or to its name in the header. Default: the whole item, in a column with the name of the list.',
          },
          header_from: {
            anyOf: [
              { enum: ['first_item'] },
              {
                type: 'object',
                required: ['column'],
                additionalProperties: false,
                properties: { column: { type: 'string' }, path: { type: 'string' } },
              },
            ],
            description:
              'For items that are lists of cells: what names the cells. Either the first item, or a list in another column; `path` leads to the name if the items of that list are objects.',
          },
          empty: {
            enum: ['keep', 'drop'],
            default: 'keep',
            description:
              'What happens to a row with an empty list or null: it keeps one row with nulls, or is dropped.',
          },
        },
      },
    ],
    description:
      'A column whose cells are JSON lists, or such a column with options. The new columns have the type text and replace the column.',
    examples: [{ column: 'lines', columns: { sku: 'sku', qty: 'quantity' } }],
  },
  check(given) {
    const { columns = {}, header_from: header } = optionsOf(given);
    if (header !== undefined && Object.keys(columns).length === 0) return ['`header_from` requires `columns`'];
    const paths = header === undefined ? Object.values(columns) : [];
    if (typeof header === 'object' && header.path !== undefined) paths.push(header.path);
    return paths.flatMap((path) => (stepsOf(path) === undefined ? [`"${path}" must be a path: ${pathsAllowed}`] : []));
  },
  prepare(given, columns) {
    const { column, columns: wanted = { [column]: '$' }, empty = 'keep', header_from: header } = optionsOf(given);
    const list = columnIndex(columns, column);
    const added = Object.keys(wanted).map((name): Column => ({ name, type: 'text' }));
    const after = columns.toSpliced(list, 1, ...added);
    refuseTwice(
      after.map(({ name }) => name),
      (name) => `explode would create the column "${name}" twice`,
    );
    const sources = columns.map((_, c) => c).toSpliced(list, 1, ...added.map(() => -1));
    const reader = new ListReader(columns, list, { wanted: Object.values(wanted), header });
    return {
      columns: after,
      *expand(batch, before = 0) {
        const rows = new RepeatedRows({ batch, columns: after, sources });
        for (let i = 0; i < batch.length; i++) {
          const stored = storedRow(batch, i);
          let isEmpty = true;
          for (const values of reader.rows(batch, stored, before + stored + 1)) {
            isEmpty = false;
            rows.add(stored, values);
            if (rows.isFull) yield* rows.release();
          }
          if (isEmpty && empty === 'keep') rows.add(stored, []);
        }
        yield* rows.release();
      },
    };
  },
});

function optionsOf(given: Given): Options {
  return typeof given === 'string' ? { column: given } : given;
}

/** The steps of a path that leads to one value; undefined if the text isn't such a path. */
function stepsOf(path: string): readonly string[] | undefined {
  try {
    const steps = parsePath(path);
    const isPlain = (step: unknown): step is string => typeof step === 'string' && step !== '*';
    return steps.every(isPlain) ? steps : undefined;
  } catch (thrown) {
    if (thrown instanceof Problem) return undefined;
    throw thrown;
  }
}

/** Reads the lists of a column. */
class ListReader {
  readonly #columns: readonly Column[];
  readonly #list: number;
  readonly #wanted: readonly string[];
  /** Undefined if a header determines the paths. */
  readonly #paths: Paths | undefined;
  /** The column with the header; undefined if it's the first item. */
  readonly #header: number | undefined;
  readonly #headerPath: readonly string[] = [];

  constructor(
    columns: readonly Column[],
    list: number,
    { wanted, header }: { readonly wanted: readonly string[]; readonly header: Options['header_from'] },
  ) {
    this.#columns = columns;
    this.#list = list;
    this.#wanted = wanted;
    if (header === undefined) this.#paths = wanted.map((path) => stepsOf(path)!);
    if (typeof header !== 'object') return;
    this.#header = columnIndex(columns, header.column);
    this.#headerPath = stepsOf(header.path ?? '$')!;
  }

  /** Yields the values of each item of the list in a stored row; `row` is its number in the run. */
  *rows(batch: Batch, stored: number, row: number): Generator<Value[]> {
    let paths = this.#paths;
    let number = 0;
    for (const item of this.#items(batch, stored, row, this.#list)) {
      number++;
      if (paths === undefined) {
        paths = this.#pathsBy(this.#header === undefined ? item : this.#headerOf(batch, stored, row), row);
        if (this.#header === undefined) continue;
      }
      if (item !== null && !isContainer(item) && paths.every((steps) => steps.length > 0))
        throw this.#notContainer(number, item, row);
      yield paths.map((steps) => textOf(valueAt(item, steps)) ?? null);
    }
  }

  *#items(batch: Batch, stored: number, row: number, index: number): Generator<unknown> {
    const text = cellText(batch.cells[index]!, this.#columns[index]!.type, stored);
    if (text === null || text === 'null') return;
    try {
      for (const item of jsonItems(text)) yield parseExact(item);
    } catch (thrown) {
      throw thrown instanceof SyntaxError ? notList(this.#columns[index]!.name, text, row) : thrown;
    }
  }

  /** The header in another column. */
  #headerOf(batch: Batch, stored: number, row: number): unknown[] {
    const names = [...this.#items(batch, stored, row, this.#header!)];
    return names.map((item) => valueAt(item, this.#headerPath));
  }

  #pathsBy(header: unknown, row: number): Paths {
    const names = Array.isArray(header) ? header.map((name) => textOf(name) ?? '') : [];
    return this.#wanted.map((name) => {
      const index = names.indexOf(name);
      if (index < 0 || names.includes(name, index + 1)) throw this.#badHeader(name, names, row);
      return [String(index)];
    });
  }

  #badHeader(name: string, names: readonly string[], row: number): Problem {
    const { name: column } = this.#columns[this.#header ?? this.#list]!;
    const fault = names.includes(name) ? 'contains the name twice' : "doesn't contain the name";
    return new Problem({
      code: 'EXPLODE_HEADER',
      family: 'row',
      message: `The header in column "${column}" ${fault}: ${shown(name)}`,
      where: { row, column },
      seen: shown(names.join(', ')),
      next: didYouMean(name, names) ?? 'check `columns` and `header_from`',
    });
  }

  #notContainer(number: number, item: unknown, row: number): Problem {
    const column = this.#columns[this.#list]!.name;
    return new Problem({
      code: 'EXPLODE_ITEM',
      family: 'row',
      message: `Item ${number} of the list in column "${column}" isn't an object or a list`,
      where: { row, column },
      seen: shown(textOf(item) ?? 'null'),
      next: `to get the item itself, use the path $: columns: { ${column}: $ }`,
    });
  }
}

const isContainer = (item: unknown): boolean => Array.isArray(item) || isObject(item);

function notList(column: string, text: string, row: number): Problem {
  return new Problem({
    code: 'EXPLODE_NOT_LIST',
    family: 'row',
    message: `A value in column "${column}" isn't a JSON list`,
    where: { row, column },
    seen: shown(text),
    next: 'choose a column with lists, such as [1, 2]; nulls and empty lists are allowed',
  });
}
