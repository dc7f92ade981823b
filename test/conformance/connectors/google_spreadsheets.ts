import { hostileNames, hostileValues } from '#sdk/testing';
import { serviceWorld } from '../../connectors/doubles/service-world.ts';
import { spreadsheet } from '../../connectors/doubles/spreadsheet.ts';
import type { Asked } from '../../connectors/doubles/vendor.ts';

const manyRows = 5_500;
const few = [
  ['Day', 'Paid', 'Shop'],
  ['2026-01-05', 12.5, 'Böð'],
  ['2026-01-06', 7, ''],
];
const small = spreadsheet('few', {
  Costs: { cells: [[], ['Costs of the year'], ...few.map((row) => ['', ...row])] },
  Orders: { cells: few },
  Hostile: { cells: [hostileNames, ...hostileValues.map((value) => hostileNames.map(() => value))] },
});

/** Rows are generated on request. */
function large({ query }: Asked) {
  const [from = 0, to = 0] =
    /A(\d+):B(\d+)$/
      .exec(query.getAll('ranges')[1] ?? '')
      ?.slice(1)
      .map(Number) ?? [];
  const values = Array.from({ length: to - from + 1 }, (_, i) => [from + i, 'note '.repeat(600)]);
  return { json: { valueRanges: [{ values: [['id', 'note']] }, { values }] } };
}

export default serviceWorld({
  source: { spreadsheet: 'few' },
  query: { stream: 'rows', sheet: 'Orders' },
  routes: {
    ...small,
    'GET /v4/spreadsheets/many': {
      json: { sheets: [{ properties: { title: 'All', gridProperties: { rowCount: manyRows + 1, columnCount: 2 } } }] },
    },
    'GET /v4/spreadsheets/many/values:batchGet': large,
  },
  columns: [
    { name: 'Day', type: 'text' },
    { name: 'Paid', type: 'decimal' },
    { name: 'Shop', type: 'text' },
  ],
  rows: [
    ['2026-01-05', '12.5', 'Böð'],
    ['2026-01-06', '7', null],
  ],
  refused: [
    { source: { spreadsheet: undefined }, option: 'spreadsheet' },
    { query: { range: 'all of it' }, option: 'range' },
    { query: { stream: 'sheets', range: 'A:B', sheet: undefined }, option: 'range' },
    { query: { incremental: true }, option: 'incremental' },
  ],
  many: { source: { spreadsheet: 'many' }, query: { sheet: 'All', rows_per_request: 500 }, rows: manyRows },
  hostile: { query: { sheet: 'Hostile' } },
});
