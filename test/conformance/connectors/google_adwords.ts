import { serviceWorld } from '../../connectors/doubles/service-world.ts';
import type { Asked } from '../../connectors/doubles/vendor.ts';

const [pages, perPage] = [34, 400];

const day = (n: number) => ({
  segments: { date: `2026-01-0${n}` },
  customer: { id: '11', descriptiveName: 'Shop', currencyCode: 'EUR' },
  campaign: { id: String(n), name: 'Spring', status: 'ENABLED', advertisingChannelType: 'SEARCH' },
  metrics: { impressions: '1000', clicks: '20', costMicros: '1500000', conversions: 2.5, conversionsValue: 10 },
});
const row = (n: number) => [
  ...[`2026-01-0${n}`, '11', 'Shop', 'EUR', String(n), 'Spring', 'ENABLED', 'SEARCH'],
  ...['1000', '20', '1.5', '2.5', '10'],
];

function found({ body, part }: Asked) {
  if (part.id === '1234567890') return { json: { results: [{ customerClient: { id: '11' } }] } };
  if (part.id === '12') {
    const page = Number(body.pageToken ?? 0);
    const results = Array.from({ length: perPage }, (_, i) => ({
      ...day(1),
      campaign: { ...day(1).campaign, id: String(page * perPage + i), name: 'Spring '.repeat(170) },
    }));
    return { json: { results, ...(page + 1 < pages ? { nextPageToken: String(page + 1) } : {}) } };
  }
  return { json: { results: [day(1), day(2), day(3)] } };
}

const columns = [
  ['date', 'date'],
  ['account_id', 'integer'],
  ['account', 'text'],
  ['currency', 'text'],
  ['campaign_id', 'integer'],
  ['campaign', 'text'],
  ['status', 'text'],
  ['channel', 'text'],
  ['impressions', 'integer'],
  ['clicks', 'integer'],
  ['cost', 'decimal'],
  ['conversions', 'decimal'],
  ['conversion_value', 'decimal'],
] as const;

export default serviceWorld({
  source: { manager: '123-456-7890' },
  query: { stream: 'campaigns', customer: '11', start_date: '2026-01-01', end_date: '2026-01-03' },
  routes: {
    'POST /v26/customers/{id}/googleAds:search': found,
    'GET /v26/customers:listAccessibleCustomers': { json: { resourceNames: ['customers/11'] } },
  },
  columns: columns.map(([name, type]) => ({ name, type })),
  rows: [row(1), row(2), row(3)],
  refused: [
    { query: { stream: 'report' }, option: 'gaql' },
    { query: { stream: 'report', gaql: 'DROP TABLE campaign' }, option: 'gaql' },
    { query: { gaql: 'SELECT campaign.id FROM campaign' }, option: 'gaql' },
    { query: { stream: 'accounts', customer: undefined, start_date: 'soon' }, option: 'start_date' },
  ],
  many: { query: { customer: '12' }, rows: pages * perPage },
  waived: {
    hostile: 'its columns are declared, and their names are not up to the vendor',
    resume: 'conversions are counted on the day of their click, so the last fortnight is read again on purpose',
  },
});
