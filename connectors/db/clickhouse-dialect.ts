import type { Catalogue } from './catalogue-queries.ts';
import { backtickQuoted, type Dialect } from './dialect.ts';

/** Values are bound as text, and converted to exact types: a literal with many digits would become a float. */
export const clickhouseDialect: Dialect = {
  quote: backtickQuoted,
  operand: ({ type, text }, before) => ({
    sql: typedValue(type, text, `{p${before.length + 1}:String}`),
    parameters: [text],
  }),
  comparesRows: true,
  limit: (rows) => ({ last: ` limit ${rows}` }),
};

function typedValue(type: string, text: string, parameter: string): string {
  if (type === 'integer') return `toInt256(${parameter})`;
  if (type === 'decimal') return `toDecimal256(${parameter}, ${text.split('.')[1]?.length ?? 0})`;
  if (type === 'uuid') return `toUUID(${parameter})`;
  if (type === 'date') return `toDate32(${parameter})`;
  const isTime = type === 'timestamp' || type === 'timestamptz';
  return isTime ? `parseDateTime64BestEffort(${parameter}, 9, 'UTC')` : parameter;
}

/** A primary key of ClickHouse isn't unique, so tables have none here. */
const columns = `
select if(c.database = currentDatabase(), '', c.database) as schema_name,
       c.table as table_name,
       if(t.engine like '%View', 'view', 'table') as kind,
       c.name as column_name,
       c.type as type,
       null as key_position
from system.columns c
join system.tables t on t.database = c.database and t.name = c.table`;
const order = 'order by c.database <> currentDatabase(), c.database, c.table, c.position';

export const clickhouseCatalogue: Catalogue = {
  all: () => `${columns}
where lower(c.database) not in ('system', 'information_schema')
${order}`,
  one: (parts) => ({
    sql: `${columns}
where c.database = ${parts.length === 1 ? 'currentDatabase()' : '{p1:String}'} and c.table = {p${parts.length}:String}
${order}`,
    parameters: parts,
  }),
};
