import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { FailedLogins } from '../../src/service/limits/failed-logins.ts';
import { Limits } from '../../src/service/limits/limits.ts';
import { networkOf } from '../../src/service/limits/network-of.ts';

describe('an address', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['unknown', 'unknown'],
  ])('%s belongs to the network %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it('shares its limit with its network, so another address in the network gets no more attempts', () => {
    const limits = new Limits({ db: undefined as never, clock: systemClock, enforced: true });
    for (let i = 0; i < 20; i++) limits.countFailure(`2001:db8:1:2::${i.toString(16)}`);
    expect(() => limits.countFailure('2001:db8:1:2:ffff::1')).toThrow('Too many requests with failed authentication');
    expect(() => limits.countFailure('2001:db8:1:3::1')).not.toThrow();
  });
});

describe('failed login tracking', () => {
  it('allows an address twenty failures, and the next attempt a minute after the first failure', () => {
    const failures = new FailedLogins();
    for (let i = 0; i < 20; i++) failures.count('a', i * 100);
    expect([failures.wait('a', 2_000), failures.wait('b', 2_000)]).toEqual([58_000, 0]);
    expect([failures.wait('a', 59_999), failures.wait('a', 60_000), failures.wait('a', 60_001)]).toEqual([1, 0, 0]);
  });

  it('forgets an address a minute after its last failure', () => {
    const failures = new FailedLogins();
    for (let i = 0; i < 1_000; i++) failures.count(`first-${i}`, i);
    failures.count('first-0', 30_000);
    failures.count('later', 61_000);
    expect(failures.size).toBe(2);
  });

  it('drops an address without failures as soon as another address arrives', () => {
    const failures = new FailedLogins();
    for (let i = 0; i < 1_000; i++) failures.count(`someone-${i}`, i)();
    expect(failures.size).toBe(1);
  });

  it('has a bounded size, even within a minute and without refused calls', () => {
    const failures = new FailedLogins();
    for (let i = 0; i < 150_000; i++) failures.count(`many-${i}`, 0);
    expect(failures.size).toBe(100_000);
    const one = new FailedLogins();
    for (let i = 0; i < 1_000; i++) one.count('a', i);
    expect(one.wait('a', 1_000)).toBe(59_980);
  });
});
