import type { Catalogue } from './catalogue-queries.ts';
import { type Dialect, hexOf } from './dialect.ts';

/**
 * Numbers become exact literals. Text and times become typed literals in hexadecimal, which can't break out of their
 * quotes.
 */
export const mysqlDialect: Dialect = {
  quote: (name) => `\`${name.replaceAll('`', '``')}\``,
  operand: ({ type, text }) => ({ sql: literal(type, text), parameters: [] }),
  comparesRows: false,
  limit: (rows) => ({ last: ` limit ${rows}` }),
};

function literal(type: string, text: string): string {
  if (type === 'integer' || type === 'decimal') return text;
  if (type === 'binary') return `x'${hexOf(text)}'`;
  const hex = `_utf8mb4 x'${Buffer.from(isTime(type) ? wallClock(text) : text, 'utf8').toString('hex')}'`;
  if (type === 'date') return `cast(${hex} as date)`;
  return isTime(type) ? `cast(${hex} as datetime(6))` : hex;
}

const isTime = (type: string) => type === 'timestamp' || type === 'timestamptz';

/** The session's time zone is UTC, so literals have no zone. */
const wallClock = (text: string) => text.replace('T', ' ').replace(/Z$/, '');

/** Unlike `key_column_usage`, `statistics` also shows the keys to a user that may only read the table. */
const columns = `
select case when c.table_schema = database() then '' else c.table_schema end as schema_name,
       c.table_name as table_name,
       case when t.table_type like '%VIEW' then 'view' else 'table' end as kind,
       c.column_name as column_name,
       c.column_type as type,
       k.seq_in_index as key_position
from information_schema.columns c
join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
left join information_schema.statistics k on k.index_name = 'PRIMARY'
  and k.table_schema = c.table_schema and k.table_name = c.table_name and k.column_name = c.column_name`;
const order = 'order by c.table_schema, c.table_name, c.ordinal_position';

export const mysqlCatalogue: Catalogue = {
  all: () => `${columns}
where c.table_schema = coalesce(database(), c.table_schema)
  and c.table_schema not in ('information_schema', 'mysql', 'performance_schema', 'sys')
${order}`,
  one: (parts) => ({
    sql: `${columns}
where c.table_schema = ${parts.length === 1 ? 'database()' : '?'} and c.table_name = ?
${order}`,
    parameters: parts,
  }),
};
