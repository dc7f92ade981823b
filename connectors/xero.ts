import { defineService, listAt, option, Problem, type StreamData } from '#sdk';

const organisation = { type: 'text', scope: 'partition.organisation.name' } as const;
/**
 * Dates and times are in UTC. An invoice dated 1 January has the time midnight UTC, regardless of the organization's
 * time zone.
 */
const day = (at: string) => ({ type: 'date', at, date: 'dotnet', zone: 'UTC' }) as const;
const instant = (at: string) => ({ type: 'timestamptz', at, date: 'dotnet', zone: 'UTC' }) as const;

const partitions = {
  organisation: {
    request: { path: 'https://api.xero.com/connections' },
    records: (answer, scope) =>
      chosen(listAt(answer, '') as Connection[], scope.organisations as readonly string[] | undefined),
    fields: { id: 'tenantId', name: 'tenantName' },
  },
} satisfies StreamData['partitions'];

const where = {
  where: option.text({
    about: 'A filter in Xero’s syntax.',
    example: 'Date >= DateTime(2026, 01, 01)',
  }),
};

/** Pages of records, sorted by modification time. */
function changing(path: string, query: Readonly<Record<string, string>> = {}): Pick<StreamData, 'request' | 'paging'> {
  return {
    request: {
      path,
      query: {
        page: '{{ page.number }}',
        pageSize: 1000,
        order: 'UpdatedDateUTC ASC',
        where: '{{ where }}',
        ...query,
      },
      headers: {
        'xero-tenant-id': '{{ partition.organisation.id }}',
        'if-modified-since': '{{ since | in: UTC | format: YYYY-MM-DDTHH:mm:ss }}',
      },
    },
    paging: { by: 'page', pages: 'pagination.pageCount' },
  };
}

/** One report per calendar month. Each line of a report becomes a row. */
function monthly(about: string, path: string, query: Readonly<Record<string, string>>): StreamData {
  return {
    about,
    partitions,
    window: { step: 'month', start: '11mo', look_back: '2mo' },
    request: { path, query, headers: { 'xero-tenant-id': '{{ partition.organisation.id }}' } },
    records: (answer) => linesOf(listAt(answer, 'Reports.0.Rows') as Part[], ''),
    columns: {
      organisation,
      from: { type: 'date', scope: 'window.from' },
      to: { type: 'date', scope: 'window.to' },
      section: 'text',
      line: 'text',
      kind: 'text',
      account_id: 'text',
      amount: 'decimal',
    },
  };
}

/** Xero's Accounting API, as described in its OpenAPI description and in the guides to OAuth and limits. */
export default defineService({
  id: 'xero',
  title: 'Xero',
  summary: 'Reads invoices, bank transactions, profit and loss reports, and balance sheets from Xero.',
  options: {
    organisations: option.list<string>(
      { type: 'string' },
      {
        about:
          'Names or IDs of the organizations to read. Default: all organizations that the logged-in user may access.',
        example: ['Demo Company'],
      },
    ),
  },
  version: '2.0',
  base: 'https://api.xero.com/api.xro/{{ api_version }}',
  login: {
    kind: 'oauth',
    oauth: {
      grants: ['authorization_code', 'client_credentials'],
      authorize_url: 'https://login.xero.com/identity/connect/authorize',
      token_url: 'https://identity.xero.com/connect/token',
      pkce: true,
      scopes: [
        'accounting.invoices.read',
        'accounting.banktransactions.read',
        'accounting.reports.profitandloss.read',
        'accounting.reports.balancesheet.read',
      ],
      person_scopes: ['offline_access'],
      client_authentication: 'basic',
      refresh: 'rotating',
      lifetime_seconds: 1800,
    },
  },
  // Without this header, Xero responds with XML.
  headers: { accept: 'application/json' },
  streams: {
    invoices: {
      about: 'Invoices and bills with the amounts due.',
      options: {
        ...where,
        statuses: option.list<string>(
          { type: 'string' },
          { about: 'Read only invoices with these statuses.', example: ['AUTHORISED', 'PAID'] },
        ),
      },
      partitions,
      ...changing('/Invoices', { Statuses: '{{ statuses | join: , }}' }),
      records: 'Invoices',
      // Several organizations are read one after the other. The next run reads anything that changed in the meantime.
      incremental: { column: 'updated_at', key: 'InvoiceID', settles: '5m' },
      columns: {
        organisation,
        id: { type: 'text', at: 'InvoiceID' },
        number: { type: 'text', at: 'InvoiceNumber' },
        type: { type: 'text', at: 'Type' },
        status: { type: 'text', at: 'Status' },
        contact_id: { type: 'text', at: 'Contact.ContactID' },
        contact: { type: 'text', at: 'Contact.Name' },
        reference: { type: 'text', at: 'Reference' },
        date: day('Date'),
        due_date: day('DueDate'),
        paid_on: day('FullyPaidOnDate'),
        currency: { type: 'text', at: 'CurrencyCode' },
        currency_rate: { type: 'decimal', at: 'CurrencyRate' },
        subtotal: { type: 'decimal', at: 'SubTotal' },
        tax: { type: 'decimal', at: 'TotalTax' },
        total: { type: 'decimal', at: 'Total' },
        due: { type: 'decimal', at: 'AmountDue' },
        paid: { type: 'decimal', at: 'AmountPaid' },
        credited: { type: 'decimal', at: 'AmountCredited' },
        updated_at: instant('UpdatedDateUTC'),
      },
    },
    bank_transactions: {
      about: 'Bank transactions: money spent and received.',
      options: where,
      partitions,
      ...changing('/BankTransactions'),
      records: 'BankTransactions',
      incremental: { column: 'updated_at', key: 'BankTransactionID', settles: '5m' },
      columns: {
        organisation,
        id: { type: 'text', at: 'BankTransactionID' },
        type: { type: 'text', at: 'Type' },
        status: { type: 'text', at: 'Status' },
        account_id: { type: 'text', at: 'BankAccount.AccountID' },
        account: { type: 'text', at: 'BankAccount.Name' },
        contact: { type: 'text', at: 'Contact.Name' },
        reference: { type: 'text', at: 'Reference' },
        date: day('Date'),
        reconciled: { type: 'boolean', at: 'IsReconciled' },
        currency: { type: 'text', at: 'CurrencyCode' },
        subtotal: { type: 'decimal', at: 'SubTotal' },
        tax: { type: 'decimal', at: 'TotalTax' },
        total: { type: 'decimal', at: 'Total' },
        updated_at: instant('UpdatedDateUTC'),
      },
    },
    profit_and_loss: monthly('Profit and loss, month by month.', '/Reports/ProfitAndLoss', {
      fromDate: '{{ window.from | date }}',
      toDate: '{{ window.to | date }}',
    }),
    balance_sheet: monthly('The balance sheet at the end of each month.', '/Reports/BalanceSheet', {
      date: '{{ window.to | date }}',
    }),
  },
  errors: [
    { status: 429, headers: { 'x-rate-limit-problem': /^da/i }, verdict: 'daily' },
    {
      status: 401,
      body: { Detail: /AuthorizationUnsuccessful/ },
      verdict: 'permission',
      next: 'give the app the required scope, then log in again',
    },
    {
      status: 403,
      verdict: 'permission',
      next: 'connect the organization to the app again: sluice login',
    },
    { status: 400, verdict: 'config', next: 'check `where`' },
  ],
  budget: {
    rates: [{ requests: 60, within: '1m' }],
    at_once: 5,
    gauges: [{ at: { header: 'x-minlimit-remaining' }, means: 'left', threshold: 1, pause: '10s' }],
  },
  check: {
    request: { path: 'https://api.xero.com/connections' },
    message: ({ answer }) =>
      `logged in with access to ${chosen(answer as Connection[])
        .map(nameOf)
        .join(', ')}`,
  },
  limits: [
    'Xero’s documentation confirms the URLs, scopes, paging, If-Modified-Since, and limits of 60 calls per minute and 5,000 per day for each organization. Sluice applies these limits to all of a source’s organizations together.',
    'It is unconfirmed that 401 with AuthorizationUnsuccessful means a missing scope, that the first figure of a balance sheet is that of the requested day, and that a custom connection (`grant: client_credentials`) lists its organization like other logins.',
    'Apps created before 2 March 2026 may need `scopes` with the older, wider names (accounting.transactions.read, accounting.reports.read).',
    'Each refresh invalidates the previous refresh token, and the login expires after 60 days without a run.',
    'If an organization is connected later, an incremental run reads only its changes since the last run; a run without `incremental` reads everything.',
    'A month’s figures are those currently in the books; backdated entries can still change them.',
  ],
  example: `sources:
  books:
    connector: xero
    login: { client_id: "\${env:XERO_CLIENT_ID}", client_secret: "\${env:XERO_CLIENT_SECRET}" }
jobs:
  receivables:
    source: books
    query: { stream: invoices, statuses: [AUTHORISED], where: 'Type == "ACCREC"' }
  profit:
    source: books
    query: { stream: profit_and_loss, start_date: "{{ month_start - 2mo }}" }
`,
});

interface Connection {
  readonly tenantId: string;
  readonly tenantType?: string;
  readonly tenantName?: string;
}

const nameOf = ({ tenantName, tenantId }: Connection) => tenantName ?? tenantId;

/** The organizations that are selected by name or ID, or all organizations if none is selected. */
function chosen(connections: readonly Connection[], wanted: readonly string[] = []): (Connection & Named)[] {
  const all = connections.filter(({ tenantType = 'ORGANISATION' }) => tenantType === 'ORGANISATION');
  if (all.length === 0) throw nothingConnected();
  if (wanted.length === 0) return all as (Connection & Named)[];
  return wanted.map((name) => {
    const found = all.find(({ tenantId, tenantName }) => tenantId === name || tenantName === name);
    if (found === undefined) throw notConnected(name, all);
    return found as Connection & Named;
  });
}

type Named = Readonly<Record<string, unknown>>;

function nothingConnected(): Problem {
  return new Problem({
    code: 'XERO_NOT_CONNECTED',
    family: 'login',
    message: 'the login has no access to any Xero organization',
    next: 'run "sluice login", and choose an organization on Xero’s page',
  });
}

function notConnected(seen: string, all: readonly Connection[]): Problem {
  return new Problem({
    code: 'XERO_NO_ORGANISATION',
    family: 'config',
    message: 'the login has no access to an organization with this name or ID',
    seen,
    allowed: all.map(nameOf).join(', '),
    next: 'fix `organisations`, or connect the organization: sluice login',
  });
}

/** A part of a report: either a section with rows, or a row of cells. */
interface Part {
  readonly RowType?: string;
  readonly Title?: string;
  readonly Rows?: readonly Part[];
  readonly Cells?: readonly {
    readonly Value?: string;
    readonly Attributes?: readonly { Id?: string; Value?: string }[];
  }[];
}

/** A report's lines with the titles of their sections. */
function* linesOf(parts: readonly Part[], section: string): Generator<Named> {
  for (const { RowType: kind, Title = section, Rows = [], Cells = [] } of parts) {
    yield* linesOf(Rows, Title);
    if (kind === 'Header' || Cells.length === 0) continue;
    const [line, figure] = Cells;
    const account_id = line!.Attributes?.find(({ Id }) => Id === 'account')?.Value;
    yield { section: Title, line: line!.Value, kind, account_id, amount: figure?.Value === '' ? null : figure?.Value };
  }
}
