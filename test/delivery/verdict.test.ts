import { afterEach, describe, expect, it } from 'vitest';
import { type ResultCandidate, verdictOf } from '../../src/delivery/verdict.ts';
import { GuardCounters } from '../../src/guards/guard-counters.ts';
import { batchOf } from '../../src/sdk/batch.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { cleanUp, newStore, place, spool } from '../state/fixtures.ts';
import { destinationAt, jobFor } from './fixtures.ts';

afterEach(cleanUp);

const destination = destinationAt(place.url, { uploadLimitBytes: 10 });
const day = 86_400_000;

function candidate(given: Partial<ResultCandidate['payload']>, more: Parameters<typeof jobFor>[2] = {}) {
  const payload = { rows: 1, bytes: 5, sha256: 'a', format: 'csv' as const, asOf: noon, ...given };
  return { job: jobFor(destination, 'i', more), payload };
}

describe('a result', () => {
  it('may be as large as the upload limit, but not larger', async () => {
    expect(await verdictOf(candidate({ bytes: 10 }), undefined)).toEqual({ state: 'owed' });
    expect(await verdictOf(candidate({ bytes: 11 }), undefined)).toMatchObject({
      state: 'failed',
      problem: { code: 'PAYLOAD_TOO_LARGE' },
    });
  });

  it("is as old as its run's logical time, if that differs from the start of its extract", async () => {
    const guards = { newest: { column: 'day', withinMs: day } };
    const columns = [{ name: 'day', type: 'timestamptz' as const }];
    const watch = GuardCounters.of({ guards }, noon)!;
    watch.take(batchOf(columns, [[new Date(noon).toISOString()]]));
    const late = { ...candidate({ asOf: noon + 9 * day, columns }, { guards }), watch };
    expect(await verdictOf(late, undefined)).toMatchObject({ state: 'quarantined', guards: ['newest'] });
    expect(await verdictOf({ ...late, logicalAt: noon }, undefined)).toEqual({ state: 'owed' });
  });

  it('that a guard refuses is owed if a user has approved the same bytes, and only then', async () => {
    const store = await newStore({ clock: new SteppingClock() });
    const run = await store.runs.begin({ job: 'job-i', origin: 'schedule' });
    const payload = spool(store, { run, text: 'a', asOf: noon });
    const owing = {
      run,
      job: 'job-i',
      destination: place,
      instance: 'i',
      payload,
      mediaType: 'text/csv',
      always: false,
    };
    const { id } = await store.quarantine.put(owing, { findings: '[]', message: 'too few rows' });
    await store.quarantine.approve(id, { who: 'ada@desk', why: '' });
    const guards = { rows: { minimum: 5 } };
    const known = { store, key: { url: place.url, instance: 'i' } };
    const stateOf = async (sha256: string) => (await verdictOf(candidate({ sha256 }, { guards }), known)).state;
    expect([await stateOf(payload.sha256), await stateOf('b')]).toEqual(['owed', 'quarantined']);
  });
});
