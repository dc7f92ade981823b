import { expect, test } from 'vitest';
import fc, { runsOf } from '../property.ts';
import { declared, inputOf, readTable } from './inputs.ts';

/** XML 1.1 documents are read only by the parser. What these tests write means the same in both versions. */
const versions = ['1.0', '1.1'].map((version) => `<?xml version="${version}"?>\n`);

const outcome = (text: string, given: object) =>
  readTable(inputOf(text, 997), 'xml', { ...given }).then(
    (table) => ({ columns: declared(table), rows: table.rows }),
    ({ code, message, where }) => ({ code, message, where }),
  );

async function same(text: string, given: object = {}): Promise<unknown> {
  const [scanned, parsed] = await Promise.all(versions.map((version) => outcome(version + text, given)));
  expect(scanned).toEqual(parsed);
  return scanned;
}

const text = fc.oneof(
  {
    weight: 120,
    arbitrary: fc.constantFrom('x', 'a b', '42', '', ' y ', '\n', 'é漢😀', '2\n3', '] >', ' \r\n', 'a\r\nb'),
  },
  {
    weight: 30,
    arbitrary: fc.constantFrom(
      '&lt;',
      '&#x1F600;&amp;',
      '&#65;',
      '<![CDATA[<a>]]>',
      'x<![CDATA[]]]]>y',
      '&quot;&apos;&gt;',
    ),
  },
  {
    weight: 12,
    arbitrary: fc.constantFrom(
      '<!-- c -->',
      '<?p i?>',
      '\r',
      '<![CDATA[\r\n]]>',
      '\u{a0}',
      '\u{ff5e}',
      '\u{fffd}',
      ']]',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom(']]>', '&nope;', '&#0;', '\u{fffe}', '<', '&', '<b', '</x>', '\u{1}') },
);
const name = fc.constantFrom('a', 'b', 'ab', 'c', 'x:y', 'x:a', 'd.e', 'ä', 'r');
const space = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n');
const attribute = fc
  .tuple(
    fc.constantFrom('id', 'i', 'xsi:nil', 'xmlns', 'xmlns:q', 'k.l'),
    fc.constantFrom('"', "'"),
    fc.oneof(
      { weight: 40, arbitrary: fc.constantFrom('', 'true', '1', 'v&lt;', 'false', 'a\nb', ']]>') },
      fc.constantFrom('&x;', '<'),
    ),
  )
  .map(([key, quote, value]) => ` ${key}=${quote}${value}${quote}`);
const { element } = fc.letrec<{ element: string; content: string }>((tie) => ({
  element: fc
    .tuple(name, fc.array(attribute, { maxLength: 2 }), space, fc.option(tie('content')))
    .map(([tag, attributes, gap, content]) =>
      content === null
        ? `<${tag}${attributes.join('')}${gap}/>`
        : `<${tag}${attributes.join('')}${gap}>${content}</${tag}>`,
    ),
  content: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.array(tie('element'), { maxLength: 4 }).map((all) => all.join('')),
  ),
}));
const record = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(text, text).map(([a, b]) => `<r k="${a.length}"><a>${a}</a><b>${b}</b></r>`) },
  fc
    .tuple(fc.array(attribute, { maxLength: 2 }), fc.array(element, { maxLength: 5 }))
    .map(([attributes, all]) => `<r${attributes.join('')}>${all.join('')}</r>`),
  { weight: 2, arbitrary: fc.constantFrom('<r/>', '<r k="1"/>', '<r>t</r>', '<r> </r >', '<!-- between -->') },
);

test.for([
  '<r><b><a>1</a></b><b/></r>',
  '<r><b/><b><a>1</a></b></r>',
  '<r><b><a>1</a></b><b><c>2</c></b></r>',
  '<r><b><c>2</c></b><b><a>1</a></b></r>',
])('children of a repeated element become lists, even if none of them is repeated: %s', async (record) => {
  const table = await same(`<all><r><b><a>0</a></b></r>${record}</all>`, {});
  expect(table).toMatchObject({ columns: expect.stringContaining('b.a:json') });
});

test.for([
  '<r><x:a>1</x:a><a>2</a></r>',
  '<r><a>1</a><x:a>2</x:a></r>',
  '<r><b><a><c>1</c></a><x:a>2</x:a></b></r>',
  '<r x:k="1" k="2"><y:a/><x:a>2</x:a></r>',
])('values of elements that differ only in their prefix become lists: %s', async (record) => {
  const before = '<r><a>0</a></r><r k="0"><x:a>0</x:a></r>';
  for (const root of ['all', 'all xmlns="urn:a" xmlns:x="urn:a" xmlns:y="urn:y"']) {
    await same(`<${root}>${before}${record}${before}${record}</all>`);
  }
});

test.for(['c', 'ä'])(
  'a declared column is read from the element without a prefix, even next to an element named %s',
  async (name) => {
    const records = `<r><${name}>0</${name}></r><r><${name}>1</${name}><x:a>2</x:a><a>3</a></r>`;
    const given = { columns: [{ name: 'a' }], ignore_unknown: true };
    expect(await same(`<all>${records}</all>`, given)).toMatchObject({ rows: [[null], ['3']] });
  },
);

test("records read from bytes equal the parser's records for any document", {
  timeout: 60_000,
}, async () => {
  const documents = fc.tuple(
    fc.array(fc.tuple(record, space), { minLength: 1, maxLength: 12 }),
    fc.constantFrom(...Array(8).fill('</all>'), '</all>\n<!-- end -->', '<other/></all>', '', '</al>'),
    fc.constantFrom(
      {},
      { records: 'r' },
      { blockBytes: 64 },
      { blockBytes: 17, records: 'all/r' },
      { types: { a: 'integer' } },
      { columns: [{ name: 'a' }, { name: 'b' }] },
      { columns: [{ name: 'a' }], ignore_unknown: true },
    ),
  );
  await fc.assert(
    fc.asyncProperty(documents, async ([records, end, given]) => {
      await same(`<all>${records.flat().join('')}${end}`, given);
    }),
    { numRuns: runsOf(1500) },
  );
});

test('an error far into a document is reported with its line', async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `<r><n>${i}</n><t>two\nlines</t></r>\n`).join('');
  const types = { n: 'integer' };
  expect(await same(`<all>${lines}<r><n>x</n></r></all>`, { types })).toMatchObject({
    where: { line: 40_002, row: 20_001 },
  });
  expect(await same(`<all>${lines}<r><n>1</m></r></all>`, { types })).toMatchObject({
    code: 'XML_SYNTAX',
    where: { line: 40_002 },
  });
});

test('records of different kinds may follow one another', async () => {
  const kinds = [
    '<r k="1"/>',
    '<r><a>x</a></r>',
    '<r><a>x</a><!-- c --><b>y</b></r>',
    '<r><a>1</a><a>2</a></r>',
    '<r>\r\n<b>z&#33;</b></r>',
  ];
  const all = Array.from({ length: 9000 }, (_, i) => kinds[(i * i + (i >> 3)) % kinds.length]).join('\n');
  expect(await same(`<all>${all}</all>`)).toMatchObject({ columns: '@k:text a:json b:text' });
});

test('a record may be larger than any buffer', async () => {
  const long = 'long '.repeat(500_000);
  const { rows } = (await same(`<all><r><a>1</a></r><r><a>${long}</a></r><r><a>2</a></r></all>`)) as {
    rows: string[][];
  };
  expect(rows.map(([cell]) => cell!.length)).toEqual([1, long.length, 1]);
});
