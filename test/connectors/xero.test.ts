import { expect, it } from 'vitest';
import xero from '../../connectors/xero.ts';
import {
  checkServiceCase,
  describeStream,
  expiringAfter,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';
import type { Asked } from './doubles/vendor.ts';

const connections = [
  { tenantId: 't-1', tenantType: 'ORGANISATION', tenantName: 'Shop Ltd' },
  { tenantId: 't-2', tenantType: 'ORGANISATION', tenantName: 'Works Ltd' },
  { tenantId: 't-3', tenantType: 'PRACTICE', tenantName: 'Accountants' },
];

/** The time this many hours after midnight on 1 January 2026 in UTC. */
const dotnet = (hours: number) => `/Date(${1767225600000 + hours * 3_600_000}+0000)/`;

const invoice = (tenant: string, n: number) => ({
  InvoiceID: `${tenant}-i${n}`,
  InvoiceNumber: `INV-${n}`,
  Type: 'ACCREC',
  Status: 'AUTHORISED',
  Contact: { ContactID: 'c', Name: 'Ann' },
  Date: dotnet(0),
  DueDate: dotnet(24),
  CurrencyCode: 'NZD',
  Total: '#100.10',
  AmountDue: '#0.30',
  UpdatedDateUTC: dotnet(n),
});
const decimals = (value: unknown) => ({
  text: JSON.stringify(value).replaceAll(/"#([\d.]+)"/g, '$1'),
  headers: { 'content-type': 'application/json' },
});
const row = (tenant: string, organisation: string, n: number) => [
  organisation,
  `${tenant}-i${n}`,
  `INV-${n}`,
  'ACCREC',
  'AUTHORISED',
  'c',
  'Ann',
  null,
  '2026-01-01',
  '2026-01-02',
  null,
  'NZD',
  null,
  null,
  null,
  '100.10',
  '0.30',
  null,
  null,
  `2026-01-01T0${n}:00:00Z`,
];

/** Three invoices on two pages; the second organization has one. */
function invoices({ query, headers }: Asked) {
  const tenant = String(headers['xero-tenant-id']);
  const page = Number(query.get('page'));
  const ids = tenant === 't-2' ? [[1]] : [[1, 2], [3]];
  const pagination = { page, pageSize: 1000, pageCount: ids.length, itemCount: ids.flat().length };
  return decimals({ pagination, Invoices: (ids[page - 1] ?? []).map((n) => invoice(tenant, n)) });
}

const given: ServiceCase = {
  service: xero,
  source: { organisations: ['Shop Ltd'] },
  query: { stream: 'invoices', where: 'Type == "ACCREC"', statuses: ['AUTHORISED', 'PAID'] },
  // Days don't depend on the run's zone.
  timezone: 'America/New_York',
  routes: { 'GET /connections': { json: connections }, 'GET /api.xro/2.0/Invoices': invoices },
};
const rows = [1, 2, 3].map((n) => row('t-1', 'Shop Ltd', n));
const asked = (page: number) =>
  `GET /api.xro/2.0/Invoices?page=${page}&pageSize=1000&order=UpdatedDateUTC ASC&where=Type == "ACCREC"&Statuses=AUTHORISED,PAID`;
const pages = 'GET /api.xro/2.0/Invoices';

describeStream('Xero invoices', given, { rows, asked: ['GET /connections', asked(1), asked(2)] }, [
  {
    name: 'a used-up quota of the minute',
    faults: [
      { at: 2, to: pages, reply: { status: 429, headers: { 'x-rate-limit-problem': 'minute', 'retry-after': '0' } } },
    ],
  },
  {
    name: 'a used-up daily quota',
    faults: [
      { at: 2, to: pages, reply: { status: 429, headers: { 'x-rate-limit-problem': 'Day', 'retry-after': '3600' } } },
    ],
    problem: { code: 'SERVICE_DAILY_LIMIT', family: 'try_later', retryAfterMs: 3_600_000 },
  },
  {
    name: 'an endpoint without pages',
    faults: [{ at: 2, to: pages, reply: 'repeat' }],
    problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
  },
  {
    name: 'an organization that has withdrawn its consent',
    faults: [{ at: 1, to: pages, reply: { status: 403, json: { Status: 403, Detail: 'AuthenticationUnsuccessful' } } }],
    problem: { code: 'SERVICE_PERMISSION', family: 'login' },
  },
  {
    name: "a scope that the app doesn't have",
    faults: [{ at: 1, to: pages, reply: { status: 401, json: { Status: 401, Detail: 'AuthorizationUnsuccessful' } } }],
    problem: { code: 'SERVICE_PERMISSION', family: 'login' },
  },
  {
    name: 'an invalid condition',
    faults: [{ at: 1, to: pages, reply: { status: 400, json: { Type: 'QueryParseException' } } }],
    problem: { code: 'SERVICE_REFUSED', family: 'config' },
  },
]);

it("reads all of the user's organizations as one table, names each in its request's header, and requests JSON", async () => {
  const { rows: all, vendor } = await runService({ ...given, source: {} });
  expect(all).toEqual([...rows, row('t-2', 'Works Ltd', 1)]);
  const sent = vendor.asked.map(({ headers }) => [headers['xero-tenant-id'], headers.accept]);
  expect(sent).toEqual([undefined, 't-1', 't-1', 't-2'].map((tenant) => [tenant, 'application/json']));
});

it('requests every status by default', async () => {
  const { asked: lines } = await runService({ ...given, query: { stream: 'invoices' } });
  expect(lines[1]).toBe('GET /api.xro/2.0/Invoices?page=1&pageSize=1000&order=UpdatedDateUTC ASC');
});

it('renews a token that expires in the middle of a run', async () => {
  const { rows: all, login } = await runService({ ...given, guard: expiringAfter(2) });
  expect(all).toEqual(rows);
  expect(login.refusals).toEqual(['token-1']);
});

it('requests changes since a UTC time, to the second, and skips known records', async () => {
  const query = { ...given.query, incremental: true };
  const first = await runService({ ...given, query });
  expect(JSON.parse(first.watermark!)).toEqual({ since: '2026-01-01T03:00:00Z', edge: ['t-1-i3'] });
  const { vendor, rows: again, unchanged } = await runService({ ...given, query, watermark: first.watermark! });
  expect(vendor.asked[1]!.headers['if-modified-since']).toBe('2026-01-01T03:00:00');
  expect({ again, unchanged }).toEqual({ again: [], unchanged: true });
});

it('names the available organizations if an unknown one is requested, and reports if there are none', async () => {
  expect(await failService({ ...given, source: { organisations: ['Shop'] } })).toMatchObject({
    code: 'XERO_NO_ORGANISATION',
    family: 'config',
    seen: 'Shop',
    allowed: 'Shop Ltd, Works Ltd',
  });
  const routes = { 'GET /connections': { json: [] } };
  expect(await failService({ ...given, routes })).toMatchObject({ code: 'XERO_NOT_CONNECTED', family: 'login' });
});

it('reports which organizations it can access', async () => {
  expect(await checkServiceCase(given)).toBe('logged in with access to Shop Ltd, Works Ltd');
});

it("returns a report's rows for each month", async () => {
  const cell = (Value: string, account?: string) => ({
    Value,
    ...(account === undefined ? {} : { Attributes: [{ Id: 'account', Value: account }] }),
  });
  const Rows = [
    { RowType: 'Header', Cells: [cell(''), cell('31 Jan 26')] },
    {
      RowType: 'Section',
      Title: 'Income',
      Rows: [
        { RowType: 'Row', Cells: [cell('Sales', 'a-1'), cell('1234.50', 'a-1')] },
        { RowType: 'SummaryRow', Cells: [cell('Total Income'), cell('1234.50')] },
      ],
    },
    { RowType: 'Section', Title: '', Rows: [{ RowType: 'Row', Cells: [cell('Net Profit'), cell('')] }] },
  ];
  const outcome = await runService({
    ...given,
    query: { stream: 'profit_and_loss', start_date: '2026-01-01', end_date: '2026-02-10' },
    routes: { ...given.routes, 'GET /api.xro/2.0/Reports/ProfitAndLoss': { json: { Reports: [{ Rows }] } } },
  });
  const month = (from: string, to: string) => [
    ['Shop Ltd', from, to, 'Income', 'Sales', 'Row', 'a-1', '1234.50'],
    ['Shop Ltd', from, to, 'Income', 'Total Income', 'SummaryRow', null, '1234.50'],
    ['Shop Ltd', from, to, '', 'Net Profit', 'Row', null, null],
  ];
  expect(outcome.rows).toEqual([...month('2026-01-01', '2026-01-31'), ...month('2026-02-01', '2026-02-10')]);
  expect(outcome.asked.slice(1)).toEqual([
    'GET /api.xro/2.0/Reports/ProfitAndLoss?fromDate=2026-01-01&toDate=2026-01-31',
    'GET /api.xro/2.0/Reports/ProfitAndLoss?fromDate=2026-02-01&toDate=2026-02-10',
  ]);
});
