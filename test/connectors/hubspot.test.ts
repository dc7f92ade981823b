import { expect, it } from 'vitest';
import hubspot from '../../connectors/hubspot.ts';
import { type CrmObject, owners, properties, searched } from './doubles/hubspot.ts';
import {
  checkServiceCase,
  describeStream,
  expiringAfter,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';

const deal = (id: string, day: number, more: Record<string, string | null> = {}): CrmObject => ({
  id,
  createdAt: '2026-01-01T09:00:00.500Z',
  properties: {
    dealname: `Deal ${id}`,
    amount: '1234567890123456789.10',
    dealstage: 'closedwon',
    pipeline: 'default',
    closedate: '2026-02-01T00:00:00Z',
    hubspot_owner_id: '',
    hs_lastmodifieddate: `2026-01-0${day}T10:00:00.250Z`,
    ...more,
  },
});
const row = (id: string, day: number, amount: string | null = '1234567890123456789.10') => [
  id,
  '2026-01-01T09:00:00.500Z',
  `2026-01-0${day}T10:00:00.250Z`,
  `Deal ${id}`,
  amount,
  'closedwon',
  'default',
  '2026-02-01T00:00:00Z',
  '',
];
const known = properties({
  dealname: 'string',
  amount: 'number',
  dealstage: 'enumeration',
  pipeline: 'enumeration',
  closedate: 'datetime',
  hubspot_owner_id: 'enumeration',
  renewal: 'date',
  is_big: 'bool',
});

/** In order of ID, the modification times go up and down. */
const some = [deal('9', 3), deal('20', 1, { amount: '' }), deal('100', 2)];
const routes = (all: readonly CrmObject[] = some) => ({
  'GET /crm/v3/properties/deals': known,
  'POST /crm/v3/objects/deals/search': searched(() => all, 2),
  ...owners,
});
const deals: ServiceCase = { service: hubspot, query: { stream: 'deals' }, routes: routes() };
const rows = [row('9', 3), row('20', 1, null), row('100', 2)];
const asked = (beyond: string, since = '0') =>
  `POST /crm/v3/objects/deals/search {"filterGroups":[{"filters":[{"propertyName":"hs_lastmodifieddate","operator":"GTE","value":"${since}"},{"propertyName":"hs_object_id","operator":"GT","value":"${beyond}"}]}],"sorts":[{"propertyName":"hs_object_id","direction":"ASCENDING"}],"properties":["dealname","amount","dealstage","pipeline","closedate","hubspot_owner_id","hs_lastmodifieddate"],"limit":200}`;
const search = 'POST /crm/v3/objects/deals/search';

describeStream(
  'HubSpot deals',
  deals,
  {
    columns: [
      'id text',
      'created_at timestamptz',
      'updated_at timestamptz',
      'dealname text',
      'amount decimal',
      'dealstage text',
      'pipeline text',
      'closedate timestamptz',
      'hubspot_owner_id text',
    ],
    rows,
    asked: ['GET /crm/v3/properties/deals', asked('0'), asked('20')],
  },
  [
    {
      name: 'too many requests in ten seconds',
      faults: [
        {
          at: 2,
          reply: { status: 429, json: { policyName: 'TEN_SECONDLY_ROLLING' }, headers: { 'retry-after': '0' } },
        },
      ],
    },
    {
      name: 'the daily allowance',
      faults: [{ at: 2, reply: { status: 429, json: { policyName: 'DAILY' } } }],
      problem: { code: 'SERVICE_DAILY_LIMIT', family: 'try_later' },
    },
    {
      name: 'a repeated page',
      faults: [{ at: 2, to: search, reply: 'repeat' }],
      problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
    },
    {
      name: 'a scope that the app does not have',
      faults: [{ at: 1, to: search, reply: { status: 403, json: { category: 'MISSING_SCOPES' } } }],
      problem: { code: 'SERVICE_PERMISSION', family: 'login' },
    },
    {
      name: 'an invalid token',
      faults: [{ at: 1, times: 2, reply: { status: 530, text: 'error code: 1016' } }],
      problem: { code: 'SERVICE_LOGIN', family: 'login' },
    },
    {
      name: 'a rejected filter',
      faults: [{ at: 1, to: search, reply: { status: 400, json: { category: 'VALIDATION_ERROR' } } }],
      problem: { code: 'SERVICE_REFUSED', family: 'config' },
    },
  ],
);

it('renews a token that expires between two pages', async () => {
  const { rows: read, login } = await runService({ ...deals, guard: expiringAfter(2) });
  expect([read, login.refusals]).toEqual([rows, ['token-1']]);
});

it("continues from the latest change, regardless of the record's ID", async () => {
  const query = { stream: 'deals', incremental: true };
  const first = await runService({ ...deals, query });
  expect(first.watermark).toBe('{"since":"2026-01-03T10:00:00.250Z","edge":["9"]}');
  const again = { ...deals, query, watermark: first.watermark! };
  expect(await runService(again)).toMatchObject({ rows: [], unchanged: true });
  const second = await runService({ ...again, routes: routes([...some.slice(0, 1), deal('15', 5), deal('20', 4)]) });
  expect(second.rows).toEqual([row('15', 5), row('20', 4)]);
  expect(second.asked.slice(1)).toEqual([asked('0', '1767434400250'), asked('15', '1767434400250')]);
});

it('starts at the date that the user sets', async () => {
  const { rows: read } = await runService({ ...deals, query: { stream: 'deals', start_date: '2026-01-02' } });
  expect(read).toEqual([row('9', 3), row('100', 2)]);
});

it('reads the properties that the user lists, with their types, and rejects unknown ones', async () => {
  const query = { stream: 'deals', properties: ['renewal', 'is_big', 'amount'] };
  const all = [deal('1', 1, { renewal: '2026-03-01', is_big: 'true' }), deal('2', 1, { renewal: '', is_big: '' })];
  const outcome = await runService({ ...deals, query, routes: routes(all) });
  expect(outcome.columns.slice(3)).toEqual(['renewal date', 'is_big boolean', 'amount decimal']);
  expect(outcome.rows.map((cells) => cells.slice(3))).toEqual([
    ['2026-03-01', 'true', '1234567890123456789.10'],
    [null, null, '1234567890123456789.10'],
  ]);
  const wrong = { ...deals, query: { stream: 'deals', properties: ['amount_usd'] } };
  expect(await failService(wrong)).toMatchObject({ code: 'SERVICE_NO_FIELD', family: 'config', seen: 'amount_usd' });
});

it("uses the contacts' own modification time", async () => {
  const contact = {
    ...deal('1', 1),
    properties: { email: 'ann@example.com', lastmodifieddate: '2026-01-01T00:00:00Z' },
  };
  const outcome = await runService({
    service: hubspot,
    query: { stream: 'contacts', properties: ['email'] },
    routes: {
      'GET /crm/v3/properties/contacts': properties({ email: 'string' }),
      'POST /crm/v3/objects/contacts/search': searched(() => [contact], 2),
    },
  });
  expect(outcome.rows).toEqual([['1', '2026-01-01T09:00:00.500Z', '2026-01-01T00:00:00Z', 'ann@example.com']]);
});

it('lists the owners from several pages, and the stages of all pipelines', async () => {
  const list = await runService({ ...deals, query: { stream: 'owners' } });
  expect(list.rows).toEqual([
    ['7', 'ann@example.com', 'Ann', 'Lee', '9586504', '2025-01-05T10:00:00.100Z', '2025-01-06T10:00:00.100Z', 'false'],
    ['8', 'bob@example.com', null, null, '80', null, null, 'false'],
  ]);
  expect(list.asked).toEqual(['GET /crm/v3/owners?limit=100', 'GET /crm/v3/owners?limit=100&after=NA%3D%3D']);
  const won = { id: 'won', label: 'Won', displayOrder: 5, metadata: { isClosed: 'true', probability: '1.0' } };
  const pipelines = [
    { id: 'default', label: 'Sales', stages: [won, { id: 'new', label: 'New', displayOrder: 0, archived: false }] },
    { id: '2', label: 'Renewals' },
  ];
  const stages = await runService({
    service: hubspot,
    source: { api_version: '2026-03' },
    query: { stream: 'stages' },
    routes: { 'GET /crm/pipelines/2026-03/deals': { json: { results: pipelines } } },
  });
  expect(stages.rows).toEqual([
    ['won', 'Won', '5', '1.0', 'true', 'default', 'Sales', null],
    ['new', 'New', '0', null, null, 'default', 'Sales', 'false'],
  ]);
});

it("accepts a private app's token instead of a login", async () => {
  const guard = ({ headers }: { headers: Record<string, unknown> }) =>
    headers.authorization === 'Bearer pat-na1-x' ? undefined : { status: 401, json: {} };
  const source = { token: 'pat-na1-x' };
  expect((await runService({ ...deals, source, guard })).rows).toEqual(rows);
  expect(await checkServiceCase({ ...deals, source, guard })).toContain('credentials accepted');
  expect(hubspot.oauth?.(source)).toBeUndefined();
  expect(await failService({ ...deals, source: { token: 'other' }, guard })).toMatchObject({ family: 'login' });
});
