import { describe, expect, it } from 'vitest';
import { batchOf, batchText } from '../../src/sdk/batch.ts';
import type { PreparedExpansion } from '../../src/transforms/transform.ts';
import { bytesBatch, columnsOf, outcome, problemOf, transformById } from './rig.ts';

const columns = columnsOf({ id: 'integer', lines: 'json', note: 'text' });

const prepare = (given: unknown, types = columns) =>
  transformById('explode').prepare(given, types) as PreparedExpansion;

const exploded = (given: unknown, rows: readonly (readonly (string | null)[])[]) => {
  const out = outcome(prepare(given), bytesBatch(columns, rows));
  expect(outcome(prepare(given), batchOf(columns, rows))).toEqual(out);
  return out;
};

describe('explode', () => {
  it('makes a row of each item, and repeats the other columns', () => {
    const rows = [
      ['1', '["a", "b,]\\"}", "\\u00e9"]', 'x'],
      ['2', ' [ 1.50 , true,{"a": [1.0, {}]},[] ] ', null],
    ];
    expect(exploded('lines', rows)).toEqual([
      ['1', 'a', 'x'],
      ['1', 'b,]"}', 'x'],
      ['1', 'é', 'x'],
      ['2', '1.50', null],
      ['2', 'true', null],
      ['2', '{"a":[1.0,{}]}', null],
      ['2', '[]', null],
    ]);
    expect(prepare('lines').columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'id integer',
      'lines text',
      'note text',
    ]);
  });

  it('reads the members of items by path, in place of the list, with all digits', () => {
    const given = { column: 'lines', columns: { sku: 'sku', qty: 'amount.qty', dot: "['a.b']", second: 'tags[1]' } };
    const lines = [
      '{"sku": "A", "amount": {"qty": 12345678901234567890.10}, "a.b": 1e-07, "tags": ["x", "y"]}',
      '{"sku": null, "amount": 5, "constructor": 1}',
      'null',
    ];
    expect(prepare(given).columns.map(({ name }) => name)).toEqual(['id', 'sku', 'qty', 'dot', 'second', 'note']);
    expect(exploded(given, [['1', `[${lines.join(',')}]`, 'x']])).toEqual([
      ['1', 'A', '12345678901234567890.10', '1e-07', 'y', 'x'],
      ['1', null, null, null, null, 'x'],
      ['1', null, null, null, null, 'x'],
    ]);
    expect(exploded({ column: 'lines', columns: { own: 'constructor' } }, [['1', '[{}]', null]])).toEqual([
      ['1', null, null],
    ]);
  });

  it('keeps a row without items, or drops it', () => {
    const rows = [
      ['1', '[]', 'a'],
      ['2', null, 'b'],
      ['3', 'null', 'c'],
      ['4', '[ ]', 'd'],
      ['5', '[null]', 'e'],
    ];
    expect(exploded('lines', rows)).toEqual(rows.map(([id, , note]) => [id, null, note]));
    expect(exploded({ column: 'lines', empty: 'drop' }, rows)).toEqual([['5', null, 'e']]);
  });

  it('names cells by the first item', () => {
    const given = { column: 'lines', columns: { price: 'Unit price', day: 'Day' }, header_from: 'first_item' };
    const rows = [
      ['1', '[["Day","Unit price","x"],["Mon",1.50,2],["Tue"],[]]', null],
      ['2', '[["Unit price","Day"],[7,"Wed"]]', null],
      ['3', '[["Unit price","Day"]]', null],
      ['4', '[]', null],
    ];
    expect(exploded(given, rows)).toEqual([
      ['1', '1.50', 'Mon', null],
      ['1', null, 'Tue', null],
      ['1', null, null, null],
      ['2', '7', 'Wed', null],
      ['3', null, null, null],
      ['4', null, null, null],
    ]);
  });

  it('names cells by another column, whose items can be objects', () => {
    const given = (path?: string) => ({ column: 'lines', columns: { b: 'b' }, header_from: { column: 'note', path } });
    expect(exploded(given(), [['1', '[[1,2],[3,4]]', '["a","b"]']])).toEqual([
      ['1', '2', '["a","b"]'],
      ['1', '4', '["a","b"]'],
    ]);
    const fields = '[{"name":"b"},{"name":"a"}]';
    expect(exploded(given('name'), [['1', '[[1,2]]', fields]])).toEqual([['1', '1', fields]]);
    expect(exploded(given(), [['1', null, null]])).toEqual([['1', null, null]]);
  });

  it.each([
    ['EXPLODE_NOT_LIST', 'lines', '{"a":1}'],
    ['EXPLODE_NOT_LIST', 'lines', 'abc'],
    ['EXPLODE_NOT_LIST', 'lines', ''],
    ['EXPLODE_NOT_LIST', 'lines', '[1,]'],
    ['EXPLODE_NOT_LIST', 'lines', '[,1]'],
    ['EXPLODE_NOT_LIST', 'lines', '[1'],
    ['EXPLODE_NOT_LIST', 'lines', '["a]'],
    ['EXPLODE_NOT_LIST', 'lines', '[1] [2]'],
    ['EXPLODE_NOT_LIST', 'lines', '[1]]'],
    ['EXPLODE_NOT_LIST', 'lines', '[{]}'],
    ['EXPLODE_ITEM', { column: 'lines', columns: { a: 'a' } }, '[{},5]'],
    ['EXPLODE_ITEM', { column: 'lines', columns: { a: 'a' } }, '[1.50]'],
    ['EXPLODE_HEADER', { column: 'lines', columns: { a: 'a' }, header_from: 'first_item' }, '[["b","A"],[1,2]]'],
    ['EXPLODE_HEADER', { column: 'lines', columns: { a: 'a' }, header_from: 'first_item' }, '[["a","a"],[1,2]]'],
    ['EXPLODE_HEADER', { column: 'lines', columns: { a: 'a' }, header_from: 'first_item' }, '[{"a":1}]'],
  ])('fails with %s for %j and %s', (code, given, list) => {
    const rows = [
      ['1', '[]', null],
      ['2', list, null],
    ];
    const problem = problemOf(() => [...prepare(given).expand(bytesBatch(columns, rows), 40)]);
    expect(problem).toMatchObject({ code, family: 'row', where: { row: 42, column: 'lines' } });
  });

  it('checks its options before a run', () => {
    const { check } = transformById('explode');
    expect(check!('lines')).toEqual([]);
    expect(check!({ column: 'lines', columns: { a: 'a[0]', b: '$' } })).toEqual([]);
    expect(check!({ column: 'lines', columns: { a: 'a[*]', b: 'a[', c: 'a[-1]' } })).toHaveLength(3);
    expect(check!({ column: 'lines', header_from: 'first_item' })).toEqual(['`header_from` requires `columns`']);
    expect(check!({ column: 'lines', columns: { a: 'a[' }, header_from: 'first_item' })).toEqual([]);
    expect(check!({ column: 'x', columns: { a: 'a' }, header_from: { column: 'y', path: '[' } })).toHaveLength(1);
  });

  it('rejects a duplicate column', () => {
    expect(problemOf(() => prepare({ column: 'lines', columns: { id: 'id' } })).code).toBe('TRANSFORM_COLUMN_TWICE');
    expect(prepare({ column: 'lines', columns: { lines: 'id' } }).columns.map(({ name }) => name)).toContain('lines');
  });

  it('limits the rows and the repeated bytes of a batch, and reads a list only as far as it is asked to', () => {
    const list = `[${Array.from({ length: 2500 }, (_, i) => i).join(',')}]`;
    const batches = prepare('lines').expand(bytesBatch(columns, [['1', list, 'x']]));
    expect([...batches].map(({ length }) => length)).toEqual([1000, 1000, 500]);
    const large = prepare('lines').expand(bytesBatch(columns, [['1', list, 'x'.repeat(200_000)]]));
    expect(Math.max(...[...large].map(({ length }) => length))).toBeLessThan(10);
    for (const batch of prepare('lines').expand(bytesBatch(columns, [['1', `${list.slice(0, -1)}, oops`, 'x']]))) {
      expect(batchText(batch)[999]).toEqual(['1', '999', 'x']);
      break;
    }
  });
});
