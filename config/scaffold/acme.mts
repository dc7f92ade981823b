import {
  type Batch,
  batchOf,
  type Column,
  defineConnector,
  type ExtractContext,
  type OptionValues,
  option,
  Problem,
} from 'sluice/sdk';

const source = {
  url: option.text({
    required: true,
    pattern: '^https?://',
    about: 'Address of the API, without a slash at its end.',
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
  summary: 'Reads the tickets of an Acme account.',
  source,
  query,
  resumes: 'By the version of the last ticket that was read: every change gives a ticket a new, higher one.',
  columns: 'Always `id`, `subject`, `hours` and `opened`.',
  limits: ['Acme answers 100 requests a minute; when it asks for a pause, the run is tried again after it.'],
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
    const { total } = await ask(source, { after: '0', limit: '1' }, signal);
    return `${source.url} answers; ${total} tickets can be read there`;
  },

  async extract(context) {
    const from = context.query.changed_only ? (context.watermark ?? '0') : '0';
    const place = { version: from };
    return {
      columns,
      batches: readPages(context, place),
      // Asked once, after the last batch. Without a new row it stays where it was.
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

/** One batch a page. The next page is asked for when the runner wants more rows, so nothing piles up here. */
async function* readPages({ source, query, signal, log }: Context, place: { version: string }): AsyncGenerator<Batch> {
  for (;;) {
    const { tickets } = await ask(source, { status: query.status, after: place.version, limit: '1000' }, signal);
    const last = tickets.at(-1);
    if (last === undefined) return;
    log.debug('a page was read', { tickets: tickets.length });
    yield batchOf(
      columns,
      tickets.map(({ id, subject, hours, opened }) => [id, subject, hours, opened]),
    );
    place.version = String(last.version);
  }
}

async function ask(source: Source, parameters: Record<string, string>, signal: AbortSignal): Promise<Page> {
  // A connection that is not kept open is one that nobody has to close.
  const headers = { authorization: `Bearer ${source.token}`, connection: 'close' };
  try {
    const answer = await fetch(`${source.url}/tickets?${new URLSearchParams(parameters)}`, { headers, signal });
    if (!answer.ok) throw await refused(answer);
    return (await answer.json()) as Page;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Problem) throw error;
    throw new Problem({
      code: 'ACME_UNREACHABLE',
      family: 'try_later',
      message: `${source.url} does not answer`,
      seen: (error as Error).message,
      cause: error,
    });
  }
}

/** What the runner shall do next: ask a person for a token, wait, or end this run. */
async function refused(answer: Response): Promise<Problem> {
  const seen = `status ${answer.status}: ${(await answer.text()).slice(0, 200)}`;
  if (answer.status === 401 || answer.status === 403) {
    const next = 'Make a new token in Acme, and set it as the option "token" of the source';
    return new Problem({ code: 'ACME_TOKEN', family: 'login', message: 'Acme does not take the token', seen, next });
  }
  if (answer.status === 429 || answer.status >= 500) {
    const retryAfterMs = 1000 * (Number(answer.headers.get('retry-after')) || 60);
    return new Problem({ code: 'ACME_BUSY', family: 'try_later', message: 'Acme asks to wait', seen, retryAfterMs });
  }
  return new Problem({ code: 'ACME_REFUSED', family: 'job', message: 'Acme refuses the request', seen });
}
