import type { Dialect } from './dialect.ts';
import { engines } from './engines.ts';
import type { DriverName, QueryValues, SqlQuery } from './options.ts';

/** The query with its statement: the `sql` option, or a select from `table`. */
export function sqlQuery(query: QueryValues, dialect: Dialect): SqlQuery {
  const { sql, table = '', columns } = query;
  if (sql !== undefined) return { ...query, sql };
  const list = columns.length === 0 ? '*' : columns.map((name) => dialect.quote(name)).join(', ');
  return { ...query, sql: `select ${list} from ${quotedTable(table, dialect)}` };
}

/** The table's name as it's written in a statement. The dots between its parts can't be part of a name. */
export function quotedTable(table: string, dialect: Dialect): string {
  return table
    .split('.')
    .map((part) => dialect.quote(part))
    .join('.');
}

/** What's wrong with the options that determine the statement. The messages follow the options' names. */
export function tableFaults(
  { sql, table, columns, parameters }: QueryValues,
  driver: DriverName | undefined,
): { readonly option: string; readonly message: string }[] {
  if (table === undefined) {
    return [
      ...(sql === undefined ? [{ option: 'sql', message: 'is missing; set sql or table' }] : []),
      ...(sql?.trim() === ''
        ? [{ option: 'sql', message: 'is empty; set it to the statement that returns the rows' }]
        : []),
      ...(columns.length > 0 ? [{ option: 'columns', message: 'requires table; select the columns in sql' }] : []),
    ];
  }
  const parts = table.split('.');
  const example = engines[driver ?? 'sqlserver'].exampleTable;
  const maxParts = example.split('.').length;
  const repeated = columns.find((name, i) => columns.indexOf(name) < i);
  return [
    ...(sql === undefined ? [] : [{ option: 'table', message: 'cannot be combined with sql; remove one of the two' }]),
    ...(parts.some((part) => part.trim() === '') || parts.length > maxParts
      ? [{ option: 'table', message: `is not a table's name, such as orders or ${example}` }]
      : []),
    ...(parameters.length > 0 ? [{ option: 'parameters', message: 'requires sql; remove it' }] : []),
    ...(repeated === undefined ? [] : [{ option: 'columns', message: `lists ${JSON.stringify(repeated)} twice` }]),
  ];
}
