import { expect, it } from 'vitest';
import { RunWarnings } from '../../src/lib/run-warnings.ts';
import { guardsOf } from '../config/fixtures.ts';

const changed = { code: 'REST_TOTAL_CHANGED', message: 'The total changed', incomplete: true } as const;

it('a warning about incomplete rows fails the run only if its job has `guards: {complete: true}`', () => {
  const strict = new RunWarnings(undefined, guardsOf({ complete: true }, undefined));
  expect(() => strict.add(changed)).toThrow(
    expect.objectContaining({ code: 'REST_TOTAL_CHANGED', family: 'job', message: 'The total changed' }),
  );
  strict.add({ code: 'OTHER', message: 'Something else' });
  expect(strict.list).toEqual([{ code: 'OTHER', message: 'Something else' }]);
  const usual = new RunWarnings(undefined, guardsOf(undefined, undefined));
  usual.add(changed);
  expect(usual.list).toEqual([changed]);
});
