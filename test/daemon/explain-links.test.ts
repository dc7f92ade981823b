import { expect, it } from 'vitest';
import { ended } from '../../src/daemon/explain-links.ts';

const row = { id: 'r1', started_at: 1, ended_at: 2, message: null, code: null } as Parameters<typeof ended>[0];

it('a run is told with its rows, but for one whose source had nothing new: what is shown has some all the same', () => {
  expect(ended({ ...row, state: 'unchanged', row_count: 300 }).message).toContain('shows already (300 rows)');
  expect(ended({ ...row, state: 'unchanged', row_count: 0 }).message).toBe(
    'run r1 found what the instance shows already',
  );
  expect(ended({ ...row, state: 'delivered', row_count: 0 }).message).toContain('(0 rows)');
});
