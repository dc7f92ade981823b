import { XMLParser } from 'fast-xml-parser';
import { SaxesParser } from 'saxes';
import { describe, expect, test } from 'vitest';
import { elementName } from '../../src/formats/xml-names.ts';
import type { Batch } from '../../src/sdk/batch.ts';
import { batchOf, batchText } from '../../src/sdk/batch.ts';
import type { Column } from '../../src/sdk/column.ts';
import fc, { runsOf } from '../property.ts';
import { batches, encode, nastyTexts } from './encoding.ts';

/** Production Char of the specification. */
const outsideXml = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
/** The text, with each character replaced that XML 1.0 can't represent. */
const carried = (text: string): string => text.toWellFormed().replaceAll(outsideXml, '\ufffd');

type Rows = Record<string, string>[];

function expected(batch: Batch): Rows {
  const names = batch.columns.map(({ name }) => elementName(name));
  return batchText(batch).map((row) =>
    Object.fromEntries(row.flatMap((text, c) => (text === null ? [] : [[names[c]!, carried(text)]]))),
  );
}

function readBySaxes(document: string): Rows {
  const rows: [string, string][][] = [];
  const path: string[] = [];
  const parser = new SaxesParser();
  let text = '';
  parser.on('opentag', ({ name }) => {
    path.push(name);
    if (path.length === 2) rows.push([]);
    text = '';
  });
  parser.on('text', (more) => {
    text += more;
  });
  parser.on('closetag', ({ name }) => {
    if (path.length === 3) rows.at(-1)!.push([name, text]);
    path.pop();
    text = '';
  });
  parser.write(document).close();
  return rows.map((row) => Object.fromEntries(row));
}

const xmlOf = (texts: (string | null)[], options: Record<string, unknown> = {}): string =>
  encode(
    'xml',
    [
      batchOf(
        [{ name: 'v', type: 'text' }],
        texts.map((text) => [text]),
      ),
    ],
    options,
  ).toString();

describe('an XML document', () => {
  test('round-trips through saxes, with null cells omitted and empty cells kept', () => {
    fc.assert(
      fc.property(batches, (batch) => {
        expect(readBySaxes(encode('xml', [batch]).toString())).toEqual(expected(batch));
      }),
      { numRuns: runsOf(300) },
    );
  });

  test('can be read by fast-xml-parser', () => {
    const parser = new XMLParser({
      parseTagValue: false,
      trimValues: false,
      isArray: (name) => name === 'row',
      htmlEntities: true,
    });
    const texts = nastyTexts.filter((text) => text !== '' && carried(text).trim() !== '');
    const rows = texts.map((text) => ({ v: carried(text) }));
    const read = parser.parse(xmlOf(texts)) as { rows: { row: { v: string }[] } };
    expect(read.rows.row.map(({ v }) => ({ v }))).toEqual(rows);
  });

  test('escapes markup and keeps tabs and line ends', () => {
    expect(xmlOf(['<a> & ]]> "\'', 'x\ty\nz\r\n', '', null])).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<rows>\n' +
        '<row><v>&lt;a&gt; &amp; ]]&gt; "\'</v></row>\n<row><v>x\ty\nz&#13;\n</v></row>\n<row><v></v></row>\n<row></row>\n</rows>\n',
    );
  });

  test('uses the configured element names', () => {
    expect(xmlOf(['1'], { root: 'orders', row: 'order' })).toContain('<orders>\n<order><v>1</v></order>\n</orders>\n');
  });

  test.each([
    ['id', 'id'],
    ['Straße', 'Straße'],
    ['two words', 'two_words'],
    ['a:b', 'a_b'],
    ['1st', '_1st'],
    ['-x', '_-x'],
    ['xmlThing', '_xmlThing'],
    ['XML', '_XML'],
    ['', '_'],
    ['<a/>', '_a__'],
    ['😀', '_'],
    ['\ud800', '_'],
    ['__proto__', '__proto__'],
  ])('writes the column %j as the element %s', (name, element) => {
    expect(elementName(name)).toBe(element);
  });

  test('rejects two columns that map to the same element name, and reports both', () => {
    const columns: readonly Column[] = [
      { name: 'a b', type: 'text' },
      { name: 'a:b', type: 'text' },
    ];
    expect(() => encode('xml', [batchOf(columns, [])])).toThrow(
      expect.objectContaining({ code: 'FORMAT_COLUMN_NAME', family: 'config', seen: '"a b" and "a:b"' }),
    );
  });
});
