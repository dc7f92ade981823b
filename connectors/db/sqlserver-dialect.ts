import type { Catalogue } from './catalogue-queries.ts';
import { type Dialect, hexOf, stringLiteral } from './dialect.ts';

/** Text is bound as a parameter; all other values are literals. */
export const sqlserverDialect: Dialect = {
  quote: (name) => `[${name.replaceAll(']', ']]')}]`,
  operand({ type, text }, before, isUpper = false) {
    if (type === 'text') return { sql: `@p${before.length + 1}`, parameters: [text] };
    // Untyped, so that it's converted to the column's type: a datetime column stores .007 as .00666…, which is less than
    // a datetime2 of .007. The conversion may round, which is correct for lower bounds, but could exclude rows below an
    // upper bound.
    if (type === 'timestamp' && !isUpper) return { sql: stringLiteral(text), parameters: [] };
    return { sql: literal(type, text), parameters: [] };
  },
  comparesRows: false,
  limit: (rows) => ({ first: `top (${rows}) ` }),
};

function literal(type: string, text: string): string {
  if (type === 'integer' || type === 'decimal') return text;
  if (type === 'binary') return `0x${hexOf(text)}`;
  const words: Readonly<Record<string, string>> = { timestamp: 'datetime2(7)', timestamptz: 'datetimeoffset(7)' };
  const word = type === 'uuid' ? 'uniqueidentifier' : (words[type] ?? type);
  return `cast(${stringLiteral(text)} as ${word})`;
}

/**
 * `timestamp` is the old name of `rowversion`, which isn't a date or time. A partitioned index also lists the column that
 * determines the partition, with the ordinal 0. `from`: the quoted database with a dot; empty for the session's database.
 */
const columns = (from: string): string => `
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
const order = 'order by case when s.name = schema_name() then 0 else 1 end, s.name, o.name, c.column_id';

export const sqlserverCatalogue: Catalogue = {
  all: () => `${columns('')} and o.is_ms_shipped = 0
  and has_perms_by_name(concat(quotename(s.name), '.', quotename(o.name)), 'OBJECT', 'SELECT', c.name, 'COLUMN') = 1
${order}`,
  one(parts, quoted) {
    const [database = ''] = parts;
    // Each database numbers its own objects.
    const from = parts.length < 3 ? '' : `${sqlserverDialect.quote(database)}.`;
    return { sql: `${columns(from)} and o.object_id = object_id(@p1)\n${order}`, parameters: [quoted] };
  },
};
