import { expect, it } from 'vitest';
import { batchOf } from '../../src/sdk/batch.ts';
import { encode } from './encoding.ts';

it('an NDJSON document has one object per line, keeps every digit, and is empty if there are no rows', () => {
  const columns = [
    { name: 'id', type: 'integer' },
    { name: 'note', type: 'text' },
    { name: 'amount', type: 'decimal' },
  ] as const;
  const rows = [
    [9223372036854775807n, 'two\nlines "quoted"', '0.10'],
    [2, null, '12345678901234567890.5'],
  ];
  expect(encode('ndjson', [batchOf(columns, rows)]).toString()).toBe(
    `{"id":9223372036854775807,"note":"two\\nlines \\"quoted\\"","amount":0.10}
{"id":2,"note":null,"amount":12345678901234567890.5}
`,
  );
  expect(encode('ndjson', [batchOf(columns, [])]).toString()).toBe('');
});
