import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PayloadTable } from '../../src/formats/payload-table.ts';
import { type Cells, folderOfTest, type Way, write } from '../compare/tables.ts';

const cases: [Way['format'], Way['options'], readonly Cells[]][] = [
  [
    'csv',
    { delimiter: '|', line_end: 'crlf' },
    [
      ['a|b', ' x\r\n '],
      ['', null],
    ],
  ],
  [
    'csv',
    { null_text: 'NULL', bom: true },
    [
      ['NULL', null],
      ['', 'x'],
    ],
  ],
  [
    'csv',
    { formulas: 'escape' },
    [
      ['@acme', '-1'],
      [null, '+49 1'],
      ["it's", '\t=x'],
    ],
  ],
  [
    'json',
    {},
    [
      ['1', null],
      ['', ' x'],
    ],
  ],
  [
    'ndjson',
    {},
    [
      ['1', null],
      ['', ' x'],
    ],
  ],
  [
    'xml',
    { root: 'row', row: 'row' },
    [
      ['1', ' x '],
      ['', null],
    ],
  ],
  [
    'xml',
    { root: 'a.b', row: 'a-b' },
    [
      ['1', null],
      ['2', ''],
    ],
  ],
];

it.each(cases)('a payload is read back as it was: %s %j', async (format, options, rows) => {
  const columns = ['row', '=b'];
  const names = format === 'xml' ? ['row', '_b'] : columns;
  const table = await PayloadTable.open(write(join(folderOfTest(), 'payload'), { columns, rows }, { format, options }));
  const read: Cells[] = [];
  for await (const row of table.rows()) read.push([...row]);
  expect({ names: table.columns, rows: read }).toEqual({ names, rows });
});
