import { describe, expect, test } from 'vitest';
import { Utf8Gate } from '../../src/formats/utf8-gate.ts';
import { Problem } from '../../src/lib/problem.ts';
import { XmlChecker } from '../../src/service/uploads/xml-checker.ts';
import { XmlParser } from '../../src/service/uploads/xml-parser.ts';
import { XmlSyntax } from '../../src/service/uploads/xml-syntax.ts';
import fc, { runsOf } from '../property.ts';

const said = (verdict: () => number | undefined): string => {
  try {
    return `records ${verdict()}`;
  } catch (thrown) {
    if (thrown instanceof Problem) return thrown.message;
    throw thrown;
  }
};

/** The strict parser's result for the whole document. */
const ofParser = (document: Buffer): string =>
  said(() => {
    const parser = new XmlParser();
    const gate = new Utf8Gate(
      (bytes) => parser.accept(bytes),
      () => parser.invalid('a byte that is not UTF-8'),
    );
    gate.write(document);
    gate.end();
    return parser.end();
  });

/** The checker's result for the document in chunks. */
const ofChecker = (pieces: readonly Uint8Array[]): string =>
  said(() => {
    const checker = new XmlChecker();
    for (const piece of pieces) checker.write(piece);
    return checker.end().records;
  });

function cut(document: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (document.length + 1)), document.length].sort((a, b) => a - b);
  return ends.map((end, k) => document.subarray(ends[k - 1] ?? 0, end));
}

const inPieces = (document: Buffer, bytes: number): Buffer[] =>
  Array.from({ length: Math.ceil(document.length / bytes) }, (_, k) => document.subarray(k * bytes, (k + 1) * bytes));

const some = (...texts: string[]): fc.Arbitrary<string> => fc.constantFrom(...texts);
const joined = (part: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> =>
  fc.array(part, { maxLength }).map((parts) => parts.join(''));

/** Usually one of the `right` values, sometimes a `doubtful` one that is missing or invalid in XML. */
const mostly = (right: fc.Arbitrary<string>, doubtful: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 30, arbitrary: right }, { weight: 1, arbitrary: doubtful });

const name = mostly(some('a', 'row', 'a:b', '_x-1.2', 'größe', 'n:größe', '品名'), some('xml', '𠀀', '1a', '-', ''));
const space = mostly(some('', '', ' ', '\n', '\r\n', '\r', '\t '), some('\u00a0', '\u000b'));
const words = some(
  'x',
  ' ',
  'a b',
  '\n',
  '\r',
  '\r\n',
  'žluť',
  '全角！',
  '🐎',
  '>',
  ']',
  ']]',
  '\ufeff',
  '\u007f',
  '\u0085',
);
const wrong = some('<', '&', ']]>', '\u0000', '\u0001', '\ufffe', '\uffff', '--', '?>');
const entity = mostly(
  some('&amp;', '&lt;', '&gt;', '&quot;', '&apos;', '&#10;', '&#x1F40E;', '&#xe9;'),
  some('&#0;', '&#x110000;', '&nope;', '&', '&;', '&#;', '&#xd800;', '&amp', '&LT;', '&#X41;', '&#00000000065;'),
);
const text = joined(mostly(fc.oneof({ weight: 4, arbitrary: words }, { weight: 1, arbitrary: entity }), wrong), 4);
const quoted = fc.tuple(some('"', "'"), text).map(([quote, inside]) => `${quote}${inside}${quote}`);
const attribute = fc
  .tuple(space, name, space, mostly(some('='), some('', '==')), space, quoted)
  .map(([before, ...rest]) => (before || ' ') + rest.join(''));
const attributes = fc.oneof({ weight: 3, arbitrary: fc.constant('') }, joined(attribute, 3));
const comment = fc
  .tuple(mostly(some('<!--'), some('<!-')), text, mostly(some('-->'), some('--->', '->')))
  .map((parts) => parts.join(''));
const cdata = fc
  .tuple(text, mostly(some(']]>', ']]]>'), some(']>')))
  .map(([inside, end]) => `<![CDATA[${inside}${end}`);
const instruction = fc
  .tuple(name, space, text, mostly(some('?>', '??>'), some('?', '>')))
  .map((parts) => `<?${parts.join('')}`);
const other = mostly(fc.oneof(comment, cdata, instruction), some('<!DOCTYPE r>', '<!ELEMENT a>', '<!', '</', '<'));

const { element } = fc.letrec<{ element: string; content: string }>((tie) => ({
  element: fc
    .tuple(name, attributes, space, tie('content'), space, fc.boolean())
    .map(([of, given, before, inside, behind, empty]) =>
      empty ? `<${of}${given}${before}/>` : `<${of}${given}${before}>${inside}</${of}${behind}>`,
    ),
  content: joined(
    fc.oneof(
      { maxDepth: 4 },
      { weight: 4, arbitrary: text },
      { weight: 4, arbitrary: tie('element') },
      { weight: 1, arbitrary: other },
    ),
    4,
  ),
}));

const declared = mostly(
  some(
    '',
    '<?xml version="1.0"?>',
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    "<?xml\n version='1.0'  encoding='utf-8' standalone='yes' ?>\r\n",
  ),
  some(
    '<?xml version="1.0" encoding="us-ascii"?>',
    '<?xml version="1.0" encoding="ISO-8859-1"?>',
    '<?xml version="1.1"?>',
    '<?xml version="1.0" standalone="maybe"?>',
    '<?xml version="1.0" standalone="no" encoding="utf-8"?>',
    '<?xml encoding="utf-8"?>',
    '<?XML version="1.0"?>',
    '<?xml version="1.0\'?>',
    ' <?xml version="1.0"?>',
  ),
);
const outside = joined(mostly(fc.oneof(space, comment, instruction), some('x', '<!DOCTYPE r>', '&amp;')), 2);
const written = fc
  .tuple(some('', '', '\ufeff'), declared, outside, element, fc.oneof(space, outside))
  .map((parts) => Buffer.from(parts.join('')));

const harm = fc.record({
  at: fc.nat(),
  take: fc.nat(3),
  put: fc.array(fc.constantFrom(...Buffer.from('<>&;/"\'= \n\r!?-[]a#x\u00e9'), 0, 0x80, 0xef, 0xff), { maxLength: 2 }),
});

/** Documents, some with a few bytes inserted, removed or replaced. */
const harmed = (whole: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(
      whole,
      fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(harm, { maxLength: 3 }) }),
    )
    .map(([document, harms]) =>
      harms.reduce<Buffer>((given, { at, take, put }) => {
        const start = at % (given.length + 1);
        return Buffer.concat([given.subarray(0, start), Buffer.from(put), given.subarray(start + take)]);
      }, document),
    );

/** Documents as people write them. */
const documents = harmed(written);

const cellText = mostly(
  some('', '1', '17', 'a b', 'x &amp; y', 'ü', '全', ']', ']]', 'two\nlines', 'more\r\nlines', 'a\rb', '&#10;'),
  some(']]>', '&nope;', '\ufffe', '<b/>', '<!-- x -->', '<i>x</i>', '<a>1</a>', '<![CDATA[<a>]]>', '</a>', '<a>'),
);
const around = fc.record({
  row: mostly(some('row', 'r'), some('row n="1"', 'röw')),
  between: some('', '\n', '\n  ', '\r\n', '<!-- c -->\n', '<e/>', ' text '),
  columns: fc.array(mostly(some('a', 'b', 'customer'), some('a n="1"', 'b ', 'long_'.repeat(30))), {
    minLength: 1,
    maxLength: 4,
  }),
});

/** Tables in which all rows but a few differ only in their texts. */
const tables = fc
  .tuple(
    fc.array(around, { minLength: 1, maxLength: 2 }),
    fc.array(fc.array(cellText, { minLength: 4, maxLength: 4 }), { maxLength: 12 }),
    fc.array(fc.nat(20), { maxLength: 2 }),
  )
  .map(([kinds, cells, odd]) => {
    const rows = cells.map((texts, r) => {
      const { row, between, columns } = kinds[odd.includes(r) ? kinds.length - 1 : 0]!;
      const written = columns.map((column, c) => `<${column}>${texts[c]}</${column.split(' ')[0]}>`);
      return `<${row}>${between}${written.join(between)}${between}</${row.split(' ')[0]}>`;
    });
    return Buffer.from(`<rows>${rows.join(kinds[0]!.between)}</rows>`);
  });

/** Whether the scanner used the parser only for what follows the root element. */
function scanned(document: Buffer): boolean {
  const scanner = new XmlSyntax();
  scanner.scan(document);
  return scanner.ended;
}

const isBlank = (document: Buffer): boolean => document.every((byte) => byte <= 32);

describe('the xml checker', () => {
  test("agrees with the strict parser on any document, no matter how it's split into chunks", () => {
    let [accepted, bySight] = [0, 0];
    fc.assert(
      fc.property(documents, fc.array(fc.nat(), { maxLength: 4 }), (document, places) => {
        fc.pre(!isBlank(document));
        const right = ofParser(document);
        if (right.startsWith('records')) {
          accepted++;
          if (scanned(document)) bySight++;
        }
        expect(ofChecker([document])).toBe(right);
        expect(ofChecker(cut(document, places))).toBe(right);
      }),
      { numRuns: runsOf(6000) },
    );
    expect(accepted).toBeGreaterThan(1000);
    expect(bySight / accepted).toBeGreaterThan(0.8);
  });

  test("agrees with the strict parser on any table, no matter how it's split into chunks", () => {
    let accepted = 0;
    fc.assert(
      fc.property(harmed(tables), fc.array(fc.nat(), { maxLength: 4 }), (document, places) => {
        const right = ofParser(document);
        if (right.startsWith('records')) accepted++;
        expect(ofChecker([document])).toBe(right);
        expect(ofChecker(cut(document, places))).toBe(right);
      }),
      { numRuns: runsOf(6000) },
    );
    expect(accepted).toBeGreaterThan(1000);
  });

  test('reads a table with any number of columns', () => {
    for (const columns of [1, 2, 255, 256, 257, 300]) {
      const row = Array.from({ length: columns }, (_, c) => `<c${c % 7}>${c}</c${c % 7}>`).join('');
      const document = (last: string) => Buffer.from(`<t>${`<r>${row}</r>\n`.repeat(5)}${last}</t>`);
      expect(ofChecker([document('')])).toBe('records 5');
      const wrong = document(`<r>${row.slice(0, -2)}x></r>`);
      expect(ofChecker([wrong])).toBe(ofParser(wrong));
    }
  });

  const rows = (count: number): string => '<row n="1"><a>x &amp; y</a>\r\n<b/>全 ] ]]</row>\n'.repeat(count);
  const long = 'x y\n'.repeat(20_000);
  const deep = (depth: number): string => '<a>'.repeat(depth) + '</a>'.repeat(depth);
  const given = (count: number): string => Array.from({ length: count }, (_, k) => ` a${k}="${k}"`).join('');

  test.each([
    ['an unclosed row', `<r>${rows(5000)}<row>${rows(5000)}</r>`],
    ['a tag that was never opened', `<r>${rows(5000)}</row>${rows(5000)}</r>`],
    ['a duplicate attribute', `<r>${rows(5000)}<row n="1" m="2" n="3"/></r>`],
    ['a control character', `<r>${rows(5000)}<row>\u0001</row>${rows(5000)}</r>`],
    ['the end of a CDATA section without its start', `<r>${rows(5000)}]]>${rows(5000)}</r>`],
    ['a second root', `<r>${rows(5000)}</r>${rows(1)}`],
    ['a comment after the root', `<r>${rows(5000)}</r>\n<!-- ${long} -->\n`],
    ['no end', `<r>${rows(5000)}`],
    ['a long comment', `<!-- ${long} --><r>${rows(2000)}<!-- ${long} -->${rows(5000)}</r>`],
    ['a long comment followed by an error', `<r>${rows(2000)}<!-- ${long} -->${rows(2000)}<row></r>`],
    ['a long CDATA section', `<r>${rows(2000)}<![CDATA[${long}]]></r>`],
    ['a long value', `<r><row n="${long}"/>${rows(2000)}</r>`],
    ['a long name', `<r><${'n'.repeat(70_000)}/>${rows(2000)}</r>`],
    ['long nested names', `${`<${'n'.repeat(30_000)}>`.repeat(3)}${`</${'n'.repeat(30_000)}>`.repeat(3)}`],
    ['a thousand open elements', deep(1000)],
    ['one more element', deep(1001)],
    ['one more empty element', `${'<a>'.repeat(1000)}<b/>${'</a>'.repeat(1000)}`],
    ['many attributes', `<r><row${given(100)}/>${rows(100)}</r>`],
    ['many attributes, the last one twice', `<r><row${given(100)} a99=""/></r>`],
    ['many brackets', `<r>${']'.repeat(200_000)}&gt;</r>`],
    ['too many brackets', `<r>${']'.repeat(200_000)}></r>`],
  ])("returns the strict parser's result for %s in a long document, whatever the chunk size", (_, text) => {
    const document = Buffer.from(text);
    const right = ofParser(document);
    for (const bytes of [document.length, 65_536, 65_535, 4099, 1000, 17])
      expect(ofChecker(inPieces(document, bytes))).toBe(right);
  });
});
