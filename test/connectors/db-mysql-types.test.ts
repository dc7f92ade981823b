import mysql from 'mysql2';
import { beforeAll, expect, it } from 'vitest';
import { describeWithServer } from '../servers/describe.ts';
import { problemOf, read } from './db-reader.ts';

describeWithServer(
  { servers: 'MariaDB', settings: { settings: { 'max-allowed-packet': '64M' } } },
  'MariaDB type mapping',
  (server) => {
    const source = () => ({ url: server().url });

    beforeAll(async () => {
      const admin = mysql.createConnection({ uri: server().url, multipleStatements: true });
      const sql = `
      set sql_mode = '';
      create table types (
        tiny tinyint, big bigint, ubig bigint unsigned, filled int(6) zerofill, flag boolean,
        dec38 decimal(38,10), f float, d double,
        bits bit(9), bits64 bit(64), y year,
        dt date, dtm datetime(6), ts timestamp(6) null, tm time(3),
        fixed char(4), txt text, latin varchar(20) character set latin1, en enum('a','b"c'), st set('x','y','z'),
        bin varbinary(10), blb blob, js json, id uuid, ip inet6);
      insert into types values (
        -128, -9223372036854775808, 18446744073709551615, 42, true,
        1234567890123456789012345678.0123456789, 0.5, 0.30000000000000004,
        b'100000001', b'${'1'.repeat(64)}', 2024,
        '2024-02-29', '2024-02-29 12:34:56.123456', '2024-02-29 12:34:56.123456', '838:59:59.5',
        'ab', concat('a"b\\\\,;\\n<&>é漢😀'), 'Müller', 'b"c', 'x,z',
        x'00ff', x'68692100', '{"n": 12345678901234567890123}', 'ABCDEF01-2345-6789-abcd-ef0123456789', '::1');
      insert into types (y, txt, blb, tm, bits, fixed) values (0, '', '', '-838:59:59', b'0', '');
      create table zeros (id int, d date, dt datetime, ts timestamp null);
      insert into zeros values (1, '2024-01-01', '2024-01-01', '2024-01-01'), (2, '0000-00-00', '2024-00-15', 0);`;
      await new Promise<void>((resolve, reject) =>
        admin.query(sql, (failure) => (failure ? reject(failure) : resolve())),
      );
      admin.end();
    });

    it('returns every type in a row exactly', async () => {
      const { columns, rows } = await read(source(), 'select * from types');
      const found = columns.map((column, c) => [column, rows[0]![c], rows[1]![c]]);
      expect(found).toEqual([
        ['tiny integer', '-128', null],
        ['big integer', '-9223372036854775808', null],
        ['ubig integer', '18446744073709551615', null],
        ['filled text', '000042', null],
        ['flag integer', '1', null],
        ['dec38 decimal', '1234567890123456789012345678.0123456789', null],
        ['f float', '0.5', null],
        ['d float', '0.30000000000000004', null],
        ['bits integer', '257', '0'],
        ['bits64 integer', '18446744073709551615', null],
        ['y integer', '2024', '0'],
        ['dt date', '2024-02-29', null],
        ['dtm timestamp', '2024-02-29T12:34:56.123456', null],
        ['ts timestamptz', '2024-02-29T12:34:56.123456Z', null],
        ['tm time', '838:59:59.500', '-838:59:59.000'],
        ['fixed text', 'ab', ''],
        ['txt text', 'a"b\\,;\n<&>é漢😀', ''],
        ['latin text', 'Müller', null],
        ['en text', 'b"c', null],
        ['st text', 'x,z', null],
        ['bin binary', 'AP8=', null],
        ['blb binary', 'aGkhAA==', ''],
        ['js json', '{"n": 12345678901234567890123}', null],
        ['id uuid', 'abcdef01-2345-6789-abcd-ef0123456789', null],
        ['ip text', '::1', null],
      ]);
    });

    it("returns timestamps as instants, regardless of the server's time zone", async () => {
      // MariaDB 11.8 returns null for from_unixtime(0), and declares a timestamp where older versions declare a
      // datetime.
      const instant = 'cast(from_unixtime(1) as datetime)';
      const sql = `select timestamp '2024-01-01 00:00:00' a, ${instant} b, @@session.time_zone c`;
      expect((await read(source(), sql)).rows[0]).toEqual(['2024-01-01T00:00:00', '1970-01-01T00:00:01', '+00:00']);
    });

    it('names the row and column of an invalid date', async () => {
      const problem = await problemOf(read(source(), 'select id, dt, d from zeros order by id'));
      expect(problem).toMatchObject({ code: 'DB_NO_SUCH_DATE', family: 'row', where: { row: 2, column: 'dt' } });
      expect(problem.seen).toBe('2024-00-15 00:00:00');
      expect(problem.next).toContain('zero_dates');
    });

    it.each([
      ["date '2024-02-30'", 'd date', '2024-02-30'],
      ["date '2023-02-29'", 'd date', '2023-02-29'],
      ["timestamp '2024-04-31 10:00:00'", 'd timestamp', '2024-04-31 10:00:00'],
    ])("rejects a day that doesn't exist in its month: %s", async (value, column, seen) => {
      const admin = mysql.createConnection({ uri: server().url, multipleStatements: true });
      const mode = (text: string) =>
        new Promise<void>((resolve, reject) =>
          admin.query(`set global sql_mode = ${text}`, (failure) => (failure ? reject(failure) : resolve())),
        );
      await mode("'ALLOW_INVALID_DATES'");
      const problem = await problemOf(read(source(), `select ${value} as d`));
      const nulls = await read({ ...source(), zero_dates: 'null' }, `select ${value} as d`);
      await mode('default');
      admin.destroy();
      expect(problem).toMatchObject({ code: 'DB_NO_SUCH_DATE', where: { row: 1, column: 'd' }, seen });
      expect(nulls).toEqual({ columns: [column], rows: [[null]] });
    });

    it('accepts the last day of each month', async () => {
      const months = Array.from({ length: 12 }, (_, i) => `last_day('2023-${i + 1}-1') as m${i}`).join(', ');
      const { rows } = await read(
        source(),
        `select last_day('2024-02-01') as l, last_day('2000-02-01') as c, ${months}`,
      );
      expect(rows[0]!.map((day) => day!.slice(8)).join(' ')).toBe('29 29 31 28 31 30 31 30 31 31 30 31 30 31');
    });

    it('converts nonexistent dates to null if configured', async () => {
      const { rows } = await read({ ...source(), zero_dates: 'null' }, 'select * from zeros order by id');
      expect(rows).toEqual([
        ['1', '2024-01-01', '2024-01-01T00:00:00', '2024-01-01T00:00:00Z'],
        ['2', null, null, null],
      ]);
    });

    it('keeps nonexistent dates as text if the query casts them to text', async () => {
      const { columns, rows } = await read(source(), 'select cast(d as char) as d from zeros order by id');
      expect([columns, rows]).toEqual([['d text'], [['2024-01-01'], ['0000-00-00']]]);
    });

    it('supports any column names, and rejects duplicates', async () => {
      const names = ['1', 'a"b', "a'b", 'a`b', '<row>', 'ü漢', 'a,b', '__proto__'];
      const list = names.map((name, i) => `${i} as \`${name.replaceAll('`', '``')}\``).join(', ');
      expect((await read(source(), `select ${list}`)).columns).toEqual(names.map((name) => `${name} integer`));
      const problem = await problemOf(read(source(), 'select 1 as a, 2 as a'));
      expect(problem).toMatchObject({ code: 'DB_DUPLICATE_COLUMN', family: 'job', where: { column: 'a' } });
    });

    it("reads cells with each of the protocol's length encodings", async () => {
      const lengths = [0, 250, 251, 252, 65_535, 65_536, 16_777_214, 16_777_215, 40_000_000];
      const list = lengths.map((length, i) => `repeat('x', ${length}) as c${i}`).join(', ');
      const { rows } = await read(source(), `select ${list}, 'behind' as b`);
      expect(rows[0]!.map((cell) => cell?.length)).toEqual([...lengths, 6]);
    });
  },
);
