import { expect, it } from 'vitest';
import { Problem, type ProblemOptions } from '../../src/lib/problem.ts';

const whole: Required<ProblemOptions> = {
  code: 'DB_BUSY',
  family: 'try_later',
  message: 'the database is busy',
  where: { job: 'orders', source: 'shop', row: 3 },
  seen: '12 connections',
  allowed: '10 connections',
  next: 'run fewer jobs at once',
  retryAfterMs: 5000,
  isRateLimit: true,
  isDailyLimit: true,
  isLoginRefused: true,
  refusedPath: 'https://a.example/b',
  cause: new Error('too many'),
};

it('a problem with a new message keeps all other fields, including its stack', () => {
  const problem = new Problem(whole);
  const changed = problem.with({ message: 'the database is busy; not tried again' });
  expect(changed).toMatchObject({ ...whole, message: 'the database is busy; not tried again' });
  expect(changed.stack).toBe(problem.stack);
  expect(problem.message).toBe(whole.message);
});

it("a problem's location can be added later, but a known location isn't replaced", () => {
  const problem = new Problem({ code: 'X', family: 'row', message: 'no', where: { job: 'orders', row: undefined } });
  expect(problem.at({ job: 'other', row: 3 }).where).toEqual({ job: 'orders', row: 3 });
});
