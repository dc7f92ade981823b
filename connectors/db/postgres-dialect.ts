import type { Catalogue } from './catalogue-queries.ts';
import { type Dialect, doubleQuoted, hexOf } from './dialect.ts';

/** Binds the value as text. The server converts the text to the column's type without loss. */
export const postgresDialect: Dialect = {
  quote: doubleQuoted,
  operand: ({ type, text }, before) => ({
    sql: `$${before.length + 1}`,
    parameters: [type === 'binary' ? `\\x${hexOf(text)}` : text],
  }),
  comparesRows: true,
  limit: (rows) => ({ last: ` limit ${rows}` }),
};

const columns = `
select case when n.nspname = current_schema() then '' else n.nspname::text end as schema_name,
       c.relname::text as table_name,
       case when c.relkind in ('v', 'm') then 'view' else 'table' end as kind,
       a.attname::text as column_name,
       format_type(a.atttypid, a.atttypmod) as type,
       array_position(k.conkey, a.attnum) as key_position
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
left join pg_catalog.pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
where c.relkind in ('r', 'p', 'v', 'm', 'f')`;
const order = 'order by n.nspname <> current_schema(), n.nspname, c.relname, a.attnum';

export const postgresCatalogue: Catalogue = {
  all: () => `${columns} and not c.relispartition
  and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_(toast|temp)'
  and has_schema_privilege(n.oid, 'usage') and has_column_privilege(c.oid, a.attnum, 'select')
${order}`,
  one: (_parts, quoted) => ({
    sql: `${columns} and c.oid = $1::regclass\n${order}`,
    parameters: [quoted],
  }),
};
