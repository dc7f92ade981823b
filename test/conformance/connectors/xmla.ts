import { hostileNames, hostileValues } from '#sdk/testing';
import { olap, tabular } from '../../connectors/doubles/olap.ts';
import { serviceWorld } from '../../connectors/doubles/service-world.ts';
import type { Asked, Reply } from '../../connectors/doubles/vendor.ts';

/** XML can't contain control characters. */
const isWritable = (text: string) => [...text].every((c) => c >= ' ' && c !== '\ufffe' && c !== '\uffff');
const values = hostileValues.filter(isWritable);
const names = hostileNames.filter(isWritable);

const manyRows = 3_400;
const store = 'store '.repeat(800);
const columns = ['Store:string', 'Sales:int'];

/** Created once, because creating it takes as long as reading it, and the same process has to stop promptly. */
const many = tabular(
  columns,
  Array.from({ length: manyRows }, (_, i) => [`${store}${i}`, String(i)]),
);

function execute({ body }: Asked): Reply {
  if (String(body).includes('hostile')) {
    return tabular(
      names.map((name) => `${name}:string`),
      values.map((value) => names.map(() => value)),
    );
  }
  const few = [
    ['Berlin', '1'],
    ['Paris', '2'],
  ];
  return String(body).includes('many') ? many : tabular(columns, few);
}

export default serviceWorld({
  source: { url: 'http://olap.example.com/xmla', user: 'ann', password: 's3cret-xmla' },
  query: { stream: 'query', statement: 'select good' },
  routes: olap({ execute }),
  columns: [
    { name: 'Store', type: 'text' },
    { name: 'Sales', type: 'integer' },
  ],
  rows: [
    ['Berlin', '1'],
    ['Paris', '2'],
  ],
  login: {
    wrong: { password: 'old' },
    guard: ({ headers }) =>
      headers.authorization === `Basic ${Buffer.from('ann:s3cret-xmla').toString('base64')}`
        ? undefined
        : { status: 401, text: 'no' },
  },
  refused: [
    { source: { url: 'olap' }, option: 'url' },
    { query: { statement: undefined }, option: 'statement' },
    { query: { layout: 'flat' }, option: 'layout' },
  ],
  hostile: { query: { statement: 'select hostile' }, names, values },
  many: { query: { statement: 'select many' }, rows: manyRows },
});
