import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/config/config.ts';
import { isRead, PendingAttempts } from '../../../src/daemon/retry/pending-attempts.ts';
import type { RunOutcome } from '../../../src/daemon/run/run-outcome.ts';
import type { RetryRow } from '../../../src/state/tables.ts';

const jobOf = (name: string, source = 'db') =>
  ({ name, retry: { firstMs: 30, longestMs: 600, withinMs: 9000 }, extract: { source: { name: source } } }) as Job;

const rowOf = (job: string, more: Partial<RetryRow> = {}): RetryRow => ({
  ...{ job, run: `run of ${job}`, fired_at: 0, logical_at: null, since: 0, facts: null },
  ...{ attempt: 1, waits: 1, next_at: 100, until: 1000 },
  ...more,
});

/** Runs that wait for one source or, if given, for the named sources. */
function waiting(...given: (Partial<RetryRow> & { readonly job: string; readonly source?: string })[]) {
  const pending = new PendingAttempts();
  for (const { source, ...row } of given) pending.add({ job: jobOf(row.job, source), row: rowOf(row.job, row) });
  const due = (now: number) => [...pending.due(now)].map(({ job, at }) => `${job} ${at}`).toSorted();
  return { pending, due };
}

describe('runs that wait for the same source', () => {
  it('send one probe at a time: the first one due or, if several are, the one with the fewest attempts', () => {
    const { pending, due } = waiting(
      { job: 'late', next_at: 300 },
      { job: 'tired', next_at: 100, attempt: 3 },
      { job: 'fresh', next_at: 200, attempt: 2 },
      { job: 'other', next_at: 400, source: 'api' },
    );
    expect(due(50)).toEqual(['other 400', 'tired 100']);
    expect(due(150)).toEqual(['other 400', 'tired 100']);
    expect(due(200)).toEqual(['fresh 200', 'other 400']);
    expect(due(300)).toEqual(['late 300', 'other 400']);
    pending.take('late');
    expect(due(300), 'a probe is in progress').toEqual(['other 400']);
    expect(pending.isProbe(jobOf('late'))).toBe(true);
    expect(pending.isProbe(jobOf('fresh'))).toBe(false);
    pending.done(jobOf('fresh'), 310);
    expect(due(310), 'only the probe ends itself').toEqual(['other 400']);
    expect(pending.freeSince(jobOf('fresh'))).toBe(Number.NEGATIVE_INFINITY);
    pending.done(jobOf('late'), 320);
    expect(due(320)).toEqual(['fresh 200', 'other 400']);
    expect(pending.freeSince(jobOf('fresh'))).toBe(320);
    expect(pending.freeSince(jobOf('other', 'api'))).toBe(Number.NEGATIVE_INFINITY);
  });

  it("back off together: the probe continues with its source's highest number of waits", () => {
    const { pending } = waiting({ job: 'a', waits: 2 }, { job: 'b', waits: 5 }, { job: 'c', waits: 9, source: 'api' });
    expect(pending.take('a')?.row).toMatchObject({ waits: 5, attempt: 1 });
    expect([pending.has('a'), pending.has('b')]).toEqual([false, true]);
    expect(pending.take('a')).toBeUndefined();
  });

  it('all run without waiting once the source has been read, but wait after another failure', () => {
    const { pending, due } = waiting({ job: 'a' }, { job: 'b', next_at: 500 }, { job: 'c', source: 'api' });
    pending.release('db');
    expect(due(50)).toEqual(['a 50', 'b 50', 'c 100']);
    expect(pending.take('a')?.row.waits).toBe(1);
    expect(pending.isProbe(jobOf('a')), 'no probe is needed').toBe(false);
    pending.add({ job: jobOf('a'), row: rowOf('a', { next_at: 700 }) });
    pending.release('db');
    expect(due(50), 'it failed again, so it waits').toEqual(['a 700', 'b 50', 'c 100']);
    pending.forget('run of a');
    pending.release('db');
    expect(due(50)).toEqual(['a 50', 'b 50', 'c 100']);
  });

  it("wait as long as a failed probe does, unless they already wait longer or can't wait that long", () => {
    const { pending, due } = waiting(
      { job: 'early', next_at: 100, waits: 1 },
      { job: 'often', next_at: 100, waits: 7 },
      { job: 'later', next_at: 400 },
      { job: 'ends', next_at: 100, until: 400 },
      { job: 'just', next_at: 100, until: 401 },
      { job: 'other', next_at: 100, source: 'api' },
    );
    const { moved, over } = pending.postpone('db', rowOf('probe', { next_at: 400, waits: 4 }));
    expect(moved.map(({ job, next_at, waits }) => [job, next_at, waits])).toEqual([
      ['early', 400, 4],
      ['often', 400, 7],
      ['just', 400, 4],
    ]);
    expect(over.map(({ job }) => job.name)).toEqual(['ends']);
    expect(pending.all().map(({ row }) => [row.job, row.next_at])).toEqual([
      ['early', 400],
      ['often', 400],
      ['later', 400],
      ['just', 400],
      ['other', 100],
    ]);
    pending.release('db');
    expect(pending.postpone('db', rowOf('probe', { next_at: 900 })), 'they run at once').toEqual({
      moved: [],
      over: [],
    });
    expect(due(50)).toHaveLength(5);
  });

  it('never wait longer than their longest wait, even after the clock was set back', () => {
    const { pending } = waiting({ job: 'a', next_at: 600 }, { job: 'b', next_at: 601 });
    pending.clockSet(0);
    expect(pending.all().map(({ row }) => row.next_at)).toEqual([600, 600]);
  });

  it('are replaced by a newer run of the same job, and can be removed', () => {
    const { pending } = waiting({ job: 'a' });
    pending.add({ job: jobOf('a'), row: rowOf('a', { next_at: 5 }) });
    expect(pending.all()).toHaveLength(1);
    expect(pending.find('a')?.row.next_at).toBe(5);
    pending.delete('a');
    expect(pending.all()).toEqual([]);
  });
});

it.each<[RunOutcome['state'], boolean]>([
  ['owed', true],
  ['delivered', true],
  ['unchanged', true],
  ['superseded', true],
  ['quarantined', true],
  ['dead', true],
  ['waiting_quota', true],
  ['waiting_login', true],
  ['failed', false],
  ['busy', false],
  ['on_hold', false],
  ['stopped', false],
])('a run that ends as %s has read its source: %s', (state, expected) => {
  const nothing = { job: 'j', rows: 0, bytes: 0, requests: 0, milliseconds: 0, state };
  expect(isRead({ ...nothing, run: 'r' })).toBe(expected);
  expect(isRead(nothing)).toBe(false);
});
