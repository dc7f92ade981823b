/** The columns of all tables and views that the login may read, in the order that `catalogue.ts` expects. */

export const postgresCatalogue = `
select case when n.nspname = current_schema() then '' else n.nspname::text end as schema_name,
       c.relname::text as table_name,
       case when c.relkind in ('v', 'm') then 'view' else 'table' end as kind,
       a.attname::text as column_name,
       format_type(a.atttypid, a.atttypmod) as type,
       array_position(i.indkey::int2[], a.attnum) as key_position
from pg_catalog.pg_class c
join pg_catalog.pg_namespace n on n.oid = c.relnamespace
join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
left join pg_catalog.pg_index i on i.indrelid = c.oid and i.indisprimary
where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition
  and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_(toast|temp)'
  and has_schema_privilege(n.oid, 'usage') and has_column_privilege(c.oid, a.attnum, 'select')
order by n.nspname <> current_schema(), n.nspname, c.relname, a.attnum`;

export const mysqlCatalogue = `
select case when c.table_schema = database() then '' else c.table_schema end as schema_name,
       c.table_name as table_name,
       case when t.table_type like '%VIEW' then 'view' else 'table' end as kind,
       c.column_name as column_name,
       c.column_type as type,
       k.ordinal_position as key_position
from information_schema.columns c
join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
left join information_schema.key_column_usage k on k.constraint_name = 'PRIMARY'
  and k.table_schema = c.table_schema and k.table_name = c.table_name and k.column_name = c.column_name
where c.table_schema = coalesce(database(), c.table_schema)
  and c.table_schema not in ('information_schema', 'mysql', 'performance_schema', 'sys')
order by c.table_schema, c.table_name, c.ordinal_position`;

/** Hidden columns of virtual tables (1) aren't part of `select *`; generated ones (2, 3) are. */
export const sqliteCatalogue = `
select '' as schema_name, m.name as table_name, m.type as kind, i.name as column_name, i.type as type,
       nullif(i.pk, 0) as key_position
from sqlite_schema m, pragma_table_xinfo(m.name) i
where m.type in ('table', 'view') and m.name not like 'sqlite\\_%' escape '\\' and i.hidden <> 1
order by m.name, i.cid`;
