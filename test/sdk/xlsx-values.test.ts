import { describe, expect, it } from 'vitest';
import { isoCell, joined, numberCell, styleOf } from '../../src/sdk/records/xlsx-values.ts';

describe('a number format', () => {
  it.each<[string, ReturnType<typeof styleOf>]>([
    ['yyyy-mm-dd', 'date'],
    ['mmm', 'date'],
    ['mmmm yy', 'date'],
    ['d', 'date'],
    ['h:mm', 'time'],
    ['mm:ss', 'time'],
    ['mm:ss.0', 'time'],
    ['h AM/PM', 'time'],
    ['ss', 'time'],
    ['dd.mm.yyyy hh:mm', 'datetime'],
    ['[$-407]d. mmmm yyyy h:mm', 'datetime'],
    ['[h]:mm:ss', 'number'],
    ['[mm]:ss', 'number'],
    ['[s]', 'number'],
    ['0.00', 'number'],
    ['General', 'number'],
    ['#,##0 "days"', 'number'],
    ['0 \\d', 'number'],
    ['0_d', 'number'],
    ['[Red]0.00', 'number'],
    ['0;yyyy', 'number'],
  ])('%s makes a number a %s', (code, style) => {
    expect(styleOf(164, code)).toBe(style);
  });

  it.each<[number, ReturnType<typeof styleOf>]>([
    [0, 'number'],
    [13, 'number'],
    [14, 'date'],
    [17, 'date'],
    [18, 'time'],
    [21, 'time'],
    [22, 'datetime'],
    [45, 'time'],
    [46, 'number'],
    [47, 'time'],
    [49, 'number'],
  ])('that is built in as %i makes a number a %s', (id, style) => {
    expect(styleOf(id, undefined)).toBe(style);
  });
});

describe('a number with a date format', () => {
  const text = (written: string, style: 'date' | 'time' | 'datetime', from1904 = false) =>
    Object.values(numberCell(written, style, from1904)).join(' ');

  it('is read as a date, a time or both, as Excel shows it', () => {
    expect(text('43890', 'date')).toBe('date 2020-02-29');
    expect(text('43890.5', 'date')).toBe('timestamp 2020-02-29T12:00:00');
    expect(text('0.5', 'time')).toBe('time 12:00:00');
    expect(text('0.000694444444444444', 'time')).toBe('time 00:01:00');
    expect(text('1.25', 'time')).toBe('timestamp 1900-01-01T06:00:00');
    expect(text('43890.123456789', 'datetime')).toBe('timestamp 2020-02-29T02:57:46.667');
  });

  it('is counted differently before February 29, 1900, and in the 1904 date system', () => {
    expect(text('59', 'date')).toBe('date 1900-02-28');
    expect(text('61', 'date')).toBe('date 1900-03-01');
    expect(text('0', 'date', true)).toBe('date 1904-01-01');
    expect(text('60', 'date', true)).toBe('date 1904-03-01');
  });

  it('stays a number if that date never existed', () => {
    expect(text('60', 'date')).toBe('integer 60');
    expect(text('-1', 'date')).toBe('integer -1');
    expect(text('2958465', 'date')).toBe('date 9999-12-31');
    expect(text('2958466', 'date')).toBe('integer 2958466');
    expect(text('soon', 'date')).toBe('text soon');
  });
});

it('a date stored as text is read as a date, with or without a time, and a Z at its end is ignored', () => {
  expect(isoCell('2026-01-31')).toEqual({ kind: 'date', text: '2026-01-31' });
  expect(isoCell('2026-01-31T08:15:30Z')).toEqual({ kind: 'timestamp', text: '2026-01-31T08:15:30' });
  expect(isoCell('next week')).toEqual({ kind: 'text', text: 'next week' });
});

it('a column has the type that fits all its cells', () => {
  expect(joined('integer', 'decimal')).toBe('decimal');
  expect(joined('timestamp', 'date')).toBe('timestamp');
  expect(joined('date', 'date')).toBe('date');
  expect(joined('integer', 'date')).toBe('text');
  expect(joined('time', 'timestamp')).toBe('text');
});
