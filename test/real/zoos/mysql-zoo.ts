import { canonical, type Species } from './zoo.ts';

const of = (json: Species['json'], type: string, ...values: string[]): Species => ({ type, json, values });
const like = (form: keyof typeof canonical, type: string, ...values: string[]): Species => ({
  type,
  json: form === 'year' ? 'number' : 'text',
  values,
  canonical: canonical[form],
});
const bytes = (type: string, ...values: string[]): Species => ({ ...like('hex', type, ...values), told: 'hex({c})' });
const bits = (type: string, ...values: string[]): Species => ({
  ...of('number', type, ...values),
  told: 'cast({c} + 0 as char)',
});

const hostile = "'a\"b\\\\c,d;e\\n\\t<&>]]>é漢😀'";

/** Column types that MySQL 8 and MariaDB share. */
const common: readonly Species[] = [
  of('number', 'tinyint', '-128', '127', '0'),
  of('number', 'tinyint unsigned', '255', '0'),
  of('number', 'smallint', '-32768', '32767'),
  of('number', 'smallint unsigned', '65535'),
  of('number', 'mediumint', '-8388608', '8388607'),
  of('number', 'mediumint unsigned', '16777215'),
  of('number', 'int', '-2147483648', '2147483647'),
  of('number', 'int unsigned', '4294967295'),
  of('number', 'bigint', '-9223372036854775808', '9223372036854775807', '0'),
  of('number', 'bigint unsigned', '18446744073709551615', '0'),
  of('text', 'int(6) zerofill', '42', '0', '4294967295'),
  of('number', 'boolean', 'true', 'false'),
  of('number', 'decimal(65,30)', `-${'9'.repeat(35)}.${'9'.repeat(30)}`, '0', `0.${'0'.repeat(29)}1`),
  of('number', 'decimal(65,0)', '9'.repeat(65), '0'),
  of('number', 'decimal(5,2) unsigned', '999.99', '0'),
  of('number', 'float', '3.40282e38', '-0.1', '1e-37', '0', '16777216'),
  of('number', 'double', '1.7976931348623157e308', '2.2250738585072014e-308', '-0.1', '0.30000000000000004', '0'),
  of('number', 'double(10,3)', '-1234567.891', '0'),
  bits('bit(1)', "b'1'", "b'0'"),
  bits('bit(9)', "b'100000001'", "b'0'"),
  bits('bit(64)', `b'${'1'.repeat(64)}'`, "b'0'"),
  like('year', 'year', '2155', '1901', '0', '2024'),
  like('date', 'date', "'9999-12-31'", "'1000-01-01'", "'2024-02-29'", "'0000-00-00'", "'2024-00-15'", "'2024-01-00'"),
  of('text', 'time', "'838:59:59'", "'-838:59:59'", "'00:00:00'", "'-00:00:01'", "'25:00:00'"),
  of('text', 'time(6)', "'838:59:58.999999'", "'-00:00:00.000001'"),
  like(
    'datetime',
    'datetime',
    "'9999-12-31 23:59:59'",
    "'1000-01-01 00:00:00'",
    "'0000-00-00'",
    "'2024-00-15 01:02:03'",
  ),
  like('datetime', 'datetime(6)', "'9999-12-31 23:59:59.999999'", "'1000-01-01'", "'2024-02-29 12:34:56.000001'"),
  like('datetime', 'datetime(3)', "'2024-02-29 12:34:56.789'", "'2024-02-29'"),
  like('instant', 'timestamp null', "'1970-01-01 00:00:01'", "'2038-01-19 03:14:07'", '0', "'2024-03-31 02:30:00'"),
  like('instant', 'timestamp(6) null', "'2024-02-29 12:34:56.000001'", "'1970-01-01 00:00:01.5'"),
  of('text', 'char(5)', "'ab'", "''", "'ab   '"),
  of('text', 'varchar(20)', "'ab   '", "''", "'007'", "'null'", hostile),
  of('text', 'varchar(20) character set latin1', "'Müller'", "''"),
  of('text', 'varchar(20) character set utf16', "'漢😀'"),
  of('text', 'varchar(20) character set cp932', "'漢字'"),
  of('text', 'varchar(20) collate utf8mb4_bin', hostile),
  of('text', 'tinytext', hostile, "''"),
  of('text', 'text', hostile, "''"),
  of('text', 'mediumtext', "repeat('漢', 100000)"),
  of('text', 'longtext', "repeat('x', 300000)"),
  of('text', `enum('a','b"c','','漢')`, "'a'", `'b"c'`, "'漢'"),
  of('text', "set('x','y','z')", "'x,z'", "''", "'x,y,z'"),
  bytes('binary(4)', "x'00ff'", "x'0a220d5c'"),
  bytes('varbinary(10)', "x'00ff0000'", "x''"),
  bytes('tinyblob', "x'00'", "x''"),
  bytes('blob', "x'68692100'"),
  bytes('mediumblob', "repeat(x'00ff', 50000)"),
  bytes('longblob', "x'ff'"),
  bytes(
    'geometry',
    "st_geomfromtext('POINT(1 2)')",
    "st_geomfromtext('GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,1 1))')",
  ),
  bytes('point', "st_geomfromtext('POINT(1.5 -2)', 4326)"),
  bytes('polygon', "st_geomfromtext('POLYGON((0 0,1 0,1 1,0 0))')"),
  of('number', 'int generated always as (id * 2) virtual'),
  of('text', "varchar(10) generated always as (concat('row ', id)) stored"),
];

export const mysqlZoo: readonly Species[] = [
  ...common,
  of(
    'json',
    'json',
    `'{"b": 1.5, "a": [18446744073709551615, null, true], "t": "é😀\\\\n"}'`,
    "'null'",
    "'[]'",
    "'-0.0'",
    `'"x"'`,
  ),
  of('json', "json generated always as (json_object('id', id)) virtual"),
];

export const mariadbZoo: readonly Species[] = [
  ...common,
  of('json', 'json', `'{"n":  12345678901234567890123.10, "t": "\\\\u0000"}'`, "'null'", "'[]'", "'1e400'"),
  of('text', 'uuid', "'ABCDEF01-2345-6789-abcd-ef0123456789'", "'00000000-0000-0000-0000-000000000000'"),
  of('text', 'inet6', "'::1'", "'::ffff:192.0.2.1'", "'2001:db8::ff00:42:8329'"),
  of('text', 'inet4', "'0.0.0.0'", "'255.255.255.255'"),
  of('text', 'varchar(200) compressed', "'packed'", "''"),
];
