/**
 * One column of the test table: its name and SQL type, the kind of JSON value that it must become, and the texts that
 * must arrive for the row of extremes and for the row of small values. In the third row, all values are null.
 */
export type Told = readonly [
  name: string,
  declared: string,
  kind: 'number' | 'text' | 'bare' | 'json',
  great: Pair,
  small: Pair,
];
/** An SQL expression, and the text that must arrive. */
type Pair = readonly [sql: string, text: string];

const hostile = 'a"b\'c,d;e|f\\g\nh\r\ni\tj <k>&amp;</row>]]> é漢😀 \u2028 \u0301';
/** Characters that XML 1.0 can't represent. In XML, they become {@link controlInXml}. */
export const control = 'x\u0001y\u001fz';
export const controlInXml = 'x\ufffdy\ufffdz';
const bigJson =
  '{"n": 12345678901234567890.12345678901234567890, "t": "</row>\\u0000\\"é😀", "a": [1, null, true, {}]}';
const decimal38 = '12345678901234567890123456789012345678';

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const backslashed = (text: string): string => quoted(text.replaceAll('\\', '\\\\'));

export const postgres: readonly Told[] = [
  ['i2', 'smallint', 'number', ['-32768', '-32768'], ['0', '0']],
  [
    'i8',
    'bigint',
    'number',
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
  ],
  ['dec38', 'numeric(38,0)', 'number', [decimal38, decimal38], ['0', '0']],
  [
    'scaled',
    'numeric',
    'number',
    ["'-0.00000000000000000000000000000000000001'", '-0.00000000000000000000000000000000000001'],
    ['1.50', '1.50'],
  ],
  ['nan', 'numeric', 'text', ["'NaN'", 'NaN'], ["'-Infinity'", '-Infinity']],
  ['f8', 'double precision', 'number', ['0.1::float8 + 0.2', '0.30000000000000004'], ["'-0'", '-0']],
  ['far', 'double precision', 'number', ['1.7976931348623157e308', '1.7976931348623157e+308'], ['5e-324', '5e-324']],
  ['fnan', 'real', 'text', ["'NaN'", 'NaN'], ["'Infinity'", 'Infinity']],
  ['flag', 'boolean', 'bare', ['true', 'true'], ['false', 'false']],
  ['größe', 'text', 'text', [quoted(hostile), hostile], ["''", '']],
  ['ctrl', 'text', 'text', [`e'x\\x01y\\x1fz'`, control], ["' '", ' ']],
  ['zeros', 'text', 'text', ["'007'", '007'], ["'null'", 'null']],
  ['fixed', 'char(3)', 'text', ["'a'", 'a  '], ["''", '   ']],
  ['day', 'date', 'text', ["'9999-12-31'", '9999-12-31'], ["'0001-01-01'", '0001-01-01']],
  ['clock', 'time', 'text', ["'23:59:59.999999'", '23:59:59.999999'], ["'00:00'", '00:00:00']],
  [
    'wall',
    'timestamp',
    'text',
    ["'2024-02-29 12:34:56.123456'", '2024-02-29T12:34:56.123456'],
    ["'1582-10-15'", '1582-10-15T00:00:00'],
  ],
  [
    'instant',
    'timestamptz',
    'text',
    ["'2024-02-29 12:34:56.000001+05:30'", '2024-02-29T07:04:56.000001Z'],
    ["'1970-01-01 00:00+00'", '1970-01-01T00:00:00Z'],
  ],
  ['doc', 'json', 'json', [backslashFree(bigJson), bigJson], ["'null'", 'null']],
  ['docb', 'jsonb', 'json', [`'{"a": 0.10, "b": "q\\"q"}'`, '{"a": 0.10, "b": "q\\"q"}'], ["'[]'", '[]']],
  ['ints', 'bigint[]', 'json', ["'{9223372036854775807,NULL,-1}'", '[9223372036854775807,null,-1]'], ["'{}'", '[]']],
  [
    'words',
    'text[]',
    'json',
    [`array['a,b', '"', '', null, e'\\n', '😀']`, '["a,b","\\"","",null,"\\n","😀"]'],
    ["'{{a},{b}}'", '[["a"],["b"]]'],
  ],
  [
    'id',
    'uuid',
    'text',
    ["'ABCDEF01-2345-6789-ABCD-EF0123456789'", 'abcdef01-2345-6789-abcd-ef0123456789'],
    ["'00000000-0000-0000-0000-000000000000'", '00000000-0000-0000-0000-000000000000'],
  ],
  ['raw', 'bytea', 'text', ["'\\x00ff0a22'", 'AP8KIg=='], ["''", '']],
  ['span', 'interval', 'text', ["'1 year 2 days 03:04:05.6'", 'P1Y2DT3H4M5.6S'], ["'0'", 'PT0S']],
];

export const mariadb: readonly Told[] = [
  ['i1', 'tinyint', 'number', ['-128', '-128'], ['0', '0']],
  [
    'i8',
    'bigint',
    'number',
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
  ],
  ['u8', 'bigint unsigned', 'number', ['18446744073709551615', '18446744073709551615'], ['0', '0']],
  ['dec38', 'decimal(38,0)', 'number', [decimal38, decimal38], ['0', '0']],
  [
    'scaled',
    'decimal(38,38)',
    'number',
    ['-0.00000000000000000000000000000000000001', '-0.00000000000000000000000000000000000001'],
    ['0', `0.${'0'.repeat(38)}`],
  ],
  ['f8', 'double', 'number', ['0.30000000000000004', '0.30000000000000004'], ['0', '0']],
  ['flag', 'boolean', 'number', ['true', '1'], ['false', '0']],
  ['bits', 'bit(64)', 'number', [`b'${'1'.repeat(64)}'`, '18446744073709551615'], ["b'0'", '0']],
  ['größe', 'text', 'text', [backslashed(hostile), hostile], ["''", '']],
  [
    'ctrl',
    'text',
    'text',
    [`concat('x', char(1 using utf8mb4), 'y', char(31 using utf8mb4), 'z')`, control],
    ["' '", ' '],
  ],
  ['zeros', 'varchar(10)', 'text', ["'007'", '007'], ["'null'", 'null']],
  ['latin', 'varchar(10) character set latin1', 'text', ["'Müller'", 'Müller'], ["''", '']],
  ['filled', 'int(6) zerofill', 'text', ['42', '000042'], ['0', '000000']],
  ['day', 'date', 'text', ["'9999-12-31'", '9999-12-31'], ["'1000-01-01'", '1000-01-01']],
  ['clock', 'time(6)', 'text', ["'838:59:58.999999'", '838:59:58.999999'], ["'-838:59:59'", '-838:59:59.000000']],
  [
    'wall',
    'datetime(6)',
    'text',
    ["'2024-02-29 12:34:56.123456'", '2024-02-29T12:34:56.123456'],
    ["'1000-01-01'", '1000-01-01T00:00:00.000000'],
  ],
  [
    'instant',
    'timestamp(6) null',
    'text',
    ["'2024-02-29 12:34:56.000001'", '2024-02-29T12:34:56.000001Z'],
    ["'1970-01-01 00:00:01'", '1970-01-01T00:00:01.000000Z'],
  ],
  ['doc', 'json', 'json', [backslashed(bigJson), bigJson], ["'null'", 'null']],
  [
    'id',
    'uuid',
    'text',
    ["'ABCDEF01-2345-6789-ABCD-EF0123456789'", 'abcdef01-2345-6789-abcd-ef0123456789'],
    ["'00000000-0000-0000-0000-000000000000'", '00000000-0000-0000-0000-000000000000'],
  ],
  ['raw', 'blob', 'text', ["x'00ff0a22'", 'AP8KIg=='], ["''", '']],
  ['chosen', "enum('a','b\"c')", 'text', [`'b"c'`, 'b"c'], ["'a'", 'a']],
];

export const sqlite: readonly Told[] = [
  [
    'i8',
    'bigint',
    'number',
    ['9223372036854775807', '9223372036854775807'],
    ['-9223372036854775808', '-9223372036854775808'],
  ],
  ['scaled', 'decimal(12,2)', 'number', ["'-1.5'", '-1.5'], ['0', '0']],
  ['f8', 'real', 'number', ['0.1 + 0.2', '0.30000000000000004'], ['5e-324', '5e-324']],
  ['flag', 'boolean', 'bare', ['1', 'true'], ['0', 'false']],
  ['größe', 'text', 'text', [quoted(hostile), hostile], ["''", '']],
  ['ctrl', 'text', 'text', ["'x' || char(1) || 'y' || char(31) || 'z'", control], ["' '", ' ']],
  ['zeros', 'text', 'text', ["'007'", '007'], ["'null'", 'null']],
  ['day', 'date', 'text', ["'9999-12-31'", '9999-12-31'], ["'0001-01-01'", '0001-01-01']],
  ['clock', 'time', 'text', ["'23:59:59.999999'", '23:59:59.999999'], ["'00:00:00'", '00:00:00']],
  [
    'wall',
    'datetime',
    'text',
    ["'2024-02-29 12:34:56.123456'", '2024-02-29T12:34:56.123456'],
    ["'1582-10-15 00:00:00'", '1582-10-15T00:00:00'],
  ],
  [
    'instant',
    'timestamp',
    'text',
    ["'2024-02-29T12:34:56.000001Z'", '2024-02-29T12:34:56.000001Z'],
    ["'1970-01-01T00:00:00Z'", '1970-01-01T00:00:00Z'],
  ],
  ['doc', 'json', 'json', [backslashFree(bigJson), bigJson], ["'null'", 'null']],
  [
    'id',
    'uuid',
    'text',
    ["'ABCDEF01-2345-6789-ABCD-EF0123456789'", 'abcdef01-2345-6789-abcd-ef0123456789'],
    ["'00000000-0000-0000-0000-000000000000'", '00000000-0000-0000-0000-000000000000'],
  ],
  ['raw', 'blob', 'text', ["x'00ff0a22'", 'AP8KIg=='], ["x''", '']],
];

/** In standard SQL, a string's backslashes are ordinary characters. */
function backslashFree(text: string): string {
  return quoted(text);
}
