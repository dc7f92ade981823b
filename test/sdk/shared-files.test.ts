import { expect, it } from 'vitest';
import { mayShareFiles } from '../../src/sdk/records/shared-files.ts';

const mayShare = (one: string, other: string) =>
  [mayShareFiles({ place: 'a', pattern: one }, { place: 'a', pattern: other })].concat(
    mayShareFiles({ place: 'a', pattern: other }, { place: 'a', pattern: one }),
  );

it('patterns that can match the same file are found', () => {
  for (const [one, other] of [
    ['/in/*.csv', '/in/a.csv'],
    ['/in/*.csv', '/in/a*.csv'],
    ['/in/a*.csv', '/in/*b.csv'],
    ['/in/**/*.csv', '/in/x/y/*.csv'],
    ['/**/a.csv', '/in/a.csv'],
    ['/in/./*.csv', '/x/../in//*.csv'],
    ['/in/{a,b}/*.csv', '/in/b/*.csv'],
    ['/{in/x,out}/*.csv', '/in/x/*.csv'],
    ['/{in/a,in/b}.csv', '/in/a.csv'],
    ['/in/[ab].csv', '/in/b.csv'],
    ['in/*.csv', '/home/user/in/*.csv'],
    ['a.csv', 'a.csv'],
  ] as const)
    expect(mayShare(one, other), `${one} ${other}`).toEqual([true, true]);
});

it('patterns that cannot match the same file are told apart', () => {
  for (const [one, other] of [
    ['/in/a*.csv', '/in/b*.csv'],
    ['/in/*.csv', '/in/*.json'],
    ['/in/*.csv', '/out/*.csv'],
    ['/in/*.csv', '/in/*/*.csv'],
    ['/in/**/*.csv', '/out/**/*.csv'],
    ['/in/*.csv', '/in/a.json'],
    ['a.csv', 'b.csv'],
  ] as const)
    expect(mayShare(one, other), `${one} ${other}`).toEqual([false, false]);
  const pattern = '*.csv';
  expect(mayShareFiles({ place: 'a', pattern }, { place: 'b', pattern })).toBe(false);
});
