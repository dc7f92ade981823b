import {
  defineService,
  type Fields,
  isObject,
  type LoginData,
  listAt,
  type Moment,
  option,
  type Scope,
  type ServiceAnswer,
} from '#sdk';

/** Times without a zone are UTC. */
const instant = (at: string) => ({ type: 'timestamptz', at, date: 'local', zone: 'UTC' }) as const;

const span = { start_date: '{{ window.from | iso }}', end_date: '{{ window.to - 1s | iso }}' };

const oauth = {
  grants: ['client_credentials', 'authorization_code', 'password'],
  authorize_url: 'https://integrate.versature.com/api/oauth/authorize/',
  // The vendor requires paths to end in a slash.
  token_url: 'https://integrate.versature.com/api/oauth/token/',
  refresh: 'static',
  lifetime_seconds: 3600,
} satisfies Extract<LoginData, { kind: 'oauth' }>['oauth'];

/** Versature's Integrate API. The vendor is now part of net2phone Canada. The API version is in the Accept header. */
export default defineService({
  id: 'versature',
  title: 'net2phone Canada',
  summary: 'Reads calls, call queue statistics and users from net2phone Canada (formerly Versature).',
  options: {
    vendor_id: option.text({ about: 'ID of the reseller, if the vendor assigned you one.', example: '100' }),
  },
  version: '1.10.0',
  base: 'https://integrate.versature.com/api',
  login: [
    { kind: 'oauth', when: 'vendor_id', oauth: { ...oauth, token_parameters: { vendor_id: '{vendor_id}' } } },
    { kind: 'oauth', oauth },
  ],
  headers: { accept: 'application/vnd.integrate.v{{ api_version }}+json' },
  streams: {
    calls: {
      about: 'All users’ calls, with parties, time and duration.',
      window: { step: '7d', start: '7d', end: 'outside', look_back: '1d' },
      request: { path: '/cdrs/users/', query: { ...span, page_size: 1000, cursor: '{{ page.token }}' } },
      records: 'result',
      paging: { by: 'token', at: 'cursor', more: 'more' },
      each: ({ from, to, ...call }) => ({ ...call, from: numbered(from), to: numbered(to) }),
      columns: {
        call_id: { type: 'text', at: 'from.call_id' },
        from: { type: 'text', at: 'from.number' },
        from_name: { type: 'text', at: 'from.name' },
        from_user: { type: 'text', at: 'from.user' },
        to: { type: 'text', at: 'to.number' },
        to_user: { type: 'text', at: 'to.user' },
        to_call_id: { type: 'text', at: 'to.call_id' },
        seconds: { type: 'integer', at: 'duration' },
        started_at: instant('start_time'),
        answered_at: instant('answer_time'),
        ended_at: instant('end_time'),
      },
    },
    queue_stats: {
      about: 'Daily statistics of all call queues.',
      window: { step: '1d', start: '7d', end: 'outside', look_back: '1d' },
      request: { path: '/call_queues/stats/', query: span },
      records: (answer) => listed(answer),
      each: (record, { window }) => ({ date: firstDay(window), ...record }),
      columns: 'discovered',
    },
    queue_splits: {
      about: 'A queue’s calls by hour, day or month.',
      options: {
        queue: option.text({ about: 'Queue numbers, separated by commas.', required: true, example: '8001' }),
        period: option.choice(['hour', 'day', 'month'], { about: 'Length of each period.', default: 'day' }),
      },
      partitions: { queue: { option: 'queue' } },
      window: { end: 'outside', start: '7d', look_back: '1d' },
      request: {
        path: '/call_queues/{{ partition.queue | url }}/reports/splits/',
        query: { period: '{{ period }}', ...span },
      },
      records: (answer) => listed(answer),
      each: (record, { partition }) => ({ queue: (partition as Fields).queue, ...record }),
      columns: 'discovered',
      errors: [{ status: 404, verdict: 'config', message: 'has no such queue', next: 'check `queue`' }],
    },
    users: {
      about: 'The company’s users.',
      request: { path: '/users/' },
      records: (answer) => listed(answer),
      columns: 'discovered',
    },
  },
  errors: [
    { status: 204, verdict: 'empty' },
    { status: [400, 422], verdict: 'config', next: 'check the dates, `queue` and `period`' },
  ],
  check: { request: { path: '/call_queues/' }, message: 'connected to net2phone; login accepted' },
  limits: [
    'net2phone’s documentation and client confirm the URLs, the login, the version in the Accept header, that 204 means no data, and that a 429 response doesn’t say how long to wait.',
    'The consent page (`grant: authorization_code`) and the format of responses are unconfirmed, because they are not publicly documented. Calls are read in the format of 2026 (`result`, `cursor`, `more`); the columns of the other streams are the fields of the records, in a list or in `result`. Times without a zone are read as UTC.',
    'The default is version 1.10.0, which is in use; the vendor’s own client requests 1.7.0, which you can set with `api_version`.',
    'If `calls` returns nothing although the company had calls, ask the vendor to enable it for the app.',
    'A transferred call has one row per leg, all with the same `call_id`.',
    'net2phone does not publish its request limits. Its newer API, which uses keys, is not supported.',
  ],
  example: `sources:
  phones:
    connector: versature
    login: { client_id: "\${env:NET2PHONE_ID}", client_secret: "\${env:NET2PHONE_SECRET}" }
jobs:
  calls:
    source: phones
    query: { stream: calls, start_date: "{{ week_start }}" }
  waiting:
    source: phones
    query: { stream: queue_stats, start_date: "{{ yesterday }}", end_date: "{{ yesterday }}" }
`,
});

/** One party of a call, with its number. The field for the number depends on the API version. */
function numbered(end: unknown): Fields {
  const { id, value, number, ...rest } = (end ?? {}) as Fields;
  return { ...rest, number: number ?? id ?? value };
}

/**
 * The response is a list, a list in `result`, or a single record. The vendor hasn't confirmed this format. An object
 * that looks like an error isn't treated as a record.
 */
function listed(answer: ServiceAnswer): Fields[] {
  const { body } = answer;
  const isRecord = isObject(body) && !Object.keys(body).some((name) => /^(?:result|error|message|detail)/i.test(name));
  return isRecord ? [body] : (listAt(answer, Array.isArray(body) ? '' : 'result') as Fields[]);
}

function firstDay(window: Scope['window']): string {
  return (window as { from: Moment }).from.text('date');
}
