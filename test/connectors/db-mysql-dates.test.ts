import { expect, it } from 'vitest';
import { mysqlType, type ZeroDates } from '../../connectors/db/mysql-types.ts';

const [timestamp, date, datetime] = [7, 10, 12];

/** The value for these bytes on the wire, which follow the length byte. */
function cell(columnType: number, text: string, zeroDates: ZeroDates): string | null {
  const { fix } = mysqlType(
    { columnType, characterSet: 63, flags: 0, columnLength: 0, schema: '', name: 'd' },
    zeroDates,
  );
  if (fix?.how !== 'in place') throw new Error('dates are rewritten in place');
  const bytes = Buffer.from(`${String.fromCharCode(text.length)}${text}`, 'latin1');
  const spans = Int32Array.of(1, bytes.length);
  fix.fix(bytes, spans, 0);
  return spans[0]! < 0 ? null : bytes.toString('latin1', spans[0], spans[1]);
}

const inNoCalendar = [
  '0000-00-00',
  '2024-01-00',
  '2024-00-15',
  '2024-04-31',
  '2024-02-30',
  '2023-02-29',
  '1900-02-29',
  '2024-01-32',
];

it.each(inNoCalendar)(
  'the date %s, with or without a time, is rejected or, if configured, converted to null',
  (day) => {
    for (const [type, text] of [
      [date, day],
      [datetime, `${day} 12:34:56`],
      [timestamp, `${day} 12:34:56.123`],
    ] as const) {
      expect(() => cell(type, text, 'refuse')).toThrow(
        expect.objectContaining({ code: 'DB_NO_SUCH_DATE', seen: text }),
      );
      expect(cell(type, text, 'null')).toBeNull();
    }
  },
);

it.each(['2024-01-01', '2024-04-30', '2024-12-31', '2024-02-29', '2000-02-29', '2023-02-28', '0001-01-01'])(
  'the date %s is returned unchanged, and times are returned in their canonical form',
  (day) => {
    expect(cell(date, day, 'refuse')).toBe(day);
    expect(cell(datetime, `${day} 12:34:56.5`, 'refuse')).toBe(`${day}T12:34:56.5`);
    expect(cell(timestamp, `${day} 12:34:56`, 'refuse')).toBe(`${day}T12:34:56Z`);
  },
);
