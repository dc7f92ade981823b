import { expect, it } from 'vitest';
import analytics from '../../connectors/google_analytics.ts';
import {
  checkServiceCase,
  describeStream,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';

const days = ['20260101', '20260102', '20260103'];

/** Two rows per page, with 64-bit numbers as strings, as Google sends them. */
const report = {
  'POST /v1beta/properties/{property}:runReport': ({
    body,
    part,
  }: {
    body: { offset: string };
    part: { property?: string };
  }) => {
    const from = Number(body.offset);
    const rows = days.slice(from, from + 2).map((day, i) => ({
      dimensionValues: [{ value: day }, { value: part.property === '22' ? 'FR' : 'DE' }],
      metricValues: [{ value: `${9007199254740993n + BigInt(from + i)}` }, { value: '12.50' }],
    }));
    return {
      json: {
        dimensionHeaders: [{ name: 'date' }, { name: 'country' }],
        metricHeaders: [
          { name: 'sessions', type: 'TYPE_INTEGER' },
          { name: 'totalRevenue', type: 'TYPE_CURRENCY' },
        ],
        ...(rows.length === 0 ? {} : { rows }),
        rowCount: days.length,
      },
    };
  },
};

const visits: ServiceCase = {
  service: analytics,
  query: {
    stream: 'report',
    property: '11',
    dimensions: ['date', 'country'],
    metrics: ['sessions', 'totalRevenue'],
    start_date: '2026-01-01',
    end_date: '2026-01-03',
  },
  routes: report,
};
const rows = (property: string, country: string) =>
  [0, 1, 2].map((i) => [property, `2026-01-0${i + 1}`, country, `${9007199254740993n + BigInt(i)}`, '12.50']);
const asked = (property: string, offset: number, from = '2026-01-01') =>
  `POST /v1beta/properties/${property}:runReport {"dateRanges":[{"startDate":"${from}","endDate":"2026-01-03"}],"dimensions":[{"name":"date"},{"name":"country"}],"metrics":[{"name":"sessions"},{"name":"totalRevenue"}],"orderBys":[{"dimension":{"dimensionName":"date"}},{"dimension":{"dimensionName":"country"}}],"limit":"10000","offset":"${offset}","keepEmptyRows":false,"returnPropertyQuota":true}`;

describeStream(
  'a Google Analytics report',
  visits,
  {
    columns: ['property text', 'date date', 'country text', 'sessions decimal', 'totalRevenue decimal'],
    rows: rows('11', 'DE'),
    asked: [asked('11', 0), asked('11', 2)],
  },
  [
    {
      name: 'an hourly quota that the message calls daily',
      faults: [
        { at: 1, reply: { status: 429, json: { error: { status: 'RESOURCE_EXHAUSTED', message: 'tokens per day' } } } },
      ],
      problem: { code: 'SERVICE_DAILY_LIMIT', family: 'try_later' },
    },
    {
      name: 'an unknown metric',
      faults: [{ at: 1, reply: { status: 400, json: { error: { message: 'Field foo is not a valid metric' } } } }],
      problem: { code: 'SERVICE_REFUSED', family: 'config', seen: 'status 400: Field foo is not a valid metric' },
    },
    {
      name: 'a repeated page',
      faults: [{ at: 2, reply: 'repeat' }],
      problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
    },
    {
      name: 'a property without access',
      faults: [{ at: 1, reply: { status: 403, json: { error: { status: 'PERMISSION_DENIED' } } } }],
      problem: { code: 'SERVICE_PERMISSION', family: 'login' },
    },
  ],
);

it('logs only once that the property has few tokens left', async () => {
  const said: unknown[] = [];
  const note = (...words: unknown[]) => void said.push(words);
  const log = { debug: () => undefined, info: () => undefined, warn: note };
  const left = (remaining: number) => ({ consumed: 7, remaining });
  const answer = (hour: number) => ({
    'POST /v1beta/properties/{property}:runReport': {
      json: { metricHeaders: [], propertyQuota: { tokensPerDay: left(24_000), tokensPerHour: left(hour) } },
    },
  });
  await runService({ ...visits, routes: answer(100), log });
  expect(said).toEqual([]);
  await runService({ ...visits, routes: answer(41), log });
  const low = { at: 'propertyQuota.tokensPerHour.remaining', value: '41', pauseMs: 60_000 };
  expect(said).toEqual([['rate limit nearly used up: requests are delayed', low]]);
});

it('reads several properties as one table', async () => {
  const outcome = await runService({ ...visits, query: { ...visits.query, property: '11, 22' } });
  expect(outcome.rows).toEqual([...rows('11', 'DE'), ...rows('22', 'FR')]);
  expect(outcome.asked).toEqual([asked('11', 0), asked('11', 2), asked('22', 0), asked('22', 2)]);
});

it("accepts property names as Google lists them, and filters in Google's syntax", async () => {
  const dimension_filter = { filter: { fieldName: 'country', stringFilter: { value: 'DE' } } };
  const query = { ...visits.query, property: 'properties/11', dimension_filter };
  const outcome = await runService({ ...visits, query });
  expect(outcome.rows).toEqual(rows('properties/11', 'DE'));
  expect(outcome.vendor.asked[0]).toMatchObject({
    path: '/v1beta/properties/11:runReport',
    body: { dimensionFilter: dimension_filter },
  });
});

it('re-reads the last days when it continues', async () => {
  const query = { ...visits.query, incremental: true };
  expect((await runService({ ...visits, query })).watermark).toBe('{"until":"2026-01-03"}');
  const outcome = await runService({ ...visits, query, watermark: '{"until":"2026-01-03"}' });
  expect(outcome.asked[0]).toBe(asked('11', 0, '2025-12-31'));
});

it('lists the properties with their accounts, even if the list has several pages', async () => {
  const summary = (n: number) => ({
    account: `accounts/${n}`,
    displayName: `Account ${n}`,
    propertySummaries: [
      { property: `properties/${n}1`, displayName: `Shop ${n}`, propertyType: 'PROPERTY_TYPE_ORDINARY' },
    ],
  });
  const routes = {
    'GET /v1beta/accountSummaries': ({ query }: { query: URLSearchParams }) => ({
      json: query.has('pageToken')
        ? { accountSummaries: [summary(2), { account: 'accounts/3' }] }
        : { accountSummaries: [summary(1)], nextPageToken: 'p2' },
    }),
  };
  const outcome = await runService({ ...visits, query: { stream: 'properties' }, routes });
  expect(outcome.rows).toEqual(
    [1, 2].map((n) => [`properties/${n}1`, `Shop ${n}`, 'PROPERTY_TYPE_ORDINARY', `accounts/${n}`, `Account ${n}`]),
  );
  expect(outcome.asked).toEqual([
    'GET /v1beta/accountSummaries?pageSize=200',
    'GET /v1beta/accountSummaries?pageSize=200&pageToken=p2',
  ]);
  expect(await checkServiceCase({ ...visits, routes })).toContain('login accepted');
});

it("requires a property, and rejects another stream's options", () => {
  const faults = (query: Record<string, unknown>) =>
    (analytics.validate?.({ source: {}, query }) ?? []).map(({ option }) => option);
  expect(faults({ stream: 'report' })).toEqual(['property']);
  expect(faults({ stream: 'report', property: '1', start_date: 'soon' })).toEqual(['start_date']);
  expect(faults({ stream: 'properties', property: '1', incremental: true })).toEqual(['property', 'incremental']);
  expect(faults({ stream: 'report', property: '1', start_date: '{{ today - 7d }}' })).toEqual([]);
});

it("doesn't mistake a response that isn't JSON for an empty report", async () => {
  const routes = { 'POST /v1beta/properties/{property}:runReport': { text: '<html>Sign in</html>' } };
  const problem = await failService({ ...visits, routes, source: { retries: 0 } });
  expect(problem).toMatchObject({ code: 'SERVICE_UNREADABLE', seen: 'a page: Sign in' });
});
