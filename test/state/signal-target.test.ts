import { expect, it } from 'vitest';
import { ourselves } from '../../src/lib/process-identity.ts';
import { pidHere } from '../../src/state/processes/processes.ts';

const owner = (changed: Partial<typeof ourselves>): string => {
  const { host, boot, space, pid, start } = { ...ourselves, pid: 4711, ...changed };
  return JSON.stringify([host, boot, space, pid, start]);
};

it('a process on this machine can be signaled, even if its boot ID differs', () => {
  expect(pidHere(owner({}))).toBe(4711);
  expect(pidHere(owner({ boot: 'named by systemd-nspawn' }))).toBe(4711);
});

it("a process on another machine or in another container can't be signaled", () => {
  expect(pidHere(owner({ space: 'pid:[1]' }))).toBeUndefined();
  expect(pidHere(owner({ boot: 'other', host: 'other' }))).toBeUndefined();
  expect(pidHere('nonsense')).toBeUndefined();
});
