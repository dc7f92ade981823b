import { describe, expect, it } from 'vitest';
import { RetentionAge } from '../../src/kept-rows/retention-age.ts';
import type { Column } from '../../src/sdk/column.ts';
import fc, { runsOf } from '../property.ts';
import { noon, Rig } from './rig.ts';

const age = (type: Column['type'], within: { count: number; unit: 'hours' | 'days' }, zone = 'UTC') =>
  new RetentionAge({ name: 'at', type }, { within, zone, now: noon });

describe("a row's age", () => {
  it("is exact to a timestamp's last digit, in any time zone", () => {
    const twoHours = age('timestamptz', { count: 2, unit: 'hours' });
    for (const [text, isOld] of [
      ['2026-06-15T10:00:00Z', false],
      ['2026-06-15T10:00:00.000001Z', false],
      ['2026-06-15T09:59:59.999999Z', true],
      ['2026-06-15T12:00:00+02:00', false],
      ['2026-06-15T11:59:59.999+02:00', true],
      ['2026-06-15 04:00:00-06:00', false],
      ['infinity', false],
      ['-infinity', true],
    ] as const) {
      expect([text, twoHours.isOld(text)]).toEqual([text, isOld]);
    }
  });

  it("is counted from the end of the day for dates, and in the job's time zone for times without one", () => {
    const oneDay = age('date', { count: 1, unit: 'days' }, 'Asia/Tokyo');
    expect([oneDay.isOld('2026-06-14'), oneDay.isOld('2026-06-13')]).toEqual([false, true]);
    const local = age('timestamp', { count: 1, unit: 'days' }, 'Asia/Tokyo');
    expect([
      local.isOld('2026-06-14T21:00:00'),
      local.isOld('2026-06-14T20:59:59.9'),
      local.isOld('2026-06-14 21:00'),
    ]).toEqual([false, true, false]);
  });

  it('is counted in calendar days, even if a clock change makes one shorter', () => {
    const now = Date.parse('2026-03-29T10:00:00Z');
    const oneDay = new RetentionAge(
      { name: 'at', type: 'timestamptz' },
      { within: { count: 1, unit: 'days' }, zone: 'Europe/Berlin', now },
    );
    expect([oneDay.isOld('2026-03-28T11:00:00Z'), oneDay.isOld('2026-03-28T10:59:59Z')]).toEqual([false, true]);
  });

  it("can't be determined from a number, or from a string that isn't a time", () => {
    expect(() => age('integer', { count: 1, unit: 'days' })).toThrow(expect.objectContaining({ code: 'SET_AGE_TYPE' }));
    expect(() => age('text', { count: 1, unit: 'days' }).isOld('yesterday')).toThrow(
      expect.objectContaining({ code: 'SET_AGE', family: 'row' }),
    );
  });
});

const dated: Column[] = [
  { name: 'id', type: 'integer' },
  { name: 'day', type: 'date' },
];

describe('kept rows', () => {
  it("are deleted if they're too old, but stay if they have no date", async () => {
    const rig = new Rig({
      disposition: 'merge',
      key: ['id'],
      retain: { column: 'day', within: { count: 30, unit: 'days' } },
    });
    const told = { columns: dated };
    expect(
      await rig.run(
        [
          [1, '2026-05-16'],
          [2, '2026-05-15'],
          [3, null],
        ],
        told,
      ),
    ).toEqual([
      ['1', '2026-05-16'],
      ['3', null],
    ]);
    expect(rig.manifest).toMatchObject({ rows: 2, oldest: '2026-05-16' });
    const sameDay = rig.open({ asOf: noon + 3_600_000 });
    sameDay.begin(told);
    expect(sameDay.isIdle).toBe(true);
    await sameDay.close();
    const nextDay = rig.open({ asOf: noon + 86_400_000 });
    nextDay.begin(told);
    expect(nextDay.isIdle).toBe(false);
    await nextDay.close();
    expect(await rig.run([], { ...told, asOf: noon + 86_400_000 })).toEqual([['3', null]]);
  });

  it('are limited to the newest rows by a column; among equally new rows, those with a higher key are kept', async () => {
    const rig = new Rig({ disposition: 'merge', key: ['id'], retain: { column: 'day', rows: 3 } }, { arenaBytes: 64 });
    const told = { columns: dated };
    expect(
      await rig.run(
        [
          [1, '2026-01-01'],
          [2, '2026-01-02'],
          [3, null],
        ],
        told,
      ),
    ).toHaveLength(3);
    expect(
      await rig.run(
        [
          [4, '2026-01-02'],
          [5, '2026-01-02'],
          [6, '2026-01-01'],
        ],
        told,
      ),
    ).toEqual([
      ['2', '2026-01-02'],
      ['4', '2026-01-02'],
      ['5', '2026-01-02'],
    ]);
  });

  it('are limited to the last rows if rows are only appended', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(9), { maxLength: 12 }),
        fc.integer({ min: 1, max: 15 }),
        async (counts, rows) => {
          const rig = new Rig({ disposition: 'append', key: [], retain: { rows } });
          const all: number[] = [];
          for (const count of counts) {
            const come = Array.from({ length: count }, (_, i) => all.length + i);
            all.push(...come);
            const got = await rig.run(
              come.map((id) => [id, null]),
              { columns: dated },
            );
            expect(got.map(([id]) => Number(id))).toEqual(all.slice(-rows));
          }
        },
      ),
      { numRuns: runsOf(15) },
    );
  });
});
