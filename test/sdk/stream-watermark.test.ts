import { describe, expect, it } from 'vitest';
import type { Fields, StreamData } from '../../src/sdk/service/description.ts';
import { Moment } from '../../src/sdk/service/moment.ts';
import { isLater, StreamWatermark } from '../../src/sdk/service/stream-watermark.ts';

const noon = Temporal.ZonedDateTime.from('2026-06-15T12:00:00[UTC]');
const start = new Moment(noon, false);
const at = (clock: string) => `2026-06-15T${clock}:00Z`;

/** A run that starts at noon with what the last run stored. */
function progress(
  incremental: NonNullable<StreamData['incremental']>,
  watermark?: object,
  until?: Moment,
): StreamWatermark {
  const stream = { request: { path: '/x' }, records: 'data', columns: { changed: 'timestamptz' }, incremental };
  const text = watermark === undefined ? undefined : JSON.stringify(watermark);
  return new StreamWatermark(stream as unknown as StreamData, { start, watermark: text, until });
}

const record = (clock: string, id = 1): Fields => ({ id, changed: at(clock) });
const markOf = (one: StreamWatermark) => JSON.parse(one.watermark() ?? 'null');

describe('the watermark of a stream with late records', () => {
  const settling = { column: 'changed', key: 'id', settles: '10m' } as const;

  it.each<[string, string | undefined, readonly string[], string]>([
    ['is the newest record if no later one can appear before it', undefined, ['11:00', '11:40'], '11:40'],
    ['stays before records that may still appear late', undefined, ['11:40', '11:59'], '11:50'],
    ['includes records exactly at the limit', undefined, ['11:50'], '11:50'],
    ['moves from the last run to the limit', '11:45', ['11:59'], '11:50'],
    ['never goes back behind the last run, whose limit was another', '11:55', ['11:59'], '11:55'],
  ])('%s', (_, before, records, expected) => {
    const one = progress(settling, before === undefined ? undefined : { since: at(before) });
    one.note(records.map((clock) => record(clock)));
    expect(markOf(one).since).toBe(at(expected));
  });

  it('keeps the keys at the edge only until the edge moves', () => {
    const before = { since: at('11:55'), edge: ['1'] };
    const same = progress(settling, before);
    same.note([record('11:59', 2)]);
    expect(markOf(same)).toEqual(before);
    const further = progress(settling, { since: at('11:30'), edge: ['1'] });
    further.note([record('11:40', 2)]);
    expect(markOf(further)).toEqual({ since: at('11:40'), edge: ['2'] });
  });
});

it('a watermark has no keys if more than 10,000 records have the newest time', () => {
  const edgeOf = (count: number) => {
    const one = progress({ column: 'changed', key: 'id' });
    one.note(Array.from({ length: count }, (_, id) => record('11:00', id)));
    return markOf(one).edge?.length;
  };
  expect([edgeOf(10_000), edgeOf(10_001)]).toEqual([10_000, undefined]);
});

it("a watermark keeps the resume tokens of parts that this run didn't read", () => {
  const one = progress({ state: 'next' }, { states: { a: 'a1', b: 'b1' } });
  one.noteState('b', { body: { next: 'b2' }, headers: {} } as never);
  expect([one.state('a'), one.state('b')]).toEqual(['a1', 'b1']);
  expect(markOf(one)).toEqual({ states: { a: 'a1', b: 'b2' } });
});

describe('a known record', () => {
  const keyed = { column: 'changed', key: 'id' } as const;
  const before = { since: at('11:00'), edge: ['1'] };
  const known = (one: StreamWatermark, what: Fields) => one.isKnown(what, one.since());

  it('is older than the edge, or at the edge with a known key', () => {
    const one = progress(keyed, before);
    expect(known(one, record('10:59'))).toBe(true);
    expect(known(one, record('11:00', 1))).toBe(true);
    expect(known(one, record('11:00', 2))).toBe(false);
    expect(known(one, record('11:01', 1))).toBe(false);
    expect(known(one, { id: 1 })).toBe(false);
  });

  it("can't be at the edge if records have no key, or if the look-back requests them again", () => {
    expect(known(progress({ column: 'changed' }, before), record('11:00'))).toBe(false);
    const looking = progress({ ...keyed, look_back: '10m' }, before);
    expect(known(looking, record('11:00'))).toBe(false);
    expect(known(looking, record('10:50'))).toBe(false);
    expect(known(looking, record('10:49'))).toBe(true);
  });

  it('can also be at or after the end of the range', () => {
    const one = progress(keyed, before, new Moment(noon.subtract({ minutes: 30 }), false));
    expect([known(one, record('11:29')), known(one, record('11:30'))]).toEqual([false, true]);
  });

  it("can't exist in the first run, or if the watermark is damaged", () => {
    const first = progress(keyed);
    expect(first.since()).toBeUndefined();
    expect(known(first, record('10:00'))).toBe(false);
    expect(first.watermark()).toBeUndefined();
    const broken = new StreamWatermark({ incremental: keyed } as unknown as StreamData, {
      start,
      watermark: '{"since":',
    });
    expect(broken.since()).toBeUndefined();
  });
});

it('values are compared as instants in any time zone, as numbers of any length, or otherwise as strings', () => {
  expect(isLater('2026-06-15T12:00:00+02:00', at('11:00'), 'UTC')).toBe(false);
  expect(isLater('2026-06-15T12:00:00-02:00', at('13:00'), 'UTC')).toBe(true);
  expect(isLater('10', '9', 'UTC')).toBe(true);
  expect(isLater('9007199254740993', '9007199254740992', 'UTC')).toBe(true);
  expect(isLater('10.25', '9.5', 'UTC')).toBe(true);
  expect(isLater('10.5', '10.50', 'UTC')).toBe(false);
  expect(isLater('b10', 'b9', 'UTC')).toBe(false);
});
