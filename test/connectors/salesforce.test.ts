import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import salesforce from '../../connectors/salesforce.ts';
import type { Catalog } from '../../src/config/catalog/catalog.ts';
import { load } from '../config/fixtures.ts';
import { openDesk } from '../oauth/rig.ts';
import { tokenAddress } from '../oauth/token-address.ts';
import { api, described, kept, page, refusal, sinceOf } from './doubles/salesforce.ts';
import {
  checkServiceCase,
  describeStream,
  expiringAfter,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';
import type { Asked } from './doubles/vendor.ts';

const record = (id: number, day: number) =>
  `{"Id":"006${id}","Name":"Deal ${id}","Amount":1.5E7,"Probability":0.10,"CloseDate":"2026-01-31","IsClosed":false,"Employees":9007199254740993,"SystemModstamp":"2026-01-0${day}T10:00:00.000+0000"}`;
const row = (id: number, day: number) => [
  `006${id}`,
  `Deal ${id}`,
  '15000000',
  '0.10',
  '2026-01-31',
  'false',
  '9007199254740993',
  `2026-01-0${day}T10:00:00Z`,
];
const columns = {
  Id: 'id',
  Name: 'string',
  Amount: 'currency',
  Probability: 'percent',
  CloseDate: 'date',
  IsClosed: 'boolean',
  Employees: 'long',
  Billing: 'address',
  SystemModstamp: 'datetime',
};
const names = 'Id, Name, Amount, Probability, CloseDate, IsClosed, Employees, SystemModstamp';
const routes = {
  [`GET ${api}/sobjects/Opportunity/describe`]: described(columns),
  [`GET ${api}/query`]: page([record(1, 1), record(2, 3)], { next: '01g-2000', total: 3 }),
  [`GET ${api}/query/01g-2000`]: page([record(3, 2)], { total: 3 }),
  [`GET ${api}/limits`]: { json: { DailyApiRequests: { Max: 15000, Remaining: 14998 } } },
};
const opportunities: ServiceCase = {
  service: salesforce,
  query: { stream: 'records', object: 'Opportunity' },
  routes,
  kept,
};
const rows = [row(1, 1), row(2, 3), row(3, 2)];
const query = `GET ${api}/query`;

describeStream(
  'Salesforce records',
  opportunities,
  {
    columns: [
      'Id text',
      'Name text',
      'Amount decimal',
      'Probability decimal',
      'CloseDate date',
      'IsClosed boolean',
      'Employees integer',
      'SystemModstamp timestamptz',
    ],
    rows,
    asked: [
      `GET ${api}/sobjects/Opportunity/describe`,
      `${query}?q=SELECT ${names} FROM Opportunity`,
      `${query}/01g-2000`,
    ],
  },
  [
    {
      name: 'a used-up allowance, with status 403',
      faults: [{ at: 2, reply: refusal(403, 'REQUEST_LIMIT_EXCEEDED') }],
      problem: { code: 'SERVICE_DAILY_LIMIT', family: 'try_later' },
    },
    {
      name: 'an object that the user may not read',
      faults: [{ at: 2, reply: refusal(403, 'INSUFFICIENT_ACCESS') }],
      problem: { code: 'SERVICE_PERMISSION', family: 'login' },
    },
    {
      name: 'an unknown object',
      faults: [{ at: 1, reply: refusal(404, 'NOT_FOUND') }],
      problem: { code: 'SERVICE_REFUSED', family: 'config' },
    },
    {
      name: 'a query that was closed between two pages',
      faults: [{ at: 3, reply: refusal(400, 'INVALID_QUERY_LOCATOR') }],
      problem: { code: 'SERVICE_PLACE_LOST', family: 'try_later' },
    },
    {
      name: 'a repeated page',
      faults: [{ at: 3, reply: 'repeat' }],
      problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
    },
    {
      name: 'a list of fields that is too long for a URL',
      faults: [{ at: 2, reply: { status: 431, text: 'too long' } }],
      problem: { code: 'SERVICE_REFUSED', family: 'config', next: expect.stringContaining('stream: bulk') },
    },
    { name: 'a locked record', faults: [{ at: 2, reply: refusal(400, 'UNABLE_TO_LOCK_ROW') }] },
  ],
);

it('renews a token that is refused between two pages, because its lifetime is unknown', async () => {
  const guard = expiringAfter(2, refusal(401, 'INVALID_SESSION_ID'));
  const { rows: read, login } = await runService({ ...opportunities, guard });
  expect([read, login.refusals]).toEqual([rows, ['token-1']]);
});

it("continues from the latest change, with the user's fields and condition", async () => {
  const given = {
    ...opportunities,
    query: { ...opportunities.query, columns: ['Name'], where: "Name LIKE 'D%' OR Amount > 1", incremental: true },
  };
  const first = await runService(given);
  expect(first.columns).toEqual(['Name text', 'Id text', 'SystemModstamp timestamptz']);
  expect(first.watermark).toBe('{"since":"2026-01-03T10:00:00.000+0000","edge":["0062"]}');
  const later = { ...routes, [query]: page([record(2, 3), record(4, 5)]) };
  const second = await runService({ ...given, watermark: first.watermark!, routes: later });
  expect(second.rows).toEqual([['Deal 4', '0064', '2026-01-05T10:00:00Z']]);
  expect(second.asked[1]).toBe(
    `${query}?q=SELECT Name, Id, SystemModstamp FROM Opportunity WHERE SystemModstamp >= 2026-01-03T10:00:00Z AND (Name LIKE 'D%' OR Amount > 1)`,
  );
});

it('returns records deleted since a date, by a configurable timestamp field', async () => {
  const { asked } = await runService({
    ...opportunities,
    query: {
      ...opportunities.query,
      columns: ['Id'],
      deleted: true,
      start_date: '2026-01-01',
      changed_field: 'CreatedDate',
    },
    routes: { ...routes, [`GET ${api}/queryAll`]: page([]) },
  });
  expect(asked[1]).toBe(`GET ${api}/queryAll?q=SELECT Id FROM Opportunity WHERE CreatedDate >= 2026-01-01T00:00:00Z`);
});

const job = `${api}/jobs/query/750x`;
const bulk = (parts: readonly string[]) => ({
  ...routes,
  [`POST ${api}/jobs/query`]: { json: { id: '750x', state: 'UploadComplete' } },
  [`GET ${job}`]: { json: { id: '750x', state: 'JobComplete' } },
  [`GET ${job}/results`]: ({ query: asked }: Pick<Asked, 'query'>) => {
    const at = Number(asked.get('locator') ?? 0);
    const locator = at + 1 < parts.length ? String(at + 1) : 'null';
    return { text: `"Id","Name","Amount","SystemModstamp"\n${parts[at]}`, headers: { 'sforce-locator': locator } };
  },
});
const inBulk: ServiceCase = {
  ...opportunities,
  query: { stream: 'bulk', object: 'Opportunity', columns: ['Id', 'Name', 'Amount', 'SystemModstamp'] },
  routes: bulk([
    '"0061","Deal, 1","1.50","2026-01-01T10:00:00.000Z"\n"0062","","","2026-01-02T10:00:00.000Z"\n',
    '"0063","Deal 3","99999999999999999.99","2026-01-03T10:00:00.000Z"\n',
  ]),
};

describeStream(
  'a Salesforce bulk query',
  inBulk,
  {
    rows: [
      ['0061', 'Deal, 1', '1.50', '2026-01-01T10:00:00Z'],
      ['0062', null, null, '2026-01-02T10:00:00Z'],
      ['0063', 'Deal 3', '99999999999999999.99', '2026-01-03T10:00:00Z'],
    ],
    asked: [
      `GET ${api}/sobjects/Opportunity/describe`,
      `POST ${api}/jobs/query {"operation":"query","query":"SELECT Id, Name, Amount, SystemModstamp FROM Opportunity","contentType":"CSV","columnDelimiter":"COMMA","lineEnding":"LF"}`,
      `GET ${job}`,
      `GET ${job}/results?maxRecords=50000`,
      `GET ${job}/results?locator=1&maxRecords=50000`,
    ],
  },
  [
    {
      name: "an object that isn't available in bulk",
      faults: [{ at: 2, reply: refusal(400, 'INVALIDENTITY', 'Entity is not supported by the Bulk API') }],
      problem: { code: 'SERVICE_REFUSED', family: 'config', next: 'use `stream: records` for this object' },
    },
    {
      name: 'a failed job',
      faults: [{ at: 1, to: `GET ${job}`, reply: { json: { id: '750x', state: 'Failed' } } }],
      problem: { code: 'SERVICE_JOB_FAILED', family: 'try_later' },
    },
    {
      name: 'a repeated part',
      faults: [{ at: 2, to: `GET ${job}/results`, reply: 'repeat' }],
      problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
    },
  ],
);

it('can also resume in bulk mode', async () => {
  const given = { ...inBulk, query: { ...inBulk.query, incremental: true } };
  const first = await runService(given);
  expect(first.watermark).toBe('{"since":"2026-01-03T10:00:00.000Z","edge":["0063"]}');
  const asked: string[] = [];
  const again = {
    ...bulk(['"0063","Deal 3","1","2026-01-03T10:00:00.000Z"\n']),
    [`POST ${api}/jobs/query`]: (one: Asked) => {
      asked.push(sinceOf(one));
      return { json: { id: '750x' } };
    },
  };
  const second = await runService({ ...given, watermark: first.watermark!, routes: again });
  expect([second.rows, second.unchanged, asked]).toEqual([[], true, ['2026-01-03T10:00:00Z']]);
});

it('reads the result of any query, including joins and sums', async () => {
  const soql = 'SELECT Name, Account.Name, SUM(Amount) total FROM Opportunity GROUP BY Name';
  const found = '{"Name":"a","Account":{"attributes":{"type":"Account"},"Name":"Acme"},"total":1234567890.50}';
  const outcome = await runService({
    ...opportunities,
    query: { stream: 'query', soql },
    routes: { [query]: page([found, '{"Name":"b","Account":null,"total":null}']) },
  });
  expect(outcome.columns).toEqual(['Name text', 'Account.Name text', 'total decimal']);
  expect(outcome.rows).toEqual([
    ['a', 'Acme', '1234567890.50'],
    ['b', null, null],
  ]);
  expect(outcome.asked).toEqual([`${query}?q=${soql}`]);
});

it('lists the objects, and reports the remaining allowance in check()', async () => {
  const sobjects = [{ name: 'Account', label: 'Account', custom: false, queryable: true }];
  const list = { [`GET ${api}/sobjects`]: { json: { sobjects } } };
  const outcome = await runService({ ...opportunities, query: { stream: 'objects' }, routes: list });
  expect(outcome.rows).toEqual([['Account', 'Account', 'false', 'true']]);
  expect(await checkServiceCase(opportunities)).toBe('logged in; 14998 of 15000 daily requests are left');
});

it('requires an object or a query', async () => {
  const faults = (given: Record<string, unknown>) =>
    (salesforce.validate?.({ source: {}, query: given }) ?? []).map(({ option }) => option);
  expect(faults({ stream: 'records' })).toEqual(['object']);
  expect(faults({ stream: 'query', object: 'Account' })).toEqual(['soql', 'object']);
  const unknown = { ...opportunities, query: { ...opportunities.query, columns: ['amount'] } };
  expect(await failService(unknown)).toMatchObject({ code: 'SERVICE_NO_FIELD', seen: 'amount', family: 'config' });
});

it("logs in to the sandbox, or to the configured URL instead of the vendor's", () => {
  const described = salesforce.oauth?.({ login_url: 'https://test.salesforce.com' });
  expect(described?.token_url).toBe('{login_url}/services/oauth2/token');
  const stood = salesforce.oauth?.({ api_url: 'http://127.0.0.1:9/x/' });
  expect(stood?.token_url).toBe('http://127.0.0.1:9/x/services/oauth2/token');
  expect(stood?.device?.url).toBe('http://127.0.0.1:9/x/services/oauth2/token');
});

it.each(['client_credentials', 'jwt_bearer'])(
  "doesn't request scopes with the %s grant, which has no user",
  async (grant) => {
    const body = { access_token: 'the-token', token_type: 'Bearer', instance_url: 'http://127.0.0.1:9' };
    const { url, heard } = await tokenAddress({ body });
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = { private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) };
    const app = { grant, client_id: 'id', ...(grant === 'jwt_bearer' ? key : { client_secret: 's' }) };
    const { config, problems } = await load(
      JSON.stringify({
        destinations: { main: { url: 'http://127.0.0.1:9/api/1.0', api_key: 'abcdefabcdef' } },
        sources: { crm: { connector: 'salesforce', login_url: new URL(url).origin, login: app } },
        jobs: {},
      }),
      { catalog: async () => onlySalesforce },
    );
    expect(problems).toEqual([]);
    const desk = await openDesk({ login: config!.sources.get('crm')!.login! });
    expect((await desk.entry.tokenManager.token()).access_token).toBe('the-token');
    const fields = new URLSearchParams(heard[0]!.body);
    const claims = Buffer.from(fields.get('assertion')?.split('.')[1] ?? '', 'base64url').toString();
    expect([fields.has('scope'), claims.includes('"scope"')]).toEqual([false, false]);
  },
);

const onlySalesforce: Catalog = {
  ids: ['salesforce'],
  problems: [],
  load: async (id) => (id === 'salesforce' ? salesforce : undefined),
  origin: () => 'sluice',
  file: () => undefined,
};

it("never uses a refresh token twice, and requests device codes with the vendor's own parameters", () => {
  const { refresh, device } = salesforce.oauth?.({}) ?? {};
  expect([refresh, device]).toMatchObject([
    'rotating',
    { parameters: { response_type: 'device_code' }, grant_type: 'device', code_parameter: 'code' },
  ]);
});
