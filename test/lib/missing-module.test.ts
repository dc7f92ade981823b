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

it('a missing package that Sluice loads on demand is reported by name as an incomplete installation', () => {
  const load = late(ours.href, 'no-such-package');
  const problem = toProblem(thrownBy(load), otherwise);
  expect(problem).toMatchObject({ code: 'INSTALLATION_INCOMPLETE', family: 'bug' });
  expect(problem.message).toContain("Cannot find module 'no-such-package'");
  expect(problem.message).not.toContain('Require stack');
});

it("a missing file of Sluice is reported as an incomplete installation, even if it's the cause of another error", () => {
  // Node's own wording of the error; the test runner has its own loader.
  const gone = Object.assign(
    new Error(`Cannot find module '/x/chunks/csv-reader-1.js' imported from ${ours.pathname}`),
    { code: 'ERR_MODULE_NOT_FOUND' },
  );
  expect(toProblem(gone, otherwise).code).toBe('INSTALLATION_INCOMPLETE');
  const wrapped = new Error('the connector failed', { cause: gone });
  expect(toProblem(wrapped, otherwise).message).toContain('csv-reader-1.js');
});

it("a missing package that a user's connector imports isn't reported as an incomplete installation", () => {
  const thrown = Object.assign(new Error("Cannot find package 'x' imported from /home/a/desk.mts"), {
    code: 'ERR_MODULE_NOT_FOUND',
  });
  expect(toProblem(thrown, otherwise).code).toBe('FILE_DAMAGED');
});
