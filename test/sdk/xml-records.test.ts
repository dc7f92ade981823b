import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { declared, inputOf, readTable } from './inputs.ts';

test('child elements and attributes become columns, with missing elements distinct from empty ones', async () => {
  const text =
    '<rows><row id="1"><a>x</a><b/></row><row><b> y </b><a xsi:nil="true"/><c><d u="m">5</d></c></row></rows>';
  for (const size of [1, 1000]) {
    const table = await readTable(inputOf(text, size), 'xml');
    expect(declared(table)).toBe('@id:text a:text b:text c.d.@u:text c.d:text');
    expect(table.rows).toEqual([
      ['1', 'x', '', null, null],
      [null, null, ' y ', 'm', '5'],
    ]);
  }
});

test('entities, CDATA and character references become text, and custom entities are rejected', async () => {
  const { rows } = await readTable(inputOf('<r><i><a>&lt;&amp;&#x1F600;<![CDATA[</row>&x;]]></a></i></r>'), 'xml');
  expect(rows).toEqual([['<&😀</row>&x;']]);
  const bomb = '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY x SYSTEM "file:///etc/passwd">]><r>\n<i><a>&a;&x;</a></i></r>';
  await expect(readTable(inputOf(bomb), 'xml')).rejects.toMatchObject({ code: 'XML_SYNTAX', where: { line: 2 } });
});

test('records are found by path or by name, including namespaces', async () => {
  const text =
    '<s:e xmlns:s="u"><head><item>no</item></head><body><ns:item k="1"><v>a</v></ns:item><ns:item><v>b</v></ns:item></body></s:e>';
  expect((await readTable(inputOf(text), 'xml', { records: 's:e/body/ns:item' })).rows).toEqual([
    ['1', 'a'],
    [null, 'b'],
  ]);
  expect((await readTable(inputOf(text), 'xml', { records: 'ns:item' })).rows.length).toBe(2);
  expect((await readTable(inputOf(text), 'xml', { records: 'head/item' }).catch((error) => error)).code).toBe(
    'RECORDS_NOT_FOUND',
  );
  await expect(readTable(inputOf(text), 'xml')).rejects.toMatchObject({
    code: 'RECORDS_NOT_FOUND',
    seen: 'head, body',
  });
});

test('an element that repeats within a record becomes a JSON list in every record', async () => {
  const text = '<r><i><t>x</t><t>y"</t></i><i><t>z</t></i><i/></r>';
  const table = await readTable(inputOf(text), 'xml');
  expect(declared(table)).toBe('t:json');
  expect(table.rows).toEqual([['["x","y\\""]'], ['["z"]'], [null]]);
});

test('records without child elements contain their text, and text next to child elements is kept', async () => {
  expect(await readTable(inputOf('<r><i>a</i><i>b</i></r>'), 'xml')).toMatchObject({
    columns: [{ name: '#text' }],
    rows: [['a'], ['b']],
  });
  const mixed = await readTable(inputOf('<r><i><p>hello <b>you</b></p></i></r>'), 'xml');
  expect(declared(mixed)).toBe('p.b:text p.#text:text');
});

test.each(['<r><i><a>x</a></i>', '<r><i><a>x</b></i></r>', '<r><i>&nope;</i></r>', '', '<r/><r/>'])(
  'incomplete XML is rejected: %j',
  async (text) => {
    await expect(readTable(inputOf(text), 'xml')).rejects.toMatchObject({ code: 'XML_SYNTAX' });
  },
);

test('the encoding in the XML declaration is used', async () => {
  const bytes = iconv.encode('<?xml version="1.0" encoding="ISO-8859-1"?><r><i><a>Müller</a></i></r>', 'latin1');
  expect((await readTable(inputOf(bytes, 5), 'xml')).rows).toEqual([['Müller']]);
});

test('types and columns are enforced, and errors report the line and the column', async () => {
  const text = '<r>\n<i><n>1</n></i>\n<i><n>x</n></i>\n</r>';
  await expect(readTable(inputOf(text), 'xml', { types: { n: 'integer' } })).rejects.toMatchObject({
    code: 'RECORDS_VALUE',
    where: { line: 3, row: 2, column: 'n' },
  });
  await expect(readTable(inputOf(text), 'xml', { columns: [{ name: 'm' }] })).rejects.toMatchObject({
    code: 'RECORDS_UNKNOWN_COLUMN',
  });
  expect((await readTable(inputOf(text), 'xml', { columns: [{ name: 'n' }] })).rows).toEqual([['1'], ['x']]);
});

test('many records are all read, and in order', async () => {
  const text = `<r>${Array.from({ length: 5000 }, (_, i) => `<i><n>${i}</n><t>漢${i}</t></i>`).join('')}</r>`;
  const { rows } = await readTable(inputOf(text, 10_001), 'xml');
  expect(rows).toEqual(Array.from({ length: 5000 }, (_, i) => [String(i), `漢${i}`]));
});

test('records with different prefixes are read alike if their namespace is the same', async () => {
  const row = (n: number) => `<ns${n}:Row xmlns:ns${n}="t.rows"><ns${n}:id>${n}</ns${n}:id></ns${n}:Row>`;
  const text = `<s:e xmlns:s="soap"><s:b>${[2, 3, 4, 5, 6].map(row).join('')}</s:b></s:e>`;
  for (const records of ['Row', 'ns2:Row', 'ns9:Row', 'e/b/Row', 's:e/s:b/ns2:Row'])
    for (const size of [3, 1000]) {
      const table = await readTable(inputOf(text, size), 'xml', { records });
      expect(declared(table)).toBe('id:text');
      expect(table.rows).toEqual([['2'], ['3'], ['4'], ['5'], ['6']]);
    }
});

test('elements with different prefixes share one column if their namespace is the same', async () => {
  const parts = (prefix: string, n: number) => `<${prefix}:id>${n}</${prefix}:id>`;
  const rows = Array.from({ length: 20 }, (_, n) => `<r>${parts(n % 2 === 0 ? 'a' : 'b', n)}<x>${n}</x></r>`);
  const text = `<l xmlns:a="u" xmlns:b="u">${rows.join('')}</l>`;
  const expected = Array.from({ length: 20 }, (_, n) => [`${n}`, `${n}`]);
  for (const size of [7, 4000]) {
    const table = await readTable(inputOf(text, size), 'xml');
    expect(declared(table)).toBe('a:id:text x:text');
    expect(table.rows).toEqual(expected);
    const columns = [
      { name: 'id', type: 'integer' as const },
      { name: 'x', type: 'integer' as const },
    ];
    expect((await readTable(inputOf(text, size), 'xml', { columns })).rows).toEqual(expected);
  }
});

test('elements with the same prefix for different namespaces become different columns', async () => {
  const group = (uri: string, id: number) => `<g xmlns:a="${uri}"><r><a:v>${id}</a:v></r><r><a:v>${id}</a:v></r></g>`;
  const text = `<l>${group('one', 1)}${group('two', 2)}</l>`;
  const table = await readTable(inputOf(text), 'xml', { records: 'r' });
  expect(declared(table)).toBe('a:v:text a_2:v:text');
  expect(table.rows).toEqual([
    ['1', null],
    ['1', null],
    [null, '2'],
    [null, '2'],
  ]);
  const own = '<l xmlns:b="u"><r><b:v>1</b:v></r><r xmlns:b="w"><b:v>2</b:v></r><r><b:v>3</b:v></r></l>';
  expect((await readTable(inputOf(own), 'xml')).rows).toEqual([
    ['1', null],
    [null, '2'],
    ['3', null],
  ]);
});

test('names from other namespaces keep a prefix, so that no two names collide', async () => {
  const text =
    '<rss xmlns:media="m" xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><item><media:title>b</media:title><title>a</title></item><item><title i:nil="true"/><media:title xml:lang="en">c</media:title></item></rss>';
  for (const size of [5, 4000]) {
    const table = await readTable(inputOf(text, size), 'xml');
    expect(declared(table)).toBe('media:title:text title:text media:title.@xml:lang:text');
    expect(table.rows).toEqual([
      ['b', 'a', null],
      ['c', null, 'en'],
    ]);
    const settings = { columns: [{ name: 'title', type: 'text' as const }], ignore_unknown: true };
    expect((await readTable(inputOf(text, size), 'xml', settings)).rows).toEqual([['a'], [null]]);
  }
});

test('a record name that matches elements from two namespaces is rejected', async () => {
  const text = '<l xmlns:a="one" xmlns:b="two"><a:r><v>1</v></a:r><b:r><v>2</v></b:r></l>';
  await expect(readTable(inputOf(text), 'xml', { records: 'r' })).rejects.toMatchObject({
    code: 'RECORDS_AMBIGUOUS',
    seen: 'a:r, b:r',
  });
  expect((await readTable(inputOf(text), 'xml', { records: 'a:r' })).rows).toEqual([['1']]);
});

test('children of repeated elements keep their positions, with null for missing children', async () => {
  const order = (id: number, items: string) => `<order><id>${id}</id>${items}</order>`;
  const item = (sku: string, rest = '') => `<item><sku>${sku}</sku>${rest}</item>`;
  const orders = [
    order(7, item('A', '<qty>1</qty>') + item('B') + item('C', '<qty>3</qty>')),
    order(8, item('D', '<qty>4</qty>')),
    order(9, `${item('E')}<item/>${item('F', '<qty>6</qty>')}`),
  ];
  for (const blockBytes of [1, 7, 1000]) {
    const table = await readTable(inputOf(`<r>${orders.join('')}</r>`), 'xml', { blockBytes });
    const at = (name: string) => table.columns.findIndex((column) => column.name === name);
    const seen = table.rows.map((row) => [row[at('item.sku')], row[at('item.qty')]]);
    expect(seen).toEqual([
      ['["A","B","C"]', '["1",null,"3"]'],
      ['["D"]', '["4"]'],
      ['["E",null,"F"]', '[null,null,"6"]'],
    ]);
  }
});

test('attributes, nested repeated elements and lists inside repeated elements also keep their positions', async () => {
  const rowOf = async (record: string) => {
    const { columns, rows } = await readTable(inputOf(`<r>${record}</r>`), 'xml');
    return Object.fromEntries(columns.map(({ name }, c) => [name, rows[0]![c]]));
  };
  expect(await rowOf('<o><i sku="A"/><i sku="B" n="2"/><i n="3"/></o>')).toMatchObject({
    'i.@sku': '["A","B",null]',
    'i.@n': '[null,"2","3"]',
  });
  expect(await rowOf('<o><i><t>x</t><t>y</t></i><i/><i><t>z</t><v>1</v></i></o>')).toEqual({
    i: '',
    'i.t': '[["x","y"],null,"z"]',
    'i.v': '[null,null,"1"]',
  });
  expect(await rowOf('<o><i><s><v>1</v></s><s><w>2</w></s></i><i><s><v>3</v></s></i></o>')).toEqual({
    'i.s.v': '[["1",null],["3"]]',
    'i.s.w': '[[null,"2"],[null]]',
  });
  expect(await rowOf('<o><t>a</t><t>b</t><n><v>1</v></n></o>')).toEqual({ t: '["a","b"]', 'n.v': '1' });
});

test.each([
  ['<r><a><b>1</b></a><a><b>2', 'truncated'],
  ['<!DOCTYPE r [<!ENTITY n "v">]><r><a><b>&n;</b></a></r>', 'DTD entities are not supported'],
  ['<r>\n<a><b>1</c></a></r>', 'well-formed'],
  ['<r><a><b>A & B</b></a></r>', '&amp;'],
])('invalid XML is rejected, and the error suggests a fix: %s', async (text, help) => {
  await expect(readTable(inputOf(text), 'xml')).rejects.toMatchObject({
    code: 'XML_SYNTAX',
    next: expect.stringContaining(help),
  });
});
