import { describe, expect, it } from 'vitest';
import type { Value } from '../../src/sdk/batch.ts';
import type { ColumnType } from '../../src/sdk/column.ts';
import fc, { runsOf } from '../property.ts';
import { bytesBatch, columnsOf, computed, outcome, prepare, problemOf } from './rig.ts';

const types: Record<string, ColumnType> = { id: 'integer', country: 'text', amount: 'decimal', note: 'text' };
const row: readonly Value[] = [7, 'De', '12.50', null];
const value = (expression: string | object, more: Record<string, ColumnType> = types, cells = row) =>
  computed(expression, more, cells);

function kept(expression: string, rows: readonly (readonly Value[])[], more = types): number {
  const columns = columnsOf(more);
  return outcome(prepare('filter', expression, columns), bytesBatch(columns, rows)).length;
}

describe('an expression', () => {
  it.each([
    ['lower(country)', 'de'],
    ['upper(country) + "!"', 'DE!'],
    ['trim("  x ")', 'x'],
    ['replace(country, "e", "$&")', 'D$&'],
    ['substring("a😀bc", 1, 3)', '😀b'],
    ['substring("abc", 1)', 'bc'],
    ['substring("abc", -3, 99)', 'abc'],
    ['concat(country, "-", string(id))', 'De-7'],
    ['id * 2 + 1', '15'],
    ['-id / 2', '-3'],
    ['id > 5 ? "many" : "few"', 'many'],
    ['country in ["De", "At"]', 'true'],
    ['country.startsWith("D")', 'true'],
    ['size(country)', '2'],
    ['uint(7)', '7'],
    ['duration("90m")', '5400s'],
    ['b"abc"', 'YWJj'],
    ['0.1 + 0.2', '0.30000000000000004'],
    ['int("42") + 1', '43'],
    ['double(id) / 2.0', '3.5'],
    ['string(amount)', '12.50'],
    ['int(amount)', '12'],
    ['double(amount)', '12.5'],
    ['decimal("1.10") + decimal(id)', '8.10'],
    ['row["country"]', 'De'],
    ['row.country + "x"', 'Dex'],
    ['[1, 2].map(i, i + id)', '[8,9]'],
    ['{"a": amount, "b": -amount}', '{"a":12.50,"b":-12.50}'],
  ])('%s returns %s', (expression, expected) => {
    expect(value(expression)).toBe(expected);
  });

  it.each([
    ['amount + 1', '13.50'],
    ['amount + 0.005', '12.505'],
    ['amount * 1.19', '14.8750'],
    ['round(amount * 1.19, 2)', '14.88'],
    ['round(-amount)', '-13'],
    ['round(amount, -1)', '10'],
    ['round(amount, 4)', '12.5000'],
    ['floor(-amount)', '-13'],
    ['floor(decimal("2.00"))', '2'],
    ['floor(decimal("-2.00"))', '-2'],
    ['ceil(decimal("2.00"))', '2'],
    ['ceil(decimal("-2.00"))', '-2'],
    ['ceil(amount)', '13'],
    ['abs(-amount)', '12.50'],
    ['amount / 4', '3.125'],
    ['amount / 5', '2.50'],
    ['amount / 3', '4.1666666667'],
    ['1 / amount', '0.08'],
    ['amount % 5', '2.50'],
    ['-amount', '-12.50'],
    ['amount - amount', '0.00'],
    ['round(2.345, 2)', '2.35'],
  ])('calculates with exact decimals: %s is %s', (expression, expected) => {
    expect(value(expression)).toBe(expected);
  });

  it('keeps all digits of large decimals', () => {
    const big = '12345678901234567890123456789012345678.99';
    expect(value('amount + 0.01', types, [1, 'x', big, null])).toBe('12345678901234567890123456789012345679.00');
    expect(value('amount * amount', types, [1, 'x', '12345678901234.5', null])).toBe('152415787532386691205623990.25');
  });

  it('compares decimals by value, with ints, floats and each other', () => {
    expect(
      kept('amount == 12.5 && amount >= 12 && 13 > amount && amount != 12 && amount < decimal("12.51")', [row]),
    ).toBe(1);
    expect(kept('amount > 9007199254740993', [[1, 'x', '9007199254740993.1', null]])).toBe(1);
    expect(kept('amount > 9007199254740993', [[1, 'x', '9007199254740993.0', null]])).toBe(0);
  });

  it('adds and compares decimals exactly, like integers in the smallest unit', () => {
    const decimal = fc.tuple(fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }), fc.integer({ min: 0, max: 9 }));
    const two = { a: 'decimal', b: 'decimal' } as const;
    const text = ([units, scale]: readonly [bigint, number]) => {
      const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0');
      const point = digits.length - scale;
      return `${units < 0n ? '-' : ''}${digits.slice(0, point)}${scale > 0 ? `.${digits.slice(point)}` : ''}`;
    };
    fc.assert(
      fc.property(decimal, decimal, ([a, as], [b, bs]) => {
        const cells = [text([a, as]), text([b, bs])];
        const scale = Math.max(as, bs);
        const [left, right] = [a * 10n ** BigInt(scale - as), b * 10n ** BigInt(scale - bs)];
        expect(computed('a + b', two, cells)).toBe(text([left + right, scale]));
        expect(computed('a - b', two, cells)).toBe(text([left - right, scale]));
        expect(computed('a * b', two, cells)).toBe(text([a * b, as + bs]));
        expect(computed('a < b', two, cells)).toBe(String(left < right));
      }),
      { numRuns: runsOf(150) },
    );
  });

  it('reads timestamps to the millisecond, in UTC or in a time zone', () => {
    const at: Record<string, ColumnType> = { at: 'timestamptz' };
    const cells = ['2024-03-31T01:30:00.123456+02:00'];
    expect(computed('string(at)', at, cells)).toBe('2024-03-30T23:30:00.123Z');
    expect(computed('year(at) * 10000 + month(at) * 100 + day(at)', at, cells)).toBe('20240330');
    expect(computed('date(at, "Europe/Berlin")', at, cells)).toBe('2024-03-31');
    expect(computed('local(at, "America/New_York")', at, cells)).toBe('2024-03-30T19:30:00');
    expect(computed('hour(at, "Asia/Tokyo")', at, cells)).toBe('8');
    expect(computed('at + duration("1h")', at, cells)).toBe('2024-03-31T00:30:00.123Z');
    expect(computed('at < timestamp("2024-03-31T00:00:00Z") && at < now()', at, cells)).toBe('true');
    expect(computed('month(d)', { d: 'date' }, ['2024-02-29'])).toBe('2');
  });

  it('reads JSON exactly and without touching prototypes', () => {
    const doc: Record<string, ColumnType> = { doc: 'json' };
    const cells = [
      '{"price": 12.10, "n": 9223372036854775807, "tags": ["a"], "constructor": "c", "__proto__": {"x": 1}}',
    ];
    const typed = (expression: string, type: string) => computed({ expression, type }, doc, cells);
    expect(typed('doc.price * 2', 'decimal')).toBe('24.20');
    expect(typed('doc.n', 'integer')).toBe('9223372036854775807');
    expect(typed('doc["constructor"]', 'text')).toBe('c');
    expect(typed('doc.tags[0]', 'text')).toBe('a');
    expect(computed('has(doc.price) && !has(doc.cost) && doc.price > 12 && "a" in doc.tags', doc, cells)).toBe('true');
    expect(computed('{"p": doc.price, "all": doc.tags}', doc, cells)).toBe('{"p":12.10,"all":["a"]}');
  });

  it('passes a plain column reference through as its original bytes', () => {
    const columns = columnsOf({ at: 'timestamptz' });
    const batch = bytesBatch(columns, [['2024-03-31T01:30:00.123456+02:00']]);
    const shaped = prepare('compute', { copy: 'at' }, columns).apply(batch)!;
    expect(shaped.cells[1]).toBe(batch.cells[0]);
  });
});

describe('null in an expression', () => {
  it('makes the result null, and drops the row in a filter', () => {
    expect(value('note + "x"')).toBe(null);
    expect(kept('note == "x"', [row])).toBe(0);
    expect(kept('!(note == "x")', [row])).toBe(0);
  });

  it('follows three-valued logic: the other side of || or && may decide the result', () => {
    expect(kept('note == "x" || id == 7', [row])).toBe(1);
    expect(kept('id == 7 || note == "x"', [row])).toBe(1);
    expect(value('note == "x" && id == 8')).toBe('false');
    expect(value('note == "x" && id == 7')).toBe(null);
    expect(value('[note == "x", true].exists(b, b)')).toBe(null);
  });

  it("doesn't matter in a branch that isn't evaluated", () => {
    expect(value('id == 7 ? country : note')).toBe('De');
  });

  it('can be tested, replaced and created', () => {
    expect(value('is_null(note) && !is_null(country)')).toBe('true');
    expect(value('coalesce(note, country)')).toBe('De');
    expect(value('coalesce(note, row.note, "none")')).toBe('none');
    expect(value('coalesce(amount, 0)', types, [1, 'x', null, null])).toBe('0');
    expect(value('coalesce(note, note)')).toBe(null);
    expect(value('null_if(country, "De")')).toBe(null);
    expect(value('null_if(country, "")')).toBe('De');
  });

  it('is also found in JSON', () => {
    expect(computed({ expression: 'coalesce(doc.a, "none")', type: 'text' }, { doc: 'json' }, ['{"a": null}'])).toBe(
      'none',
    );
  });
});

describe("an expression's evaluation", () => {
  const fault = (expression: string, more = types) => problemOf(() => prepare('filter', expression, columnsOf(more)));

  it("reports an invalid expression before the first row, with the error's position", () => {
    expect(fault('id >').message).toContain('at character 5');
    expect(fault('id + 1').message).toContain('returns int, not true or false');
    expect(fault('id == country')).toMatchObject({ code: 'EXPRESSION_INVALID', family: 'config' });
    expect(fault('id == country').message).toContain('no such overload: int == string, at character 1');
  });

  it('suggests the closest column or function', () => {
    expect(fault('contry == "DE"')).toMatchObject({ next: 'did you mean "country"?' });
    expect(fault('contry == "DE"').allowed).toContain('amount (decimal)');
    expect(fault('lowre(country) == "de"')).toMatchObject({ next: 'did you mean "lower"?' });
  });

  it('explains how to use null and columns named like reserved words', () => {
    const odd: Record<string, ColumnType> = { type: 'text', 'total amount': 'integer', row: 'text' };
    expect(fault('type == "A"', odd).next).toContain('row["type"]');
    expect(kept('row["type"] == "A" && row["total amount"] > 1 && row["row"] == "r"', [['A', 2, 'r']], odd)).toBe(1);
    expect(fault('country == null').next).toContain('is_null');
  });

  it('rejects has() on a column, because every row has every column', () => {
    expect(fault('has(row.note)').message).toContain('use is_null() instead');
  });

  it("reports an error in a row with the row's number, the column, the expression and the values", () => {
    const columns = columnsOf(types);
    const batch = bytesBatch(columns, [row, [0, 'x', '1', null]]);
    const prepared = prepare('compute', { share: 'amount / id' }, columns);
    const problem = problemOf(() => prepared.apply(batch, 1000));
    expect(problem).toMatchObject({ code: 'EXPRESSION_FAILED', family: 'row', where: { row: 1002, column: 'share' } });
    expect(problem.message).toContain('"amount / id" failed: division by zero');
    expect(problem.seen).toBe('amount = "1", id = "0"');
  });

  it.each([
    ['id + 9223372036854775807', 'overflow'],
    ['id * 9223372036854775807', 'overflow'],
    ['-(id - 8 - 9223372036854775807)', 'overflow'],
    ['int(amount * 1000000000000000000000)', 'overflow'],
    ['id / 0', 'division by zero'],
    ['amount % 0', 'modulo by zero'],
    ['round(amount, 101)', 'at most 100 digits'],
    ['decimal(country)', 'cannot read'],
    ['date(now(), "Mars/Olympus")', 'unknown time zone'],
    ['{"a": type(1)}', 'cannot be written as JSON'],
    ['{"a": 0.0 / 0.0}', 'JSON has no NaN'],
    ['uint(9223372036854775807) + uint(1)', 'overflow'],
  ])('fails the run for %s: %s', (expression, expected) => {
    expect(problemOf(() => value(expression)).message).toContain(expected);
  });

  it('rejects an integer cell beyond 64 bits, and an invalid decimal', () => {
    expect(problemOf(() => value('id + 1', types, ['9223372036854775808', 'x', '1', null])).message).toContain(
      '64 bits',
    );
    expect(problemOf(() => value('amount + 1', types, [1, 'x', 'NaN', null])).message).toContain(
      'not a finite decimal',
    );
  });

  it("reports the row if a result doesn't fit the declared type", () => {
    expect(value({ expression: 'amount', type: 'text' })).toBe('12.50');
    expect(value({ expression: 'string(id)', type: 'decimal' })).toBe('7');
    const bad = () => value({ expression: 'country', type: 'integer' });
    expect(problemOf(bad)).toMatchObject({ code: 'EXPRESSION_FAILED', where: { row: 1, column: 'it' } });
    const never = () => value({ expression: 'id > 1', type: 'date' });
    expect(problemOf(never)).toMatchObject({ code: 'COMPUTE_TYPE_IMPOSSIBLE', family: 'config' });
    expect(problemOf(() => computed('doc.a', { doc: 'json' }, ['{}'])).code).toBe('COMPUTE_TYPE_UNKNOWN');
  });
});

describe('the sandbox', () => {
  it.each([
    'country.constructor == "x"',
    'country["constructor"] == "x"',
    'row.constructor == "x"',
    'row["constructor"] == "x"',
    'row["__proto__"] == "x"',
    'row.__proto__ == "x"',
    'row.toString() == "x"',
    '__proto__ == "x"',
    'constructor == "x"',
    'toString == "x"',
    'globalThis == "x"',
    'process.exit(1) == 1',
    'amount.big == 1',
    'amount.constructor == 1',
    'lower.constructor == 1',
    'eval("1") == 1',
    'now().constructor == 1',
    'now()["__proto__"] == now()',
    'duration("1s").seconds == 1',
    'cel.bind == 1',
    'doc.__proto__ == 1',
    'doc["__proto__"] == 1',
    'doc[country] == 1',
    'dyn(now())[country] == 1',
    '([doc] + [now()])[0][country] == 1',
    '(id > 1 ? doc : now())["__proto__"] == 1',
  ])('rejects %s before a row is read', (expression) => {
    expect(problemOf(() => prepare('filter', expression, columnsOf({ ...types, doc: 'json' }))).code).toBe(
      'EXPRESSION_INVALID',
    );
  });

  it.each(['constructor', '__proto__', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'])(
    'finds no property named %s if the name comes from the data',
    (name) => {
      const more: Record<string, ColumnType> = { key: 'text', doc: 'json' };
      for (const expression of ['row[key] == "x"', '{"a": 1}[key] == 1'])
        expect(problemOf(() => kept(expression, [[name, '{"list": [{}]}']], more)).code).toBe('EXPRESSION_FAILED');
    },
  );

  it("doesn't change the process's global objects", () => {
    computed('doc', { doc: 'json' }, ['{"__proto__": {"polluted": true}}']);
    kept('has(doc.a)', [['{"__proto__": {"polluted": true}, "a": 1}']], { doc: 'json' });
    expect('polluted' in {}).toBe(false);
  });
});
