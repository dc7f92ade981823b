import { expect, it } from 'vitest';
import versature from '../../connectors/versature.ts';
import {
  checkServiceCase,
  describeStream,
  expiringAfter,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';
import type { Asked } from './doubles/vendor.ts';

/** Times without a zone, and responses labeled plain text. */
const plain = (value: unknown) => ({ text: JSON.stringify(value), headers: { 'content-type': 'text/plain' } });

const call = (n: number) => ({
  duration: 180,
  answer_time: n === 2 ? null : `2026-04-0${n}T20:56:43`,
  start_time: `2026-04-0${n}T20:56:40`,
  end_time: `2026-04-0${n}T20:59:43`,
  from: { call_id: `c${n}`, name: 'Ann', id: '+16132772283', user: null },
  to: { call_id: `d${n}`, value: '+16138082842', user: '40' },
});
const row = (n: number) => [
  `c${n}`,
  '+16132772283',
  'Ann',
  null,
  '+16138082842',
  '40',
  `d${n}`,
  '180',
  `2026-04-0${n}T20:56:40Z`,
  n === 2 ? null : `2026-04-0${n}T20:56:43Z`,
  `2026-04-0${n}T20:59:43Z`,
];

const given: ServiceCase = {
  service: versature,
  query: { stream: 'calls', start_date: '2026-04-01', end_date: '2026-04-03' },
  timezone: 'America/Toronto',
  routes: {
    'GET /api/cdrs/users/': ({ query }: Asked) =>
      query.has('cursor')
        ? plain({ result: [call(3)], cursor: null, more: false })
        : plain({ result: [call(1), call(2)], cursor: 'abc', more: true }),
    'GET /api/call_queues/': { json: [] },
  },
};
const rows = [row(1), row(2), row(3)];
const asked = (cursor = '') =>
  `GET /api/cdrs/users/?start_date=2026-04-01T04:00:00Z&end_date=2026-04-04T03:59:59Z&page_size=1000${cursor}`;

describeStream('net2phone calls', given, { rows, asked: [asked(), asked('&cursor=abc')] }, [
  {
    name: 'a repeated page',
    faults: [{ at: 2, reply: 'repeat' }],
    problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
  },
  {
    name: "dates that the vendor doesn't accept",
    faults: [{ at: 1, reply: { status: 422, json: { message: 'start_date is required', status: 422 } } }],
    problem: { code: 'SERVICE_REFUSED', family: 'config' },
  },
  {
    name: 'calls that the user may not see',
    faults: [{ at: 1, reply: { status: 403, json: {} } }],
    problem: { code: 'SERVICE_PERMISSION', family: 'login' },
  },
]);

it('sends the API version in the header, and renews a token between two pages', async () => {
  const { rows: all, login, vendor } = await runService({ ...given, guard: expiringAfter(1) });
  expect({ all, refusals: login.refusals }).toEqual({ all: rows, refusals: ['token-1'] });
  expect(vendor.asked[0]!.headers.accept).toBe('application/vnd.integrate.v1.10.0+json');
});

it('treats 429 without a retry time as busy, not as failed', async () => {
  const faults = [{ at: 1, reply: { status: 429 } }];
  expect(await failService({ ...given, faults, source: { retries: 0 } })).toMatchObject({
    code: 'SERVICE_BUSY',
    family: 'try_later',
  });
});

it('re-reads the previous day when it continues', async () => {
  const query = { ...given.query, incremental: true };
  const { watermark } = await runService({ ...given, query });
  expect(watermark).toBe('{"until":"2026-04-03"}');
  const later = { ...query, end_date: '2026-04-04' };
  const again = await runService({ ...given, query: later, watermark: watermark! });
  expect(again.asked[0]).toContain('start_date=2026-04-02T04:00:00Z&end_date=2026-04-05T03:59:59Z');
});

it("treats 204 as no data, and adds the day to the queues' figures", async () => {
  const stats = ({ query }: Asked) =>
    query.get('start_date') === '2026-04-01T04:00:00Z'
      ? { json: [{ queue: '8001', calls_offered: 5, abandoned_calls: 1 }] }
      : { status: 204 };
  const query = { stream: 'queue_stats', start_date: '2026-04-01', end_date: '2026-04-02' };
  const outcome = await runService({ ...given, query, routes: { 'GET /api/call_queues/stats/': stats } });
  expect(outcome.columns).toEqual(['date text', 'queue text', 'calls_offered integer', 'abandoned_calls integer']);
  expect(outcome.rows).toEqual([['2026-04-01', '8001', '5', '1']]);
});

it("separates several queues' calls, and rejects an unknown queue", async () => {
  const routes = {
    'GET /api/call_queues/8001/reports/splits/': { json: { result: [{ time: '2026-04-01', calls: 3 }] } },
    'GET /api/call_queues/8002/reports/splits/': { json: { time: '2026-04-01', calls: 4 } },
  };
  const query = { stream: 'queue_splits', queue: '8001,8002', start_date: '2026-04-01', end_date: '2026-04-01' };
  const { rows: all, asked: lines } = await runService({ ...given, query, routes });
  expect(all).toEqual([
    ['8001', '2026-04-01', '3'],
    ['8002', '2026-04-01', '4'],
  ]);
  expect(lines[0]).toContain('/api/call_queues/8001/reports/splits/?period=day&start_date=2026-04-01T04:00:00Z');
  expect(await failService({ ...given, query: { ...query, queue: '8001,9' }, routes })).toMatchObject({
    code: 'SERVICE_REFUSED',
    family: 'config',
  });
});

it("lists users as returned, and sends a reseller's ID with token requests", async () => {
  const routes = { 'GET /api/users/': { json: [{ user: '40', first_name: 'Ann' }] } };
  const { columns, rows: users } = await runService({ ...given, query: { stream: 'users' }, routes });
  expect({ columns, users }).toEqual({ columns: ['user text', 'first_name text'], users: [['40', 'Ann']] });
  expect(versature.oauth?.({ vendor_id: '7' })?.token_parameters).toEqual({ vendor_id: '{vendor_id}' });
  expect(versature.oauth?.({})?.token_parameters).toBeUndefined();
  expect(await checkServiceCase(given)).toContain('login accepted');
});
