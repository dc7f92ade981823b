import type { SqlFragment } from './dialect.ts';
import { sqlserverDialect } from './dialects.ts';

/** Queries for the columns of tables and views, in the order that `catalogue.ts` expects. */
export interface Catalogue {
  /** All tables and views that the login may read. `database` is the one that the source names, or empty. */
  all(database: string): string;
  /**
   * The table that a statement finds by this name: its parts, and the name as it's written in a statement. May also
   * return tables whose names differ only in case.
   */
  one(parts: readonly string[], quoted: string, database: string): SqlFragment;
}

const postgresColumns = `
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
const postgresOrder = 'order by n.nspname <> current_schema(), n.nspname, c.relname, a.attnum';

export const postgresCatalogue: Catalogue = {
  all: () => `${postgresColumns} and not c.relispartition
  and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_(toast|temp)'
  and has_schema_privilege(n.oid, 'usage') and has_column_privilege(c.oid, a.attnum, 'select')
${postgresOrder}`,
  one: (_parts, quoted) => ({
    sql: `${postgresColumns} and c.oid = $1::regclass\n${postgresOrder}`,
    parameters: [quoted],
  }),
};

/** Unlike `key_column_usage`, `statistics` also shows the keys to a user that may only read the table. */
const mysqlColumns = `
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
const mysqlOrder = 'order by c.table_schema, c.table_name, c.ordinal_position';

export const mysqlCatalogue: Catalogue = {
  all: () => `${mysqlColumns}
where c.table_schema = coalesce(database(), c.table_schema)
  and c.table_schema not in ('information_schema', 'mysql', 'performance_schema', 'sys')
${mysqlOrder}`,
  one: (parts) => ({
    sql: `${mysqlColumns}
where c.table_schema = ${parts.length === 1 ? 'database()' : '?'} and c.table_name = ?
${mysqlOrder}`,
    parameters: parts,
  }),
};

/** `select *` excludes a virtual table's hidden columns (1) and includes generated columns (2 and 3). */
const sqliteColumns = `
select '' as schema_name, m.name as table_name, m.type as kind, i.name as column_name, i.type as type,
       nullif(i.pk, 0) as key_position
from sqlite_schema m, pragma_table_xinfo(m.name) i
where m.type in ('table', 'view') and i.hidden <> 1`;
const sqliteOrder = 'order by m.name, i.cid';

export const sqliteCatalogue: Catalogue = {
  all: () => `${sqliteColumns} and m.name not like 'sqlite\\_%' escape '\\'\n${sqliteOrder}`,
  one: (parts) => ({
    sql: `${sqliteColumns} and m.name = ? collate nocase\n${sqliteOrder}`,
    parameters: [parts.at(-1)!],
  }),
};

/**
 * `timestamp` is the old name of `rowversion`, which isn't a date or time. A partitioned index also lists the column that
 * determines the partition, with the ordinal 0. `from`: the quoted database with a dot; empty for the session's database.
 */
const sqlserverColumns = (from: string): string => `
select case when s.name = schema_name() then '' else s.name end as schema_name,
       o.name as table_name,
       case when o.type = 'V' then 'view' else 'table' end as kind,
       c.name as column_name,
       case when t.name in ('decimal', 'numeric') then concat(t.name, '(', c.precision, ',', c.scale, ')')
            when t.name in ('datetime2', 'datetimeoffset', 'time') then concat(t.name, '(', c.scale, ')')
            when t.name in ('char', 'varchar', 'binary', 'varbinary', 'nchar', 'nvarchar') then concat(t.name, '(',
              case when c.max_length = -1 then 'max'
                   when t.name in ('nchar', 'nvarchar') then cast(c.max_length / 2 as varchar(10))
                   else cast(c.max_length as varchar(10)) end, ')')
            when t.name = 'timestamp' then 'rowversion'
            else t.name end as type,
       cast(nullif(x.key_ordinal, 0) as int) as key_position
from ${from}sys.objects o
join ${from}sys.schemas s on s.schema_id = o.schema_id
join ${from}sys.columns c on c.object_id = o.object_id
join ${from}sys.types t on t.user_type_id = c.user_type_id
left join ${from}sys.indexes i on i.object_id = o.object_id and i.is_primary_key = 1
left join ${from}sys.index_columns x on x.object_id = o.object_id and x.index_id = i.index_id and x.column_id = c.column_id
where o.type in ('U', 'V')`;
const sqlserverOrder = 'order by case when s.name = schema_name() then 0 else 1 end, s.name, o.name, c.column_id';

export const sqlserverCatalogue: Catalogue = {
  all: () => `${sqlserverColumns('')} and o.is_ms_shipped = 0
  and has_perms_by_name(concat(quotename(s.name), '.', quotename(o.name)), 'OBJECT', 'SELECT', c.name, 'COLUMN') = 1
${sqlserverOrder}`,
  one(parts, quoted) {
    const [database = ''] = parts;
    // Each database numbers its own objects.
    const columns = sqlserverColumns(parts.length < 3 ? '' : `${sqlserverDialect.quote(database)}.`);
    return { sql: `${columns} and o.object_id = object_id(@p1)\n${sqlserverOrder}`, parameters: [quoted] };
  },
};

/** A primary key of ClickHouse isn't unique, so tables have none here. */
const clickhouseColumns = `
select if(c.database = currentDatabase(), '', c.database) as schema_name,
       c.table as table_name,
       if(t.engine like '%View', 'view', 'table') as kind,
       c.name as column_name,
       c.type as type,
       null as key_position
from system.columns c
join system.tables t on t.database = c.database and t.name = c.table`;
const clickhouseOrder = 'order by c.database <> currentDatabase(), c.database, c.table, c.position';

export const clickhouseCatalogue: Catalogue = {
  all: () => `${clickhouseColumns}
where lower(c.database) not in ('system', 'information_schema')
${clickhouseOrder}`,
  one: (parts) => ({
    sql: `${clickhouseColumns}
where c.database = ${parts.length === 1 ? 'currentDatabase()' : '{p1:String}'} and c.table = {p${parts.length}:String}
${clickhouseOrder}`,
    parameters: parts,
  }),
};
