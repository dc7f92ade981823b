import {
  type Batch,
  batchOf,
  type Column,
  defineConnector,
  type ExtractContext,
  type HttpClient,
  type OptionValues,
  openHttp,
  option,
  ownHeaders,
  Problem,
  passingAnswer,
} from 'sluice/sdk';

const source = {
  url: option.text({
    required: true,
    pattern: '^https?://',
    about: 'Address of the API, without a trailing slash.',
    example: 'https://acme.example.com/api',
  }),
  token: option.text({
    required: true,
    secret: true,
    about: 'API token of a user who may read tickets.',
    example: '$' + '{env:ACME_TOKEN}',
  }),
};

const query = {
  status: option.choice(['open', 'closed', 'any'], { about: 'Which tickets to read.', default: 'any' }),
  changed_only: option.boolean({
    about: 'Read only the tickets that changed since the last run.',
    default: false,
  }),
};

const columns: readonly Column[] = [
  { name: 'id', type: 'integer' },
  { name: 'subject', type: 'text' },
  { name: 'hours', type: 'decimal' },
  { name: 'opened', type: 'timestamptz' },
];

export default defineConnector({
  id: 'acme',
  title: 'Acme',
  summary: 'Reads the tickets in an Acme account.',
  source,
  query,
  resumes: 'By the version of the last ticket that was read: every change assigns a ticket a new, higher version.',
  columns: 'Always `id`, `subject`, `hours` and `opened`.',
  limits: ['Acme allows 100 requests per minute; if it asks for a pause, the run is retried afterwards.'],
  example: `
sources:
  helpdesk:
    connector: acme
    url: https://acme.example.com/api
    token: \${env:ACME_TOKEN}
jobs:
  tickets:
    source: helpdesk
    query: { status: open }
`,

  async check({ source, signal }) {
    const http = await open(signal);
    try {
      const { total } = await ask(http, source, { after: '0', limit: '1' });
      return `${source.url} responds; ${total} tickets can be read`;
    } finally {
      await http.close();
    }
  },

  async extract(context) {
    const from = context.query.changed_only ? (context.watermark ?? '0') : '0';
    const place = { version: from };
    return {
      columns,
      batches: readPages(context, place),
      // Called once, after the last batch. Without new rows, the watermark doesn't change.
      watermark: () => (context.query.changed_only ? place.version : undefined),
    };
  },
});

type Source = OptionValues<typeof source>;
type Context = ExtractContext<typeof source, typeof query>;

interface Ticket {
  readonly id: number;
  readonly version: number;
  readonly subject: string | null;
  /** Text, because a number would lose digits. */
  readonly hours: string | null;
  readonly opened: string;
}

interface Page {
  readonly total: number;
  readonly tickets: readonly Ticket[];
}

/** One batch per page. The next page is requested when the runner wants more rows, so nothing piles up here. */
async function* readPages({ source, query, signal, log }: Context, place: { version: string }): AsyncGenerator<Batch> {
  const http = await open(signal);
  try {
    for (;;) {
      const { tickets } = await ask(http, source, { status: query.status, after: place.version, limit: '1000' });
      const last = tickets.at(-1);
      if (last === undefined) return;
      log.debug('a page was read', { tickets: tickets.length });
      yield batchOf(
        columns,
        tickets.map(({ id, subject, hours, opened }) => [id, subject, hours, opened]),
      );
      place.version = String(last.version);
    }
  } finally {
    // Also if the reader stops early, and if the run is stopped.
    await http.close();
  }
}

/** The SDK's client keeps credentials to one origin, decompresses, times out, and throws Problems. */
function open(signal: AbortSignal): Promise<HttpClient> {
  return openHttp({ timeoutMs: 30_000, answerMs: 300_000, signal, otherOrigins: [] });
}

async function ask(http: HttpClient, source: Source, parameters: Record<string, string>): Promise<Page> {
  const url = new URL(`${source.url}/tickets?${new URLSearchParams(parameters)}`);
  const { status, headers, body } = await http.send({
    method: 'GET',
    url,
    body: undefined,
    plainHeaders: ownHeaders,
    trustedHeaders: { authorization: `Bearer ${source.token}` },
    trustedQuery: [],
    trustedOrigin: url.origin,
  });
  const text = Buffer.concat(await Array.fromAsync(body)).toString('utf8');
  if (status >= 300) throw refused(status, text, passingAnswer(status, headers, Date.now()));
  return JSON.parse(text) as Page;
}

/** What the runner does next: asks a person for a token, waits, or ends this run. */
function refused(status: number, text: string, passing: ReturnType<typeof passingAnswer>): Problem {
  const seen = `status ${status}: ${text.slice(0, 200)}`;
  if (passing !== undefined) {
    const { isRateLimit, retryAfterMs } = passing;
    const pause = retryAfterMs === undefined ? { isRateLimit } : { isRateLimit, retryAfterMs };
    return new Problem({ code: 'ACME_BUSY', family: 'try_later', message: 'Acme asks to wait', seen, ...pause });
  }
  if (status === 401 || status === 403) {
    const next = 'Create a new token in Acme, and set it as the option "token" in the source';
    return new Problem({ code: 'ACME_TOKEN', family: 'login', message: 'Acme refuses the token', seen, next });
  }
  return new Problem({ code: 'ACME_REFUSED', family: 'job', message: 'Acme refuses the request', seen });
}
