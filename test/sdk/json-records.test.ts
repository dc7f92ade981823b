import { expect, test } from 'vitest';
import fc, { runsOf } from '../property.ts';
import { declared, inputOf, readTable } from './inputs.ts';

const json = (value: unknown) => inputOf(JSON.stringify(value));

test('the columns are the union of all keys in order of first appearance, and a missing key is null', async () => {
  const table = await readTable(json([{ b: 'x' }, { a: '', b: null }, { c: 'z', b: 'y' }]), 'json');
  expect(declared(table)).toBe('b:text a:text c:text');
  expect(table.rows).toEqual([
    ['x', null, null],
    [null, '', null],
    ['y', null, 'z'],
  ]);
});

test("numbers keep the source's digits, beyond 2^53 and at every scale", async () => {
  const text =
    '[{"i":9223372036854775807,"d":1.50,"e":1.0,"x":12345678901234567890123456789012345678.9},{"e":1E5,"i":-0,"d":7}]';
  const table = await readTable(inputOf(text), 'json');
  expect(declared(table)).toBe('i:integer d:decimal e:float x:decimal');
  expect(table.rows).toEqual([
    ['9223372036854775807', '1.50', '1.0', '12345678901234567890123456789012345678.9'],
    ['-0', '7', '1E5', null],
  ]);
});

test("a column's type must fit every record: mixed columns are text, or json if they contain lists", async () => {
  const rows = [
    { m: 1, j: 'a', b: true, n: null },
    { m: 'x', j: [1, { k: 'é' }], b: false },
    { m: false, j: 2.5 },
  ];
  const table = await readTable(json(rows), 'json');
  expect(declared(table)).toBe('m:text j:json b:boolean n:text');
  expect(table.rows).toEqual([
    ['1', '"a"', 'true', null],
    ['x', '[1,{"k":"é"}]', 'false', null],
    ['false', '2.5', null, null],
  ]);
});

test('objects become columns with dotted names, to the configured depth', async () => {
  const rows = [{ a: { b: 1, c: { d: 'x' } } }, { a: null }, { a: { b: 2, c: {} } }];
  expect(declared(await readTable(json(rows), 'json'))).toBe('a.b:integer a.c.d:text');
  expect(declared(await readTable(json(rows), 'json', { flatten: 1 }))).toBe('a.b:integer a.c:json');
  const flat = await readTable(json(rows), 'json', { flatten: 0 });
  expect(declared(flat)).toBe('a:json');
  expect(flat.rows).toEqual([['{"b":1,"c":{"d":"x"}}'], [null], ['{"b":2,"c":{}}']]);
});

test('a value and an object under one key are both kept', async () => {
  const table = await readTable(json([{ a: 5 }, { a: { x: 1 } }]), 'json');
  expect(table).toMatchObject({
    columns: [{ name: 'a' }, { name: 'a.x' }],
    rows: [
      ['5', null],
      [null, '1'],
    ],
  });
});

test('white space in a JSON cell is removed, except in strings', async () => {
  const { rows } = await readTable(inputOf('[ { "a" : [ 1 ,\n "x  \\" y" , { "b" : [ ] } ] } ]'), 'json');
  expect(rows).toEqual([['[1,"x  \\" y",{"b":[]}]']]);
});

test('all escapes are decoded, even in keys, and a lone surrogate becomes U+FFFD', async () => {
  const text = String.raw`[{"k\u00e9\n":"\"\\\/\b\f\n\r\t\u0000\u00fc\u6f22\ud83d\ude00","l":"a\ud800b\udc00\ud800\u0041"}]`;
  for (const blockBytes of [1, 7, 1000]) {
    const { columns, rows } = await readTable(inputOf(text, 3), 'json', { blockBytes });
    expect(columns.map(({ name }) => name)).toEqual(['ké\n', 'l']);
    expect(rows).toEqual([['"\\/\b\f\n\r\t\0ü漢😀', 'a\ufffdb\ufffd\ufffdA']]);
  }
});

test('records are found at their path, no matter what precedes them, and values next to them can be selected', async () => {
  const text =
    '{"meta":{"total":2,"deep":[[{"data":{}}]]},"data":{"x":[1],"items":[{"id":1},{"id":2}],"@next":"u?a=1"}}';
  for (const blockBytes of [1, 5, 1000]) {
    const { rows } = await readTable(inputOf(text), 'json', { records: 'data.items', blockBytes });
    expect(rows).toEqual([['1'], ['2']]);
  }
  expect(
    (await readTable(inputOf('{"pages":[{"i":[{"a":1}]},{"i":[{"a":2}]}]}'), 'json', { records: 'pages.1.i' })).rows,
  ).toEqual([['2']]);
  expect((await readTable(inputOf('{"odata.value":[{"a":1}]}'), 'json', { records: 'odata.value' })).rows).toEqual([
    ['1'],
  ]);
  expect((await readTable(inputOf('{"items":null}'), 'json', { records: 'items' })).rows).toEqual([]);
});

test('if there are no records at the path, the error lists the keys that exist', async () => {
  await expect(readTable(inputOf('{"error":"no","code":3}'), 'json', { records: 'data' })).rejects.toMatchObject({
    code: 'RECORDS_NOT_FOUND',
    seen: 'data',
    allowed: 'the document contains error, code',
  });
});

test('without a path, the document is the list of records or the only record', async () => {
  expect((await readTable(json({ a: 1, b: { c: 'x' } }), 'json')).rows).toEqual([['1', 'x']]);
  expect(await readTable(json([]), 'json')).toEqual({ columns: [], rows: [] });
  expect(await readTable(json(['a', 2, null]), 'json')).toMatchObject({
    columns: [{ name: 'value' }],
    rows: [['a'], ['2'], [null]],
  });
});

test('JSONL has one value per line, with any line endings, and the last line needs none', async () => {
  for (const blockBytes of [1, 4, 1000]) {
    const table = await readTable(inputOf('{"a":1}\r\n\n{"a":2}\n{"a":3}'), 'jsonl', { blockBytes });
    expect(table.rows).toEqual([['1'], ['2'], ['3']]);
  }
  expect((await readTable(inputOf('1\n23'), 'jsonl', { blockBytes: 1 })).rows).toEqual([['1'], ['23']]);
  expect((await readTable(inputOf(''), 'jsonl')).rows).toEqual([]);
});

test.each([
  '[{"a":1},{"a":2',
  '[{"a":1},{"a":2}',
  '[{"a":1}',
  '{"x":[{"a":1}]',
  '[',
  '',
  '{"x":[{"a":1}],"y":"',
  '[{"a":tr',
])('a truncated document is rejected: %j', async (text) => {
  for (const blockBytes of [1, 1000]) {
    const given = { blockBytes, ...(text.startsWith('{') ? { records: 'x' } : {}) };
    await expect(readTable(inputOf(text), 'json', given)).rejects.toMatchObject({ code: 'JSON_TRUNCATED' });
  }
});

test.each([
  '[{"a":1,}]',
  '[{"a":01}]',
  '[{"a":.5}]',
  '[{"a":1.}]',
  '[{"a":+1}]',
  '[{"a":nul}]',
  '[{a:1}]',
  "[{'a':1}]",
  '[{"a":"\n"}]',
  '[{"a":"\\x"}]',
  '[{"a":"\\u12g4"}]',
  '[1,]',
  '[1 2]',
  '[1]]',
  '[1] x',
  '{"a":NaN}',
  '[{"a" 1}]',
  '[{"a":[1,]}]',
  '[{"a":{"b":}}]',
  '[{"a":1e}]',
])("invalid JSON is rejected with the error's position: %j", async (text) => {
  for (const blockBytes of [1, 1000]) {
    await expect(readTable(inputOf(text), 'json', { blockBytes })).rejects.toMatchObject({
      code: 'JSON_SYNTAX',
      message: expect.stringMatching(/^input: byte \d+: /),
    });
  }
});

test('the jsonl format rejects a list of objects, and the json format rejects several lines', async () => {
  for (const text of ['[{"a":1},{"a":2}]\n', '\n[\n  {"a":1}\n]\n']) {
    for (const blockBytes of [1, 1000]) {
      await expect(readTable(inputOf(text), 'jsonl', { blockBytes })).rejects.toMatchObject({
        code: 'JSON_SYNTAX',
        next: 'set `format: json`',
      });
    }
  }
  expect((await readTable(inputOf('[1,2]\n[]\n'), 'jsonl')).rows).toEqual([['[1,2]'], ['[]']]);
  expect((await readTable(inputOf('[[{"a":1}]]\n'), 'jsonl')).rows).toEqual([['[[{"a":1}]]']]);
  await expect(readTable(inputOf('{"a":1}\n{"a":2}\n'), 'json')).rejects.toMatchObject({
    next: expect.stringContaining('`format: jsonl`'),
  });
  await expect(readTable(inputOf('[{"a":NaN}]'), 'json')).rejects.toMatchObject({
    next: expect.stringContaining('null'),
  });
});

test('a duplicate key in a record is rejected, even if only the dotted names are the same', async () => {
  await expect(readTable(inputOf('[{"a":1,"a":2}]'), 'json')).rejects.toMatchObject({ code: 'JSON_SYNTAX' });
  await expect(readTable(inputOf('[{"a.b":1,"a":{"b":2}}]'), 'json')).rejects.toMatchObject({
    code: 'JSON_SYNTAX',
    next: expect.stringContaining('`flatten: 0`'),
  });
});

test('excessive nesting is rejected instead of overflowing the stack', async () => {
  const deep = `[{"a":${'['.repeat(100_000)}`;
  await expect(readTable(inputOf(deep), 'json')).rejects.toMatchObject({ code: 'JSON_SYNTAX' });
  await expect(readTable(inputOf(`{"x":${deep}`), 'json', { records: 'y' })).rejects.toMatchObject({
    code: 'JSON_SYNTAX',
  });
});

test('values of configured types are checked and converted to canonical form', async () => {
  const rows = [{ at: '2026-01-02 03:04:05Z', d: 1e21, id: 'ABCDEF00-0000-0000-0000-000000000000' }];
  const types = { at: 'timestamptz', d: 'decimal', id: 'uuid' };
  const table = await readTable(json(rows), 'json', { types });
  expect(table.rows).toEqual([
    ['2026-01-02T03:04:05Z', '1000000000000000000000', 'abcdef00-0000-0000-0000-000000000000'],
  ]);
  await expect(readTable(json([{ d: 1 }, { d: 'x' }]), 'json', { types: { d: 'decimal' } })).rejects.toMatchObject({
    code: 'RECORDS_VALUE',
    family: 'row',
    where: { row: 2, column: 'd' },
  });
});

test('`types` sets the types of columns, and may contain a key that no record has', async () => {
  const types = { a: 'decimal', gone: 'date' };
  expect(declared(await readTable(json([{ a: 1 }]), 'json', { types }))).toBe('a:decimal');
  expect(declared(await readTable(json([{ a: 1 }]), 'json', { types, columns: [{ name: 'a' }] }))).toBe('a:decimal');
});

test('with configured columns, the data is opened only once, and other columns are rejected or skipped', async () => {
  let opened = 0;
  const inner = json([{ id: 1, x: { y: 'a', z: 2 }, extra: { deep: 1 } }]);
  const input = {
    name: 'once',
    open: () => {
      opened++;
      return inner.open();
    },
  };
  const columns = [{ name: 'x.y' }, { name: 'id', type: 'integer' }, { name: 'none' }];
  const table = await readTable(input, 'json', { columns, ignore_unknown: true });
  expect(opened).toBe(1);
  expect(table.rows).toEqual([['a', '1', null]]);
  await expect(readTable(input, 'json', { columns })).rejects.toMatchObject({
    code: 'RECORDS_UNKNOWN_COLUMN',
    seen: 'x.z',
  });
  await expect(readTable(json([{ x: 5 }]), 'json', { columns: [{ name: 'x.y' }] })).rejects.toMatchObject({
    code: 'RECORDS_UNKNOWN_COLUMN',
    seen: 'x',
  });
  const whole = await readTable(json([{ x: { y: 1 } }]), 'json', { columns: [{ name: 'x', type: 'json' }] });
  expect(whole.rows).toEqual([['{"y":1}']]);
});

test('several inputs become one table with the union of their keys, and with one type per key', async () => {
  const table = await readTable([json([{ a: 1 }]), json([{ b: 'x', a: 1.5 }])], 'json', { inputColumn: 'src' });
  expect(declared(table)).toBe('src:text a:decimal b:text');
  expect(table.rows).toEqual([
    ['input', '1', null],
    ['input', '1.5', 'x'],
  ]);
});

test('data that gets a new key between the two passes is rejected', async () => {
  let opened = 0;
  const input = { name: 'f', open: () => (opened++ === 0 ? json([{ a: 1 }]) : json([{ a: 1, b: 2 }])).open() };
  await expect(readTable(input, 'json')).rejects.toMatchObject({ code: 'RECORDS_CHANGED' });
});

const scalar = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('', '"', '\\', '\n', '漢', '😀', '\u2028'),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const record = fc.dictionary(
  fc.oneof(
    fc.constantFrom('a', 'b', 'ü'),
    fc.string({ maxLength: 3 }).filter((key) => !key.includes('.') && key !== '__proto__'),
  ),
  fc.oneof(scalar, fc.array(fc.jsonValue(), { maxLength: 3 })),
  { maxKeys: 5 },
);

test('every value is read as JSON.parse reads it, whatever the layout and the block size', async () => {
  const documents = fc.record({
    records: fc.array(record, { maxLength: 8 }),
    indent: fc.constantFrom(0, 1, 4),
    blockBytes: fc.integer({ min: 1, max: 50 }),
  });
  await fc.assert(
    fc.asyncProperty(documents, async ({ records, indent, blockBytes }) => {
      const table = await readTable(inputOf(JSON.stringify(records, null, indent), 7), 'json', { blockBytes });
      const names = [...new Set(records.flatMap((each) => Object.keys(each)))];
      expect(new Set(table.columns.map(({ name }) => name))).toEqual(new Set(names));
      expect(table.rows.length).toBe(records.length);
      for (const [r, row] of table.rows.entries()) {
        for (const [c, { name, type }] of table.columns.entries()) {
          const value = Object.hasOwn(records[r]!, name) ? records[r]![name]! : null;
          expectSame(value, row[c]!, type);
        }
      }
    }),
    { numRuns: runsOf(1500) },
  );
});

function expectSame(value: unknown, text: string | null, type: string) {
  if (value === null) expect(text).toBe(null);
  else if (type === 'json') expect(JSON.parse(text!)).toEqual(JSON.parse(JSON.stringify(value)));
  else if (typeof value === 'number') expect(Number(text)).toBe(Object.is(value, -0) ? 0 : value);
  else expect(text).toBe(String(value));
}

const tableCell = fc.constantFrom(
  'null',
  '1',
  '-1.50',
  '2e5',
  '"a"',
  '"\\u00e9 \\"x\\""',
  'true',
  '[1]',
  '{"p":2}',
  '""',
);

test('rows with the same keys are read correctly, even if one of them has a different form', async () => {
  const tables = fc.record({
    keys: fc.uniqueArray(fc.constantFrom('id', 'a', 'ü', 'long name', 'q"'), { minLength: 1 }),
    rows: fc.array(fc.record({ cells: fc.array(tableCell, { minLength: 5, maxLength: 5 }), odd: fc.nat(12) }), {
      maxLength: 20,
    }),
    layout: fc.constantFrom([':', ',', ','], [': ', ', ', ',\n'], ['\n:\n', ',\n  ', ' , ']),
    blockBytes: fc.integer({ min: 1, max: 500 }),
  });
  await fc.assert(
    fc.asyncProperty(tables, async ({ keys, rows, layout: [colon, comma, between], blockBytes }) => {
      const texts = rows.map(({ cells, odd }) => {
        const members = keys.map((key, c) => `${JSON.stringify(key)}${odd === 0 ? ' : ' : colon}${cells[c]}`);
        if (odd === 1) members.pop();
        if (odd === 2) members.reverse();
        if (odd === 3) members.push('"more":0');
        return `{${members.join(comma)}}`;
      });
      const document = `[${texts.join(between)}]`;
      const records = JSON.parse(document) as Record<string, unknown>[];
      const table = await readTable(inputOf(document, 64), 'json', { blockBytes, flatten: 0 });
      expect(table.rows.length).toBe(records.length);
      for (const [r, row] of table.rows.entries()) {
        for (const [c, { name, type }] of table.columns.entries()) expectSame(records[r]![name] ?? null, row[c]!, type);
      }
    }),
    { numRuns: runsOf(1500) },
  );
});

test('many rows in many blocks are all read, and in order', async () => {
  const text = Array.from({ length: 30_000 }, (_, i) => `{"i":${i},"s":"row \\"${i}\\""}`).join('\n');
  const { rows } = await readTable(inputOf(text, 10_000), 'jsonl', { blockBytes: 50_000 });
  expect(rows.length).toBe(30_000);
  rows.forEach((row, i) => {
    if (row[0] !== String(i) || row[1] !== `row "${i}"`) throw new Error(`row ${i} is ${JSON.stringify(row)}`);
  });
});

test('a document with the records in two places is rejected, not merged', async () => {
  const twice = '{"data":[{"a":1}],"data":[{"a":2}]}';
  for (const [text, records] of [
    [twice, 'data'],
    ['{"x":{"data":[{"a":1}]},"x":{"data":[{"a":2}]}}', 'x.data'],
  ] as const) {
    for (const options of [{}, { columns: [{ name: 'a' }] }]) {
      await expect(readTable(inputOf(text, 4), 'json', { records, ...options })).rejects.toMatchObject({
        code: 'JSON_SYNTAX',
        message: expect.stringContaining('duplicate key'),
      });
    }
  }
});
