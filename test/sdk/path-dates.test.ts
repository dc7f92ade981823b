import { expect, it } from 'vitest';
import { dateFaultIn, fillDates } from '../../src/sdk/records/path-dates.ts';

const at = Date.parse('2026-01-02T23:04:05Z');

it('replaces dates in braces in the time zone, and leaves globs and other braces alone', () => {
  const filled = (path: string, timezone = 'UTC') => fillDates(path, { at, timezone });
  expect(filled('report_{yyyy-MM-dd}.csv')).toBe('report_2026-01-02.csv');
  expect(filled('report_{yyyy-MM-dd}.csv', 'Europe/Berlin')).toBe('report_2026-01-03.csv');
  expect(filled('{yyyy/MM/dd}/{yyMMdd}-{HHmmss}/*.csv')).toBe('2026/01/02/260102-230405/*.csv');
  for (const path of ['{a,b}.csv', '{d,m}.csv', '{d..m}.csv', 'done/{name}', '{stem}.old', 'a{}b'])
    expect(filled(path)).toBe(path);
});

it('reports letters that are not part of a date', () => {
  expect(dateFaultIn('{yyyy-MM}/{name}')).toBeUndefined();
  expect(dateFaultIn('{yyy}.csv')).toBe('has "yyy" in {yyy}; allowed: yyyy yy MM dd HH mm ss');
});
