import { expect, it } from 'vitest';
import { ended } from '../../../src/daemon/explain/explain-links.ts';

const row = { id: 'r1', started_at: 1, ended_at: 2, message: null, code: null } as Parameters<typeof ended>[0];

it("a run's message contains its row count, unless there were no new rows and the instance shows earlier ones", () => {
  expect(ended({ ...row, state: 'unchanged', row_count: 300 }).message).toContain('already shows (300 rows)');
  expect(ended({ ...row, state: 'unchanged', row_count: 0 }).message).toBe(
    'run r1 produced what the instance already shows',
  );
  expect(ended({ ...row, state: 'delivered', row_count: 0 }).message).toContain('(0 rows)');
});
