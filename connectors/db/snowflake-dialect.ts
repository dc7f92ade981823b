import type { Catalogue } from './catalogue-queries.ts';
import { type Dialect, doubleQuoted, hexOf } from './dialect.ts';

/** Numbers are literals. All other values are typed literals in hexadecimal, which can't break out of their quotes. */
export const snowflakeDialect: Dialect = {
  quote: doubleQuoted,
  operand: ({ type, text }) => ({ sql: literal(type, text), parameters: [] }),
  comparesRows: false,
  limit: (rows) => ({ last: ` limit ${rows}` }),
};

function literal(type: string, text: string): string {
  if (type === 'integer' || type === 'decimal') return text;
  if (type === 'binary') return `to_binary('${hexOf(text)}', 'hex')`;
  const value = textLiteral(text);
  const name = types[type];
  return name === undefined ? value : `cast(${value} as ${name})`;
}

const textLiteral = (text: string) => `hex_decode_string('${Buffer.from(text, 'utf8').toString('hex')}')`;

const types: Readonly<Record<string, string>> = {
  date: 'date',
  time: 'time(9)',
  timestamp: 'timestamp_ntz(9)',
  timestamptz: 'timestamp_tz(9)',
};

/** Keys aren't included, because Snowflake doesn't enforce them. https://docs.snowflake.com/en/sql-reference/info-schema/columns */
const columns = (database: string) => `
select case when c.table_schema = current_schema() then '' else c.table_schema end as schema_name,
       c.table_name as table_name,
       case when t.table_type like '%VIEW' then 'view' else 'table' end as kind,
       c.column_name as column_name,
       c.data_type as type,
       null as key_position
from ${database}information_schema.columns c
join ${database}information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
where c.table_schema <> 'INFORMATION_SCHEMA'`;
const order = `
order by case when c.table_schema = current_schema() then 0 else 1 end, c.table_schema, c.table_name, c.ordinal_position`;

export const snowflakeCatalogue: Catalogue = {
  all: () => `${columns('')}${order}`,
  one: (parts) => {
    const [table = '', schema, database] = parts.toReversed();
    const inSchema = schema === undefined ? 'current_schema()' : textLiteral(schema);
    const views = database === undefined ? '' : `${doubleQuoted(database)}.`;
    const sql = `${columns(views)} and c.table_schema = ${inSchema} and c.table_name = ${textLiteral(table)}${order}`;
    return { sql, parameters: [] };
  },
};
