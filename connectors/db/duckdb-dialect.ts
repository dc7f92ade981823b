import type { Catalogue } from './catalogue-queries.ts';
import { type Dialect, doubleQuoted } from './dialect.ts';

/** Values are bound as text, and converted to exact types. */
export const duckdbDialect: Dialect = {
  quote: doubleQuoted,
  operand: ({ type, text }, before) => ({ sql: typedValue(type, text, `$${before.length + 1}`), parameters: [text] }),
  comparesRows: false,
  limit: (rows) => ({ last: ` limit ${rows}` }),
};

function typedValue(type: string, text: string, parameter: string): string {
  if (type === 'binary') return `from_base64(${parameter})`;
  if (type === 'decimal') return `cast(${parameter} as decimal(38, ${text.split('.')[1]?.length ?? 0}))`;
  // Only this type has nanoseconds, but it doesn't have all years.
  if (type === 'timestamp' && /\.\d{7}/.test(text)) return `cast(${parameter} as timestamp_ns)`;
  const name = types[type];
  return name === undefined ? parameter : `cast(${parameter} as ${name})`;
}

const types: Readonly<Record<string, string>> = {
  integer: 'hugeint',
  float: 'double',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamptz',
  uuid: 'uuid',
  text: 'varchar',
};

/** The tables of the database, and the views of Parquet files, which are in the database `temp`. */
const columns = `
select case when c.schema_name = 'main' then '' else c.schema_name end as schema_name,
       c.table_name as table_name,
       case when v.view_oid is null then 'table' else 'view' end as kind,
       c.column_name as column_name,
       c.data_type as type,
       list_position(k.constraint_column_names, c.column_name) as key_position
from duckdb_columns() c
left join duckdb_views() v on v.database_oid = c.database_oid and v.view_oid = c.table_oid
left join duckdb_constraints() k on k.database_oid = c.database_oid and k.table_oid = c.table_oid
  and k.constraint_type = 'PRIMARY KEY'
where not c.internal and c.database_name in (current_database(), 'temp')`;
const order = 'order by c.schema_name <> current_schema(), c.schema_name, c.table_name, c.column_index';

export const duckdbCatalogue: Catalogue = {
  all: () => `${columns}\n${order}`,
  one: (parts) => ({
    sql: `${columns}\n  and c.schema_name = ${parts.length === 1 ? "'main'" : '$1'} and lower(c.table_name) = lower($${parts.length})\n${order}`,
    parameters: parts,
  }),
};
