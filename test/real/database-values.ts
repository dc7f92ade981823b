/** A value that a database can store, and what tools that copy it have to deliver. */
export interface StoredValue {
  /** As in `docs/neighbours.md`. */
  readonly title: string;
  readonly database: 'PostgreSQL' | 'MariaDB';
  readonly type: string;
  /** A SQL literal. */
  readonly literal: string;
  /** What Sluice delivers. */
  readonly text: string | 'an error';
  /** Whether a text that another tool delivers means the same value. Default: {@link text}. */
  readonly same?: RegExp;
}

const [of15, of20] = ['123456789012345', '12345678901234567890'];

export const storedValues: readonly StoredValue[] = [
  {
    title: '`bigint` of 64 bits',
    database: 'PostgreSQL',
    type: 'bigint',
    literal: '9007199254740993',
    text: '9007199254740993',
  },
  {
    title: '`numeric` with 40 digits',
    database: 'PostgreSQL',
    type: 'numeric(40,20)',
    literal: `${of20}.${of20}`,
    text: `${of20}.${of20}`,
  },
  { title: "`numeric` 'NaN'", database: 'PostgreSQL', type: 'numeric', literal: "'NaN'", text: 'NaN' },
  {
    title: '`timestamptz` with microseconds',
    database: 'PostgreSQL',
    type: 'timestamptz',
    literal: "'2026-01-31 10:00:00.123456+02'",
    text: '2026-01-31T08:00:00.123456Z',
    same: /^2026-01-31 08:00:00\.123456 ?\+00(:00)?$/,
  },
  {
    title: "`timestamp` 'infinity'",
    database: 'PostgreSQL',
    type: 'timestamp',
    literal: "'infinity'",
    text: 'infinity',
  },
  {
    title: '`timestamp` of the year 44 BC',
    database: 'PostgreSQL',
    type: 'timestamp',
    literal: "'0044-03-15 BC'",
    text: '0044-03-15 00:00:00 BC',
    same: /^-0043-03-15|^0044-03-15.*BC$/,
  },
  {
    title: '`date` of the year 12026',
    database: 'PostgreSQL',
    type: 'date',
    literal: "'12026-01-31'",
    text: '12026-01-31',
  },
  {
    title: '`time` 24:00:00',
    database: 'PostgreSQL',
    type: 'time',
    literal: "'24:00:00'",
    text: '24:00:00',
  },
  {
    title: '`timetz`',
    database: 'PostgreSQL',
    type: 'timetz',
    literal: "'04:05:06.789+05:30'",
    text: '04:05:06.789+05:30',
    same: /^04:05:06\.789(000)?\+05:30$/,
  },
  {
    title: '`interval` of months',
    database: 'PostgreSQL',
    type: 'interval',
    literal: "'1 year 2 mons'",
    text: 'P1Y2M',
    same: /^1 year 2 mons$|^P1Y2M$/,
  },
  {
    title: '`jsonb` with 20 digits',
    database: 'PostgreSQL',
    type: 'jsonb',
    literal: `'{"a":0.${of20}}'`,
    text: `{"a": 0.${of20}}`,
    same: new RegExp(`^\\{["']a["']: ?0\\.${of20}\\}$`),
  },
  {
    title: '`bytea`',
    database: 'PostgreSQL',
    type: 'bytea',
    literal: String.raw`'\xff00fe'`,
    text: '/wD+',
    same: /^b'\\xff\\x00\\xfe'$|^\/wD\+$|^(\\x)?ff00fe$/i,
  },
  {
    title: 'an array of `timestamptz` with infinity',
    database: 'PostgreSQL',
    type: 'timestamptz[]',
    literal: "'{infinity,2026-01-31 10:00+00}'",
    text: '["infinity","2026-01-31T10:00:00Z"]',
    same: /^\{infinity,"2026-01-31 10:00:00\+00"\}$/,
  },
  {
    title: 'an array of texts',
    database: 'PostgreSQL',
    type: 'text[]',
    literal: String.raw`'{"a,b",NULL,"c\"d"}'`,
    text: String.raw`["a,b",null,"c\"d"]`,
    same: /^\{"a,b",NULL,"c\\"d"\}$|^\['a,b', None, 'c"d'\]$/,
  },
  {
    title: '`bigint unsigned`',
    database: 'MariaDB',
    type: 'bigint unsigned',
    literal: '18446744073709551615',
    text: '18446744073709551615',
  },
  {
    title: '`decimal` with 50 digits',
    database: 'MariaDB',
    type: 'decimal(65,30)',
    literal: `${of20}.${of15}${of15}`,
    text: `${of20}.${of15}${of15}`,
  },
  { title: '`float`', database: 'MariaDB', type: 'float', literal: '0.1', text: '0.1' },
  {
    title: 'a negative `time`',
    database: 'MariaDB',
    type: 'time(6)',
    literal: "'-838:59:59.000000'",
    text: '-838:59:59.000000',
    same: /^-838:59:59(\.0+)?$/,
  },
  {
    title: '`datetime` with microseconds',
    database: 'MariaDB',
    type: 'datetime(6)',
    literal: "'2026-01-31 10:00:00.123456'",
    text: '2026-01-31T10:00:00.123456',
    same: /^2026-01-31 10:00:00\.123456( \+00)?$/,
  },
  { title: '`bit`', database: 'MariaDB', type: 'bit(10)', literal: "b'101'", text: '5', same: /^5$|^(0x|b')?0*101'?$/ },
  {
    title: '`varbinary`',
    database: 'MariaDB',
    type: 'varbinary(10)',
    literal: "x'ff00fe'",
    text: '/wD+',
    same: /^b'\\xff\\x00\\xfe'$|^\/wD\+$|^(0x)?ff00fe$/i,
  },
  {
    title: '`set`',
    database: 'MariaDB',
    type: "set('a','b')",
    literal: "'a,b'",
    text: 'a,b',
  },
  {
    title: 'text in latin1',
    database: 'MariaDB',
    type: 'varchar(10) character set latin1',
    literal: "'Zürich'",
    text: 'Zürich',
  },
  {
    title: 'an error for the date 0000-00-00',
    database: 'MariaDB',
    type: 'date',
    literal: "'0000-00-00'",
    text: 'an error',
  },
];
