import { expect, it } from 'vitest';
import { hashPassword, verifyPassword } from '../../src/service/auth/passwords.ts';

it('a password matches its hash in any Unicode form', async () => {
  const stored = await hashPassword('zo\u00eb \u2460 ok');
  expect(stored).not.toContain('zo\u00eb');
  expect(await verifyPassword('zo\u00eb \u2460 ok', stored)).toBe(true);
  expect(await verifyPassword('zoe\u0308 1 ok', stored)).toBe(true);
  for (const other of ['', 'zoe 1 ok', 'Zo\u00eb 1 ok', 'zo\u00eb 1 ok '])
    expect(await verifyPassword(other, stored)).toBe(false);
  expect(await verifyPassword('zo\u00eb \u2460 ok', null)).toBe(false);
  expect(await hashPassword('zo\u00eb \u2460 ok')).not.toBe(stored);
});
