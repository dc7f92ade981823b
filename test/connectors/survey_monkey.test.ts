import { expect, it } from 'vitest';
import surveyMonkey from '../../connectors/survey_monkey.ts';
import {
  checkServiceCase,
  describeStream,
  expiringAfter,
  failService,
  runService,
  type ServiceCase,
} from './doubles/service-suite.ts';
import type { Asked } from './doubles/vendor.ts';

const response = (survey: string, n: number) => ({
  id: `${survey}${n}`,
  collector_id: 'c',
  response_status: 'completed',
  collection_mode: 'default',
  total_time: 144,
  custom_variables: { plan: 'gold' },
  date_created: `2026-01-0${n}T09:00:00+00:00`,
  date_modified: `2026-01-0${n}T10:00:00+00:00`,
  pages: [{ id: 'p', questions: [{ id: 'q1', answers: [{ row_id: 'r1', choice_id: 'a2' }] }] }],
});
const row = (survey: string, n: number) => [
  survey,
  `${survey}${n}`,
  'c',
  'completed',
  'default',
  '144',
  null,
  '{"plan":"gold"}',
  `2026-01-0${n}T09:00:00Z`,
  `2026-01-0${n}T10:00:00Z`,
];

/** Two survey responses per page; the surveys are on two separate pages. */
const routes = {
  'GET /v3/surveys': ({ query, base }: Asked) =>
    query.get('page') === '1'
      ? { json: { data: [{ id: '7' }], links: { next: `${base}/v3/surveys?page=2` } } }
      : { json: { data: [{ id: '8' }], links: {} } },
  'GET /v3/surveys/{survey}/responses/bulk': ({ query, part, base, path }: Asked) => {
    const days = query.get('page') === '1' ? [1, 2] : [3];
    const links = days.length === 2 ? { next: `${base}${path}?page=2` } : {};
    return { json: { data: days.map((n) => response(part.survey!, n)), links } };
  },
  'GET /v3/users/me': { json: { username: 'ann' } },
};
const given: ServiceCase = {
  service: surveyMonkey,
  query: { stream: 'responses', survey: '7', status: 'completed' },
  timezone: 'America/New_York',
  routes,
};
const rows = [1, 2, 3].map((n) => row('7', n));
const asked = (page: number, survey = '7', more = '&status=completed') =>
  `GET /v3/surveys/${survey}/responses/bulk?page=${page}&per_page=100&sort_by=date_modified&sort_order=ASC${more}`;
const limited = (day: string) => ({
  status: 429,
  json: { error: { id: '1040', name: 'Rate limit reached' } },
  headers: { 'x-ratelimit-app-global-day-remaining': day, 'x-ratelimit-app-global-minute-reset': '0' },
});

describeStream('SurveyMonkey responses', given, { rows, asked: [asked(1), asked(2)] }, [
  { name: 'a used-up quota of the minute', faults: [{ at: 2, reply: limited('300') }] },
  {
    name: 'a used-up daily quota',
    faults: [{ at: 2, reply: limited('0') }],
    problem: { code: 'SERVICE_DAILY_LIMIT', family: 'try_later' },
  },
  {
    name: 'a repeated page',
    faults: [{ at: 2, reply: 'repeat' }],
    problem: { code: 'SERVICE_PAGES_REPEAT', family: 'job' },
  },
  {
    name: 'an account on another host',
    faults: [{ at: 1, reply: { status: 403, json: { error: { id: 1018 } } } }],
    problem: { code: 'SERVICE_REFUSED', family: 'config', next: expect.stringContaining('data_center') },
  },
  {
    name: 'a survey without access',
    faults: [{ at: 1, reply: { status: 403, json: { error: { id: '1014' } } } }],
    problem: { code: 'SERVICE_PERMISSION', family: 'login' },
  },
  {
    name: 'a missing survey',
    faults: [{ at: 1, reply: { status: 404, json: { error: { id: '1020' } } } }],
    problem: { code: 'SERVICE_REFUSED', family: 'config' },
  },
]);

it('reads all surveys by default', async () => {
  const outcome = await runService({ ...given, query: { stream: 'responses' } });
  expect(outcome.rows).toEqual([...rows, ...[1, 2, 3].map((n) => row('8', n))]);
  expect(outcome.asked).toEqual([
    // All surveys are listed before the first one is read, because their total may change in between.
    ...[1, 2].map((page) => `GET /v3/surveys?page=${page}&per_page=1000`),
    ...[asked(1, '7', ''), asked(2, '7', '')],
    ...[asked(1, '8', ''), asked(2, '8', '')],
  ]);
});

it('requests changes, in UTC, and stops if there are none', async () => {
  const query = { ...given.query, incremental: true };
  const { watermark } = await runService({ ...given, query });
  const again = await runService({ ...given, query, watermark: watermark! });
  expect(again.asked[0]).toBe(asked(1, '7', '&status=completed&start_modified_at=2026-01-03T10:00:00'));
  expect(again).toMatchObject({ rows: [], unchanged: true });
});

it('reports a token that is refused in the middle of a run, because this vendor requires a new login', async () => {
  const guard = expiringAfter(1);
  const { login } = await runService({ ...given, guard });
  expect(login.refusals).toEqual(['token-1']);
  expect(surveyMonkey.oauth?.({})).toMatchObject({ refresh: 'none', keep: ['access_url'] });
});

it("accepts a private app's token instead of a login", async () => {
  const { vendor } = await runService({ ...given, source: { token: 'mine', data_center: 'eu' } });
  expect(vendor.asked[0]!.headers.authorization).toBe('Bearer mine');
  expect(surveyMonkey.oauth?.({ token: 'mine' })).toBeUndefined();
  expect(await checkServiceCase(given)).toBe('logged in as ann');
});

it("uses the account's host from the token, or else from the option", async () => {
  const base = 'http://127.0.0.1:9';
  const askedAt = async (kept: Record<string, string>, source: object) => {
    const problem = await failService({ ...given, kept, source: { ...source, retries: 0 }, routes: {} });
    return /127\.0\.0\.1:\d+(\/\S*)\)/.exec(problem.message)?.[1];
  };
  expect(await askedAt({ access_url: `${base}/eu/` }, {})).toMatch(/^\/eu\/v3\/surveys/);
  expect(await askedAt({}, { data_center: 'ca' })).toMatch(/^\/v3\/surveys/);
});

it("adds the survey's question and answer texts to each response", async () => {
  const questions = [
    {
      id: 'q1',
      headings: [{ heading: 'How did you like it?' }],
      answers: { rows: [{ id: 'r1', text: 'The food' }], choices: [{ id: 'a2', text: 'Good', weight: 4 }] },
    },
    {
      id: 'q2',
      headings: [{ heading: 'And next to it?' }],
      answers: {
        rows: [{ id: 'r2', text: 'Room' }],
        cols: [{ id: 'c1', text: 'Size', choices: [{ id: 'a5', text: 'Large' }] }],
        other: { id: 'o1', text: 'Other' },
      },
    },
  ];
  const design = { title: 'Hotel', pages: [{ questions }] };
  const answers = [
    {
      id: 'q2',
      answers: [
        { row_id: 'r2', col_id: 'c1', choice_id: 'a5' },
        { other_id: 'o1', text: 'a view' },
      ],
    },
    { id: 'gone', answers: [{ text: 'left over' }] },
  ];
  const one = response('7', 1);
  const data = [
    { ...one, pages: [...one.pages, { id: 'p2', questions: answers }] },
    { ...response('7', 2), pages: [] },
  ];
  const outcome = await runService({
    ...given,
    query: { stream: 'answers', survey: '7' },
    routes: {
      'GET /v3/surveys/7/details': { json: design },
      'GET /v3/surveys/7/responses/bulk': { json: { data, links: {} } },
    },
  });
  const answer = (...cells: (string | null)[]) => ['7', 'Hotel', '71', 'completed', ...cells, '2026-01-01T10:00:00Z'];
  expect(outcome.rows).toEqual([
    answer('q1', 'How did you like it?', 'The food', null, 'Good', '4', null),
    answer('q2', 'And next to it?', 'Room', 'Size', 'Large', null, null),
    answer('q2', 'And next to it?', null, null, 'Other', null, 'a view'),
    answer('gone', null, null, null, null, null, 'left over'),
  ]);
  const tooLarge = { 'GET /v3/surveys/7/details': { status: 413, json: { error: { id: '1026' } } } };
  expect(await failService({ ...given, query: { stream: 'answers', survey: '7' }, routes: tooLarge })).toMatchObject({
    family: 'config',
    next: expect.stringContaining('responses'),
  });
});
