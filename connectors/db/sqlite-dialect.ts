import type { Catalogue } from './catalogue-queries.ts';
import { type Dialect, doubleQuoted } from './dialect.ts';

/**
 * SQLite sorts by stored values, which may differ from the text in the rows. For example, `2026-01-31 10:00` has no T.
 */
export const sqliteDialect: Dialect = {
  quote: doubleQuoted,
  operand: ({ type, text }) =>
    type === 'integer' || type === 'decimal' ? { sql: text, parameters: [] } : { sql: '?', parameters: [text] },
  comparesRows: true,
  limit: (rows) => ({ last: ` limit ${rows}` }),
  stored: (column) => `cast(${column} as text)`,
};

/** `select *` excludes a virtual table's hidden columns (1) and includes generated columns (2 and 3). */
const columns = `
select '' as schema_name, m.name as table_name, m.type as kind, i.name as column_name, i.type as type,
       nullif(i.pk, 0) as key_position
from sqlite_schema m, pragma_table_xinfo(m.name) i
where m.type in ('table', 'view') and i.hidden <> 1`;
const order = 'order by m.name, i.cid';

export const sqliteCatalogue: Catalogue = {
  all: () => `${columns} and m.name not like 'sqlite\\_%' escape '\\'\n${order}`,
  one: (parts) => ({
    sql: `${columns} and m.name = ? collate nocase\n${order}`,
    parameters: [parts.at(-1)!],
  }),
};
