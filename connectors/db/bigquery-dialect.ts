import type { Catalogue } from './catalogue-queries.ts';
import { backtickQuoted, type Dialect } from './dialect.ts';

/** Values are bound as text, and converted to exact types. */
export const bigqueryDialect: Dialect = {
  quote: backtickQuoted,
  operand: ({ type, text }, before) => ({ sql: typedValue(type, `@p${before.length + 1}`), parameters: [text] }),
  comparesRows: false,
  limit: (rows) => ({ last: ` limit ${rows}` }),
};

function typedValue(type: string, parameter: string): string {
  if (type === 'binary') return `from_base64(${parameter})`;
  const name = types[type];
  return name === undefined ? parameter : `cast(${parameter} as ${name})`;
}

const types: Readonly<Record<string, string>> = {
  integer: 'int64',
  decimal: 'bignumeric',
  date: 'date',
  time: 'time',
  timestamp: 'datetime',
  timestamptz: 'timestamp',
};

/**
 * The views of one dataset: quoted names, each followed by a dot. Keys aren't included, because BigQuery doesn't enforce
 * them. https://cloud.google.com/bigquery/docs/information-schema-columns
 */
const columnsOf = (dataset: string) => `
select '' as schema_name,
       c.table_name as table_name,
       case when t.table_type like '%VIEW' then 'view' else 'table' end as kind,
       c.column_name as column_name,
       c.data_type as type,
       cast(null as int64) as key_position
from ${dataset}INFORMATION_SCHEMA.COLUMNS c
join ${dataset}INFORMATION_SCHEMA.TABLES t on t.table_name = c.table_name
where c.is_hidden = 'NO'`;
const order = 'order by c.table_name, c.ordinal_position';

export const bigqueryCatalogue: Catalogue = {
  all: (database) => `${columnsOf(`${backtickQuoted(database)}.`)}\n${order}`,
  one: (parts, _quoted, database) => {
    const dataset = parts.length === 1 ? [database] : parts.slice(0, -1);
    const views = dataset.map((part) => `${backtickQuoted(part)}.`).join('');
    return { sql: `${columnsOf(views)} and c.table_name = @p1\n${order}`, parameters: [parts.at(-1)!] };
  },
};
