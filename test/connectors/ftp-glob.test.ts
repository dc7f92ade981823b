import { describe, expect, it } from 'vitest';
import { globOf } from '../../connectors/ftp/glob.ts';

describe('a glob for remote paths', () => {
  it("isn't created for a path without special characters", () => {
    expect(globOf('2026/orders.csv')).toBeUndefined();
    expect(globOf('*.csv')).toBeDefined();
  });

  it.each([
    ['in/2026/*.csv', 'in/2026'],
    ['*.csv', ''],
    ['/exports/a?.csv', '/exports'],
    ['in/{a,b}/*.csv', 'in'],
    ['in/x{a,b/c}.csv', 'in'],
    ['../other/*.csv', '../other'],
  ])('has a base folder: %s starts at %j', (pattern, base) => {
    expect(globOf(pattern)!.base).toBe(base);
  });

  it.each([
    ['/exports/*/a?.csv', ['/exports', '/exports/x'], ['/other', '/exports/x/y']],
    ['*/2026/*.csv', ['a', 'a/2026'], ['a/2025', 'a/2026/b']],
    ['in/**/*.csv', ['in', 'in/a/b/c'], ['out']],
    ['in/x{a,b/c}.csv', ['in', 'in/xb'], []],
    ['../other/*/*.csv', ['../other', '../other/a'], ['../other/a/b', '../more']],
  ])('selects the folders that can contain a match: %s', (pattern, into, past) => {
    const { mayHold } = globOf(pattern)!;
    expect(into.filter((folder) => !mayHold(folder))).toEqual([]);
    expect(past.filter(mayHold)).toEqual([]);
  });

  it.each([
    ['**/*.csv', ['a.csv', 'x/y/a.csv'], ['a.txt', '.a.csv', '.x/a.csv']],
    ['[ab]*.csv', ['a.csv', 'b1.csv'], ['c.csv', 'x/a.csv']],
    ['in/x{a,b/c}.csv', ['in/xa.csv', 'in/xb/c.csv'], ['in/xb.csv']],
    ['../other/*.csv', ['../other/a.csv'], ['other/a.csv']],
  ])('matches whole paths: %s', (pattern, yes, no) => {
    const { matches } = globOf(pattern)!;
    expect(yes.filter((path) => !matches(path))).toEqual([]);
    expect(no.filter(matches)).toEqual([]);
  });
});
