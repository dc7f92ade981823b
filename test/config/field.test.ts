import { expect, it } from 'vitest';
import {
  duration,
  group,
  isComplete,
  megabytes,
  percentage,
  readOptions,
  readWritten,
  seconds,
} from '../../src/config/options/field.ts';
import { readDocument } from '../../src/config/text/document.ts';
import { Faults } from '../../src/config/text/faults.ts';
import type { Part } from '../../src/config/text/variables.ts';
import { option } from '../../src/sdk/option.ts';

const faults = new Faults(readDocument('sluice.yaml', 'a: 1'));
const partOf = (value: unknown): Part => ({ path: '', value, resolved: new Map(), broken: new Set() });

const about = 'An option.';
const bounds = { column: option.text({ required: true, about }), most_rows: option.integer({ about, default: 5 }) };
const set = {
  base_url: option.text({ required: true, about }),
  stall_timeout_seconds: seconds(option.integer({ about, minimum: 1, default: 60 })),
  limit_megabytes: megabytes(option.integer({ about })),
  remind: duration(option.text({ about, pattern: '^\\d+[mh]$', default: '1h' })),
  quota_left: percentage(option.text({ about, pattern: '^\\d+%$' })),
  bounds: group(bounds, { about }),
};

it('options have the names and units that the code declares', () => {
  const written = {
    base_url: 'a',
    stall_timeout_seconds: 2,
    limit_megabytes: 3,
    remind: '5m',
    quota_left: '50%',
    bounds: { column: 'b', most_rows: 7 },
  };
  const read = {
    baseUrl: 'a',
    stallTimeoutMs: 2000,
    limitBytes: 3_000_000,
    remindMs: 300_000,
    quotaLeft: 0.5,
    bounds: { column: 'b', mostRows: 7 },
  };
  expect(readOptions(set, partOf(written), faults)).toStrictEqual(read);
  expect(readWritten(set, partOf(written), faults)).toStrictEqual(read);
});

it('missing or invalid options get their default, or are omitted if they have none', () => {
  const defaults = { stallTimeoutMs: 60_000, remindMs: 3_600_000 };
  for (const written of [{}, null, 'text', { stall_timeout_seconds: 0, remind: 5, limit_megabytes: '3', stray: 1 }]) {
    expect(readOptions(set, partOf(written), faults)).toStrictEqual(defaults);
    expect(readWritten(set, partOf(written), faults)).toStrictEqual({});
  }
});

it('a map has no value if a required option is invalid, but keeps its other options if an optional one is', () => {
  const boundsOf = (written: unknown) => readWritten(set, partOf({ bounds: written }), faults);
  expect(boundsOf({ most_rows: 7 })).toStrictEqual({});
  expect(boundsOf({ column: 1 })).toStrictEqual({});
  expect(boundsOf([])).toStrictEqual({});
  expect(boundsOf({ column: 'b', most_rows: 'x' })).toStrictEqual({ bounds: { column: 'b', mostRows: 5 } });
});

it('options are complete once every required one has a value', () => {
  expect(isComplete(set, readOptions(set, partOf({}), faults))).toBe(false);
  expect(isComplete(set, readOptions(set, partOf({ base_url: 'a' }), faults))).toBe(true);
});
