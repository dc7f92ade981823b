import { expect, it } from 'vitest';
import { signs, standingsOf } from '../../src/console/standing.ts';
import type { Condition } from '../../src/daemon/conditions/condition.ts';
import type { JobStatus } from '../../src/daemon/report/job-status.ts';

const ran = { run: 'r1', state: 'delivered', started_at: 0, rows: 1, code: null, message: null };
const payload = { bytes: 1, rows: 1, since: 0, attempts: 0, code: null, message: null };

function job(more: Partial<JobStatus> = {}): JobStatus {
  return { job: 'orders', enabled: true, state: 'delivered', last_run: ran, owed: [], ...more };
}

const about = (level: Condition['level'], ...jobs: string[]) => ({ level, jobs }) as unknown as Condition;

it.each<[string, Condition[], Partial<JobStatus>, string]>([
  ['is good after a run', [], {}, 'good'],
  ['has nothing to show before its first run', [], { last_run: undefined as never }, 'idle'],
  ['is idle if it is disabled, whatever its last run was', [], { enabled: false }, 'idle'],
  ['waits while something is owed', [], { owed: [payload] }, 'wait'],
  ['waits while something is owed, even if it is disabled', [], { owed: [payload], enabled: false }, 'wait'],
  ['waits while it is on hold', [], { on_hold: true }, 'wait'],
  ['waits with a warning', [about('warning', 'other', 'orders')], {}, 'wait'],
  [
    'is bad with an error, whatever else is true',
    [about('warning', 'orders'), about('error', 'orders')],
    { on_hold: true },
    'bad',
  ],
  [
    'is bad with an error, even if it is disabled and never ran',
    [about('error', 'orders')],
    { enabled: false, last_run: undefined as never },
    'bad',
  ],
  ['is good, whatever is wrong with other jobs', [about('error', 'other'), about('error')], {}, 'good'],
])('a job %s', (_, conditions, more, standing) => {
  expect(standingsOf({ conditions })(job(more))).toBe(standing);
});

it("each status has its own symbol, so that it's clear without color", () => {
  expect(new Set(Object.values(signs)).size).toBe(Object.keys(signs).length);
});
