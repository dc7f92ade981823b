import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { Problem } from '../../src/lib/problem.ts';
import { batchOf } from '../../src/sdk/batch.ts';
import { type FormatId, formatIds } from '../../src/service/store/datasources.ts';
import { checkerOf } from '../../src/service/uploads/checkers.ts';
import fc, { runsOf } from '../property.ts';
import { batches, encode } from './encoding.ts';

/** `records N`, or `accepted` if the format has no records, or the error. */
function answer(id: FormatId, chunks: readonly Uint8Array[]): string {
  const checker = checkerOf(id);
  try {
    for (const chunk of chunks) checker.write(chunk);
    const { records } = checker.end();
    return records === undefined ? 'accepted' : `records ${records}`;
  } catch (thrown) {
    if (!(thrown instanceof Problem)) throw thrown;
    expect(thrown).toMatchObject({ code: 'FORMAT_INVALID', family: 'job', where: { line: expect.any(Number) } });
    return thrown.message;
  }
}

const accepts = (id: FormatId, document: Buffer): boolean => !answer(id, [document]).startsWith('Not valid');

function cut(document: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (document.length + 1)), document.length].sort((a, b) => a - b);
  return ends.map((end, k) => document.subarray(ends[k - 1] ?? 0, end));
}

const single = (document: Buffer): Buffer[] => Array.from(document, (_, k) => document.subarray(k, k + 1));

/** Bytes that mean something in a format, and some that are never allowed. */
const bytesOf: Record<FormatId, string> = {
  csv: '",;\t|\r\n a\ufeff',
  json: '[]{}:,"\\ \n0-1.eE+tfnu',
  xml: '<>&;/"\'= \n\r!?-[]a#x',
};

/** Documents that an encoder wrote, then damaged. */
const damaged = (id: FormatId): fc.Arbitrary<Buffer> =>
  harmed(
    id,
    batches.map((batch) => encode(id, [batch])),
  );

/** JSON of any structure and layout, then damaged. */
const nested: fc.Arbitrary<Buffer> = harmed(
  'json',
  fc
    .tuple(fc.jsonValue({ maxDepth: 4 }), fc.nat(2))
    .map(([value, space]) => Buffer.from(JSON.stringify(value, null, space))),
);

const jsonCell = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('null', '1', '-1.5e3', '"a"', '"a longer text"', '"\\"x\\u00e9"', '"ü"', '""'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('[]', '{}', '[1,{"a":1}]', '{"a":[{}],"b":2}', 'true', '01', '"', '}', '1,2', '\n7'),
  },
);
const jsonKind = fc.record({
  keys: fc.array(fc.constantFrom('"a"', '"customer"', '"nested"', '""', '"q\\""', '"ü"'), {
    minLength: 1,
    maxLength: 4,
  }),
  colon: fc.constantFrom(':', ': ', '\n:\n'),
  comma: fc.constantFrom(',', ', ', ',\n'),
});
const aroundRows = fc.constantFrom(
  ['[', ']'],
  ['[\n', '\n]'],
  ['{"rows":[', ']}'],
  ['[[', ']]'],
  ['[1,', ',{}]'],
  ['[{},', ']'],
);

/** Tables in which all rows but a few differ only in their values; then damaged. */
const jsonTables: fc.Arbitrary<Buffer> = harmed(
  'json',
  fc
    .tuple(
      fc.array(jsonKind, { minLength: 1, maxLength: 2 }),
      fc.array(fc.array(jsonCell, { minLength: 4, maxLength: 4 }), { minLength: 1, maxLength: 12 }),
      fc.array(fc.nat(20), { maxLength: 2 }),
      aroundRows,
    )
    .map(([kinds, cells, odd, [begin, end]]) => {
      const rows = cells.map((values, r) => {
        const { keys, colon, comma } = kinds[odd.includes(r) ? kinds.length - 1 : 0]!;
        const textOf = (key: string, c: number) => (key === '"nested"' ? `{"b":${values[c]},"c":[0]}` : values[c]);
        return `{${keys.map((key, c) => key + colon + textOf(key, c)).join(comma)}}`;
      });
      return Buffer.from(begin + rows.join(kinds[0]!.comma) + end);
    }),
);

/** Bytes inserted, removed and replaced. */
function harmed(id: FormatId, documents: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  const byte = fc.oneof(fc.constantFrom(...Buffer.from(bytesOf[id])), fc.constantFrom(0x80, 0xc3, 0xff, 0xed));
  const harm = fc.record({ at: fc.nat(), take: fc.nat(2), put: fc.array(byte, { maxLength: 2 }) });
  return fc.tuple(documents, fc.array(harm, { maxLength: 3 })).map(([whole, harms]) =>
    harms.reduce<Buffer>((document, { at, take, put }) => {
      const start = at % (document.length + 1);
      return Buffer.concat([document.subarray(0, start), Buffer.from(put), document.subarray(start + take)]);
    }, whole),
  );
}

/** Small documents that consist only of characters with a special meaning. */
const alphabet = (id: FormatId): fc.Arbitrary<Buffer> =>
  fc.string({ unit: fc.constantFrom(...bytesOf[id]), maxLength: 24 }).map((text) => Buffer.from(text));

describe.each(formatIds)('the %s checker', (id) => {
  test("accepts the encoder's output and counts its rows", () => {
    fc.assert(
      fc.property(batches, (batch) => {
        expect(answer(id, [encode(id, [batch])])).toBe(`records ${batch.length}`);
      }),
      { numRuns: runsOf(200) },
    );
  });

  test("doesn't treat a document of control characters as empty", () => {
    const named = batchOf([{ name: '\u0000', type: 'boolean' }], []);
    expect(answer(id, [encode(id, [named])])).toBe('records 0');
  });

  test('returns the same result no matter how the document is split into chunks', () => {
    const documents = id === 'json' ? [damaged(id), alphabet(id), nested, jsonTables] : [damaged(id), alphabet(id)];
    fc.assert(
      fc.property(fc.oneof(...documents), fc.array(fc.nat(), { maxLength: 5 }), (document, places) => {
        const whole = answer(id, [document]);
        expect(answer(id, cut(document, places))).toBe(whole);
        expect(answer(id, single(document))).toBe(whole);
      }),
      { numRuns: runsOf(1000) },
    );
  });

  const folder = new URL(`../cases/formats/${id}/`, import.meta.url);
  test.each(readdirSync(folder).filter((name) => name.endsWith('.in')))(
    'returns the documented result for %s',
    (name) => {
      const document = readFileSync(new URL(name, folder));
      const said = readFileSync(new URL(name.replace(/in$/, 'out'), folder), 'utf8').trimEnd();
      expect(answer(id, [document])).toBe(said);
      expect(answer(id, single(document))).toBe(said);
    },
  );
});

/** The result of csv-parse with this delimiter and in strict mode, ignoring empty lines at the end. */
function csvParses(document: Buffer): boolean {
  const text = document.toString();
  const first = /^(?:"[^"]*"|[^"\r\n])*/.exec(text.replace(/^\ufeff/, ''))![0].replaceAll(/"[^"]*"/g, '');
  const counts = [',', ';', '\t', '|'].map((each) => first.split(each).length);
  const delimiter = [',', ';', '\t', '|'][counts.indexOf(Math.max(...counts))]!;
  const trimmed = Math.max(...counts) > 1 ? text.replace(/(\r\n|\n|\r)+$/, '\n') : text;
  try {
    parse(Buffer.from(trimmed), { delimiter, bom: true, record_delimiter: ['\r\n', '\n', '\r'] });
    return true;
  } catch {
    return false;
  }
}

const isBlank = (document: Buffer): boolean => /^\ufeff?[ \t\r\n]*$/.test(document.toString());
const isText = (document: Buffer): boolean => Buffer.from(document.toString()).equals(document);

test('the csv checker agrees with csv-parse', () => {
  let accepted = 0;
  fc.assert(
    fc.property(fc.oneof(damaged('csv'), alphabet('csv')), (document) => {
      fc.pre(isText(document) && !isBlank(document));
      accepted += accepts('csv', document) ? 1 : 0;
      expect(accepts('csv', document)).toBe(csvParses(document));
    }),
    { numRuns: runsOf(3000) },
  );
  expect(accepted).toBeGreaterThan(100);
});

test('the json checker agrees with JSON.parse', () => {
  let accepted = 0;
  fc.assert(
    fc.property(
      fc.oneof(
        damaged('json'),
        alphabet('json'),
        nested,
        jsonTables,
        fc.json().map((text) => Buffer.from(text)),
      ),
      (document) => {
        const said = answer('json', [document]);
        if (!said.startsWith('Not valid')) accepted++;
        expect(said.replace(/^Not valid.*/s, 'refused')).toBe(
          isText(document) ? parsed(document.toString()) : 'refused',
        );
      },
    ),
    { numRuns: runsOf(5000) },
  );
  expect(accepted).toBeGreaterThan(1000);
});

/** The result of `JSON.parse`, in the same form as `answer`. */
function parsed(text: string): string {
  try {
    const value = JSON.parse(text) as unknown;
    return Array.isArray(value) ? `records ${value.length}` : 'accepted';
  } catch {
    return 'refused';
  }
}

test('the json checker reads a table with any number of columns', () => {
  for (const columns of [1, 2, 255, 256, 257, 300]) {
    const row = Array.from({ length: columns }, (_, c) => `"c${c % 7}":${c}`).join();
    const table = (last: string) => Buffer.from(`[${`{${row}},\n`.repeat(5)}${last}]`);
    expect(answer('json', [table('7')])).toBe('records 6');
    const wrong = table(`{${row}x}`);
    expect(answer('json', [wrong])).toBe(answer('json', single(wrong)));
  }
});

test('the json checker rejects a brace where it expects a comma, even if earlier rows start with the same key', () => {
  const rows = '[{"a":1,"b":2},{"b":3,"a":4},{"a":5';
  expect(answer('json', [Buffer.from(`${rows},"b":6}]`)])).toBe('records 3');
  const wrong = Buffer.from(`${rows}{"b":6}]`);
  expect(answer('json', [wrong])).toBe("Not valid JSON: expected ',' or '}', found { at line 1, byte 35");
});

test("the json checker counts the items between a table's rows", () => {
  for (const [text, items] of [
    ['{"a":1},{},', 2],
    ['{"a":1},5,', 2],
    ['{"a":1},[{"a":2}],', 2],
    ['{},{"a":1},{},', 3],
    ['[1],', 1],
  ] as const) {
    const document = Buffer.from(`[${text.repeat(50)}0]`);
    expect(answer('json', [document])).toBe(`records ${50 * items + 1}`);
  }
});

test('every checker rejects random binary data', () => {
  fc.assert(
    fc.property(fc.constantFrom(...formatIds), fc.uint8Array({ minLength: 1, maxLength: 200 }), (id, bytes) => {
      fc.pre(!isText(Buffer.from(bytes)));
      expect(answer(id, [bytes])).toMatch(/^Not valid/);
    }),
  );
});

test('every checker reads 200 MB in constant memory', () => {
  const rows: Record<FormatId, [string, string, string]> = {
    csv: ['a,b\n', '"x\ny",2\n'.repeat(50_000), ''],
    json: ['[0', ',{"a":[1.5,"x\\n"]}'.repeat(25_000), ']'],
    xml: ['<rows>', '<row><a>x &amp; y</a><b/></row>\n'.repeat(20_000), '</rows>'],
  };
  for (const id of formatIds) {
    const [begin, middle, end] = rows[id].map((text) => Buffer.from(text));
    const checker = checkerOf(id);
    checker.write(begin!);
    checker.write(middle!);
    const before = process.memoryUsage.rss();
    for (let bytes = 0; bytes < 70e6; bytes += middle!.length) checker.write(middle!);
    checker.write(end!);
    expect(checker.end().records).toBeGreaterThan(1_000_000);
    expect(process.memoryUsage.rss() - before).toBeLessThan(100e6);
  }
});

test('the csv checker rejects an endless first record instead of buffering it', () => {
  const endless = Buffer.alloc(700_000, 'a,');
  expect(answer('csv', [endless, endless])).toMatch(
    /^Not valid CSV: the first record does not end within 1048576 bytes/,
  );
});

test('the csv checker detects the delimiter only in the first record, outside quotes', () => {
  expect(answer('csv', [Buffer.from('"a,b,c,d";e\n1;2,3,4\n')])).toBe('records 1');
  expect(answer('csv', [Buffer.from('a\n1,2\n')])).toMatch(/a record with 2 fields, but the first record has 1,/);
});

test.each(['<!--', '<![CDATA[', '<', '<a b="', '&', '<?a '])(
  "the xml checker doesn't buffer an endless %s",
  (begin) => {
    const checker = checkerOf('xml');
    checker.write(Buffer.from(`<r>${begin}`));
    const more = Buffer.alloc(1024 * 1024, 'a');
    expect(() => {
      for (let k = 0; k < 20; k++) checker.write(more);
    }).toThrow(/with more than 16777216 characters/);
  },
);

test('the xml checker accepts text of any length', () => {
  const checker = checkerOf('xml');
  checker.write(Buffer.from('<r><a>'));
  for (let k = 0; k < 20; k++) checker.write(Buffer.alloc(1024 * 1024, 'a'));
  checker.write(Buffer.from('</a></r>'));
  expect(checker.end().records).toBe(1);
});

test('the csv checker names the first of several empty lines between records', () => {
  expect(answer('csv', [Buffer.from('a,b\n1,2\n\n\n\n3,4\n')])).toContain('line 3');
});

test.each(['csv', 'json', 'xml'] as const)('the %s checker rejects a document without bytes', (id) => {
  expect([answer(id, []), answer(id, [Buffer.alloc(0)])]).toEqual(
    Array(2).fill(expect.stringContaining('the document is empty')),
  );
});
