import { expect, it } from 'vitest';
import { late } from '../../src/lib/late.ts';
import { toProblem } from '../../src/lib/problem.ts';

const otherwise = { code: 'FILE_DAMAGED', family: 'job' } as const;
const ours = new URL('../../src/sdk/records/archive.ts', import.meta.url);

const thrownBy = (work: () => unknown): unknown => {
  try {
    work();
  } catch (thrown) {
    return thrown;
  }
  return undefined;
};

it('A package that Sluice itself loads late and that is missing is a fault of Sluice, with its name', () => {
  const load = late(ours.href, 'no-such-package');
  const problem = toProblem(thrownBy(load), otherwise);
  expect(problem).toMatchObject({ code: 'INSTALLATION_INCOMPLETE', family: 'bug' });
  expect(problem.message).toContain("Cannot find module 'no-such-package'");
  expect(problem.message).not.toContain('Require stack');
});

it('A file of Sluice that is gone is a fault of Sluice, also as the cause of another error', () => {
  // As Node words it; the runner of these tests has a loader of its own.
  const gone = Object.assign(
    new Error(`Cannot find module '/x/chunks/csv-reader-1.js' imported from ${ours.pathname}`),
    { code: 'ERR_MODULE_NOT_FOUND' },
  );
  expect(toProblem(gone, otherwise).code).toBe('INSTALLATION_INCOMPLETE');
  const wrapped = new Error('the connector failed', { cause: gone });
  expect(toProblem(wrapped, otherwise).message).toContain('csv-reader-1.js');
});

it('A package that a connector of the user asks for is no fault of Sluice', () => {
  const thrown = Object.assign(new Error("Cannot find package 'x' imported from /home/a/desk.mts"), {
    code: 'ERR_MODULE_NOT_FOUND',
  });
  expect(toProblem(thrown, otherwise).code).toBe('FILE_DAMAGED');
});
