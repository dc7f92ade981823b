import { afterEach, describe, expect, it } from 'vitest';
import type { AlertRow } from '../../src/state/tables.ts';
import { SteppingClock } from '../clocks.ts';
import { countStatements } from './counted-statements.ts';
import { cleanUp, newStore } from './fixtures.ts';

afterEach(cleanUp);

const row = (i: number): AlertRow => ({
  ...{ subject: `job:job${i}`, occasion: i % 2 === 0 ? 'failure' : 'stale', group_key: 'g', cause: 'c' },
  ...{ level: 1, reported_level: 0, since: i, opened_at: i, changed_at: i, cleared_at: null, seen_at: i },
  ...{ what: `failure ${i}`, code: null },
});

describe('the alerts of a thousand jobs', () => {
  it('change in a few statements, because the whole state is locked meanwhile', async () => {
    const { alerts } = await newStore({ clock: new SteppingClock() });
    const { counted, statements } = countStatements(alerts);
    const nothing = { put: [], drop: [], groups: [], dropGroups: [], tell: [] };
    const rows = Array.from({ length: 1001 }, (_, i) => row(i));
    await counted.change({ ...nothing, put: rows });
    expect(await alerts.all()).toEqual(rows.toSorted((a, b) => a.opened_at - b.opened_at));
    const later = rows.map((one, i) => ({
      ...one,
      ...{ group_key: 'h', cause: 'd', level: 2, reported_level: 1, since: i + 1, opened_at: i + 2, changed_at: i + 3 },
      ...{ cleared_at: i + 4, seen_at: i + 5, what: 'later', code: 'LATER' },
    }));
    await counted.change({ ...nothing, put: later });
    expect(await alerts.all()).toEqual(later);
    await counted.change({ ...nothing, drop: later.slice(1) });
    expect(await alerts.all()).toEqual(later.slice(0, 1));
    expect(statements()).toBeLessThan(20);
  });
});
