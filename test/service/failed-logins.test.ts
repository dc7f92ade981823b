import { describe, expect, it } from 'vitest';
import { FailedLogins } from '../../src/service/limits/failed-logins.ts';

describe('the memory of failed logins', () => {
  it('lets an address fail twenty times in a minute, and again when the first of them is a minute ago', () => {
    const failures = new FailedLogins();
    for (let i = 0; i < 20; i++) failures.count('a', i * 100);
    expect([failures.wait('a', 2_000), failures.wait('b', 2_000)]).toEqual([58_000, 0]);
    expect([failures.wait('a', 59_999), failures.wait('a', 60_000), failures.wait('a', 60_001)]).toEqual([1, 0, 0]);
  });

  it('keeps no address for longer than a minute after it failed', () => {
    const failures = new FailedLogins();
    for (let i = 0; i < 1_000; i++) failures.count(`first-${i}`, i);
    failures.count('first-0', 30_000);
    failures.count('later', 61_000);
    expect(failures.size).toBe(2);
  });

  it('keeps no address that only signed in, once another comes', () => {
    const failures = new FailedLogins();
    for (let i = 0; i < 1_000; i++) failures.count(`someone-${i}`, i)();
    expect(failures.size).toBe(1);
  });

  it('is bounded, also within a minute and where nobody is refused', () => {
    const failures = new FailedLogins();
    for (let i = 0; i < 150_000; i++) failures.count(`many-${i}`, 0);
    expect(failures.size).toBe(100_000);
    const one = new FailedLogins();
    for (let i = 0; i < 1_000; i++) one.count('a', i);
    expect(one.wait('a', 1_000)).toBe(59_980);
  });
});
