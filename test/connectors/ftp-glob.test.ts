import { describe, expect, it } from 'vitest';
import { globOf } from '../../connectors/ftp/glob.ts';

describe('a glob for paths on a server', () => {
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
  ])('%s starts at %j', (pattern, base) => {
    expect(globOf(pattern)!.base).toBe(base);
  });

  it.each([
    ['/exports/*/a?.csv', ['/exports', '/exports/x'], ['/other', '/exports/x/y']],
    ['*/2026/*.csv', ['a', 'a/2026'], ['a/2025', 'a/2026/b']],
    ['in/**/*.csv', ['in', 'in/a/b/c'], ['out']],
    ['in/x{a,b/c}.csv', ['in', 'in/xb'], []],
    ['../other/*/*.csv', ['../other', '../other/a'], ['../other/a/b', '../more']],
  ])('%s can match only in some folders', (pattern, into, past) => {
    const { mayHold } = globOf(pattern)!;
    expect(into.filter((folder) => !mayHold(folder))).toEqual([]);
    expect(past.filter(mayHold)).toEqual([]);
  });

  it.each([
    ['**/*.csv', ['a.csv', 'x/y/a.csv'], ['a.txt', '.a.csv', '.x/a.csv']],
    ['[ab]*.csv', ['a.csv', 'b1.csv'], ['c.csv', 'x/a.csv']],
    ['in/x{a,b/c}.csv', ['in/xa.csv', 'in/xb/c.csv'], ['in/xb.csv']],
    ['../other/*.csv', ['../other/a.csv'], ['other/a.csv']],
  ])('%s matches whole paths', (pattern, yes, no) => {
    const { matches } = globOf(pattern)!;
    expect(yes.filter((path) => !matches(path))).toEqual([]);
    expect(no.filter(matches)).toEqual([]);
  });
});
