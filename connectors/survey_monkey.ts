import { defineService, option, type RequestData, type StreamData } from '#sdk';

/** All times are in UTC, with or without a zone. */
const instant = (at: string) => ({ type: 'timestamptz', at, date: 'local', zone: 'UTC' }) as const;

const since = '{{ since | in: UTC | format: YYYY-MM-DDTHH:mm:ss }}';

const survey = {
  survey: option.text({
    about: 'Numeric IDs of the surveys, separated by commas. Default: all of the account’s surveys.',
    example: '105723396',
  }),
};

/** The last page has no URL for a next page, but it still has its own URL. */
const paging = { by: 'page', present: 'links.next', always: 'links', total: 'total' } as const;

const surveys = {
  request: { path: '/surveys', query: { page: '{{ page.number }}', per_page: 1000 } },
  records: 'data',
  paging,
  fields: { id: 'id' },
  given: 'survey',
} as const;

/** Survey responses, sorted by modification time. */
const responses = {
  options: {
    ...survey,
    status: option.choice(['completed', 'partial', 'overquota', 'disqualified'], {
      about: 'Read only responses with this status.',
    }),
  },
  request: {
    path: '/surveys/{{ partition.survey.id }}/responses/bulk',
    query: {
      page: '{{ page.number }}',
      per_page: 100,
      sort_by: 'date_modified',
      sort_order: 'ASC',
      status: '{{ status }}',
      start_modified_at: since,
    },
  } satisfies RequestData,
  records: 'data',
  paging,
} as const;

/** SurveyMonkey API version 3, as described in the vendor's public documentation. */
export default defineService({
  id: 'survey_monkey',
  title: 'SurveyMonkey',
  summary: 'Reads surveys, responses and answers from SurveyMonkey, with the text of the questions.',
  options: {
    token: option.text({
      about: 'Access token of your own app; replaces `login`.',
      secret: true,
      example: `\${env:SURVEYMONKEY_TOKEN}`,
    }),
    data_center: option.choice(['us', 'eu', 'ca'], {
      about: 'The account’s region, if you use `token`; with `login`, SurveyMonkey reports it.',
      default: 'us',
    }),
  },
  version: 'v3',
  base: ({ login, data_center, api_version }) => `${hostOf(login as Facts | undefined, data_center)}/${api_version}`,
  login: [
    { kind: 'key', when: 'token', headers: { authorization: 'Bearer {{ token }}' } },
    {
      kind: 'oauth',
      oauth: {
        grants: ['authorization_code'],
        authorize_url: 'https://api.surveymonkey.com/oauth/authorize',
        token_url: 'https://api.surveymonkey.com/oauth/token',
        // Scopes are set in the app's settings. Tokens never expire, so they're never refreshed.
        refresh: 'none',
        keep: ['access_url'],
      },
    },
  ],
  streams: {
    surveys: {
      about: 'Surveys with their response counts.',
      request: {
        path: '/surveys',
        query: {
          page: '{{ page.number }}',
          per_page: 1000,
          sort_by: 'date_modified',
          sort_order: 'ASC',
          include: 'response_count,question_count,date_created,date_modified,language',
          start_modified_at: since,
        },
      },
      records: 'data',
      paging,
      incremental: { column: 'updated_at', key: 'id', settles: '5m' },
      columns: {
        id: 'text',
        title: 'text',
        nickname: 'text',
        language: 'text',
        questions: { type: 'integer', at: 'question_count' },
        responses: { type: 'integer', at: 'response_count' },
        created_at: instant('date_created'),
        updated_at: instant('date_modified'),
      },
    },
    responses: {
      about: 'One row for each response, with its time and duration.',
      ...responses,
      partitions: { survey: surveys },
      incremental: { column: 'updated_at', key: 'id', settles: '5m' },
      columns: {
        survey_id: { type: 'text', scope: 'partition.survey.id' },
        id: 'text',
        collector_id: 'text',
        status: { type: 'text', at: 'response_status' },
        mode: { type: 'text', at: 'collection_mode' },
        seconds: { type: 'integer', at: 'total_time' },
        custom_value: 'text',
        custom_variables: 'json',
        created_at: instant('date_created'),
        updated_at: instant('date_modified'),
      },
    },
    answers: {
      about: 'One row for each answer, with the text of the question and of the choice.',
      ...responses,
      partitions: {
        survey: surveys,
        design: {
          request: { path: '/surveys/{{ partition.survey.id }}/details' },
          records: { one: '' },
          fields: { title: 'title', pages: 'pages' },
        },
      },
      each: (response, { partition }) => answersOf(response as Response, (partition as { design: Design }).design),
      incremental: { column: 'updated_at', key: 'response_id', settles: '5m' },
      // A question's rows, columns and choices may be null.
      key: [],
      columns: {
        survey_id: { type: 'text', scope: 'partition.survey.id' },
        survey: { type: 'text', scope: 'partition.design.title' },
        response_id: 'text',
        status: 'text',
        question_id: 'text',
        question: 'text',
        row: 'text',
        column: 'text',
        choice: 'text',
        weight: 'decimal',
        text: 'text',
        updated_at: instant('date_modified'),
      },
    } satisfies StreamData,
  },
  errors: [
    { status: 429, headers: { 'x-ratelimit-app-global-day-remaining': '0' }, verdict: 'daily' },
    {
      status: 429,
      verdict: 'wait',
      wait: { at: { header: 'x-ratelimit-app-global-minute-reset' }, unit: 'seconds' },
    },
    {
      status: 403,
      body: { 'error.id': 1018 },
      verdict: 'config',
      message: 'stores this account in another region',
      next: 'set `data_center`, or log in again: sluice login',
    },
    {
      status: 404,
      verdict: 'config',
      message: 'has no such survey',
      next: 'check `survey`; the `surveys` stream lists all surveys',
    },
    {
      status: 413,
      verdict: 'config',
      message: 'does not return surveys with more than 1,000 questions',
      next: 'set `survey` to the other surveys, or read the `responses` stream',
    },
  ],
  budget: {
    rates: [{ requests: 120, within: '1m' }],
    gauges: [
      {
        at: { header: 'x-ratelimit-app-global-minute-remaining' },
        means: 'left',
        pause: { at: { header: 'x-ratelimit-app-global-minute-reset' }, unit: 'seconds' },
      },
    ],
  },
  check: { request: { path: '/users/me' }, message: 'logged in as {{ answer.username }}' },
  limits: [
    'SurveyMonkey’s documentation confirms the URLs, paging, sorting by time of change, the host in the token response, and limits of 120 calls per minute and 500 per day for apps that are not public. A call returns 100 responses, so large surveys use many calls.',
    'It is unconfirmed that changes appear within five minutes.',
    '`answers` cannot read surveys with more than 1,000 questions, because SurveyMonkey does not return their design.',
    'Deleted responses are not reported, but a run without `incremental` no longer includes them.',
  ],
  example: `sources:
  surveys:
    connector: survey_monkey
    login: { client_id: "\${env:SURVEYMONKEY_ID}", client_secret: "\${env:SURVEYMONKEY_SECRET}" }
jobs:
  satisfaction:
    source: surveys
    query: { stream: answers, survey: "105723396", status: completed }
`,
});

type Facts = { readonly kept?: { readonly access_url?: string } };

const hosts: Readonly<Record<string, string>> = {
  us: 'https://api.surveymonkey.com',
  eu: 'https://api.eu.surveymonkey.com',
  ca: 'https://api.surveymonkey.ca',
};

/** The API host depends on the account's region, and is returned in the token response. */
function hostOf(login: Facts | undefined, dataCenter: unknown): string {
  return (login?.kept?.access_url ?? hosts[String(dataCenter)]!).replace(/\/+$/, '');
}

interface Choice {
  readonly id?: string;
  readonly text?: string;
  readonly weight?: unknown;
  readonly choices?: readonly Choice[];
}

interface Question {
  readonly id: string;
  readonly headings?: readonly { readonly heading?: string }[];
  readonly answers?: { readonly [kind: string]: Choice | readonly Choice[] };
}

interface Design {
  readonly pages?: readonly { readonly questions?: readonly Question[] }[];
}

interface Response {
  readonly id?: string;
  readonly date_modified?: string;
  readonly response_status?: string;
  readonly pages?: readonly { readonly questions?: readonly { id: string; answers?: readonly Given[] }[] }[];
}

type Given = Readonly<Partial<Record<'choice_id' | 'row_id' | 'col_id' | 'other_id' | 'text', string>>>;

function* flatAnswers({ pages = [] }: Response): Generator<{ question_id: string; answer: Given }> {
  for (const { questions = [] } of pages)
    for (const { id, answers = [] } of questions) for (const answer of answers) yield { question_id: id, answer };
}

function answersOf(response: Response, design: Design): Record<string, unknown>[] {
  const { id: response_id, date_modified, response_status: status } = response;
  const { questions, choices } = wordsOf(design);
  const word = (id: string | undefined) => (id === undefined ? undefined : choices.get(id)?.text);
  return Array.from(flatAnswers(response), ({ question_id, answer }) => ({
    response_id,
    status,
    date_modified,
    question_id,
    question: questions.get(question_id),
    row: word(answer.row_id),
    column: word(answer.col_id),
    choice: word(answer.choice_id ?? answer.other_id),
    weight: answer.choice_id === undefined ? undefined : choices.get(answer.choice_id)?.weight,
    text: answer.text,
  }));
}

interface Words {
  readonly questions: ReadonlyMap<string, string | undefined>;
  readonly choices: ReadonlyMap<string, Choice>;
}

const known = new WeakMap<Design, Words>();

/** The texts of a survey's questions and choices, which are collected once for all of the survey's responses. */
function wordsOf(design: Design): Words {
  const found = known.get(design);
  if (found !== undefined) return found;
  const questions = (design.pages ?? []).flatMap((page) => page.questions ?? []);
  const choices = questions.flatMap(({ answers = {} }) => Object.values(answers).flat().flatMap(withInner));
  const words = {
    questions: new Map(questions.map(({ id, headings }) => [id, headings?.[0]?.heading])),
    choices: new Map(choices.map((choice) => [choice.id ?? '', choice])),
  };
  known.set(design, words);
  return words;
}

/** If the question is a matrix of dropdown menus, the choices are nested in the columns. */
function withInner(choice: Choice): Choice[] {
  return [choice, ...(choice.choices ?? []).flatMap(withInner)];
}
