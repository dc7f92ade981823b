import { ownNames, serviceWorld } from '../../connectors/doubles/service-world.ts';
import type { Asked } from '../../connectors/doubles/vendor.ts';

const [pages, perPage] = [7, 100];
const textColumns = ['organisation', 'id', 'type', 'status', 'account_id', 'account', 'contact', 'reference'];

const transaction = (n: number, reference: string) => ({
  BankTransactionID: `b-${n}`,
  Type: 'RECEIVE',
  Status: 'AUTHORISED',
  BankAccount: { AccountID: 'a', Name: 'Current' },
  Reference: reference,
  Date: '/Date(1767225600000+0000)/',
  IsReconciled: true,
  Total: n,
  UpdatedDateUTC: `/Date(${1767225600000 + n * 1000}+0000)/`,
});
const row = (n: number) => [
  'Shop Ltd',
  `b-${n}`,
  'RECEIVE',
  'AUTHORISED',
  'a',
  'Current',
  null,
  'r',
  '2026-01-01',
  'true',
  null,
  null,
  null,
  String(n),
  `2026-01-01T00:00:0${n}Z`,
];

/** Transactions added after the first listing. */
let grown = 0;

function transactions({ query }: Asked) {
  const page = Number(query.get('page'));
  const isMany = query.get('where') === 'many';
  const count = isMany ? perPage : 3 + grown;
  const reference = isMany ? 'r'.repeat(25_000) : 'r';
  return {
    json: {
      pagination: { page, pageCount: isMany ? pages : 1 },
      BankTransactions: Array.from({ length: count }, (_, i) => transaction((page - 1) * perPage + i + 1, reference)),
    },
  };
}

export default serviceWorld({
  query: { stream: 'bank_transactions' },
  routes: {
    'GET /connections': { json: [{ tenantId: 't', tenantName: 'Shop Ltd' }] },
    'GET /api.xro/2.0/BankTransactions': transactions,
    'GET /api.xro/2.0/Invoices': { json: { pagination: { pageCount: 1 }, Invoices: [{ InvoiceID: 'i' }] } },
    'GET /api.xro/2.0/Reports/ProfitAndLoss': {
      json: { Reports: [{ Rows: [{ RowType: 'Row', Cells: [{ Value: 'Net Profit' }, { Value: '1.50' }] }] }] },
    },
  },
  columns: [
    ...textColumns.map((name) => ({ name, type: 'text' as const })),
    { name: 'date', type: 'date' },
    { name: 'reconciled', type: 'boolean' },
    { name: 'currency', type: 'text' },
    { name: 'subtotal', type: 'decimal' },
    { name: 'tax', type: 'decimal' },
    { name: 'total', type: 'decimal' },
    { name: 'updated_at', type: 'timestamptz' },
  ],
  rows: [row(1), row(2), row(3)],
  refused: [
    { query: { statuses: ['PAID'] }, option: 'statuses' },
    { query: { stream: 'ledger' }, option: 'stream' },
    { query: { start_date: 'soon' }, option: 'start_date' },
    { source: { organisations: 'Shop' }, option: 'organisations' },
  ],
  // Another source has its own 60 requests a minute.
  many: { source: { retries: 1 }, query: { where: 'many' }, rows: pages * perPage },
  resume: {
    query: { incremental: true },
    grow: async () => {
      grown += 2;
      return [row(2 + grown), row(3 + grown)];
    },
  },
  waived: ownNames,
});
