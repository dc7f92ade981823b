import {
  excerpt,
  type HttpResponse,
  httpProblem,
  option,
  type Problem,
  readBeginning,
  retryAfterMs,
  secondsOf,
  shownUrl,
} from '#sdk';
import type { OptionFault } from './option-fault.ts';
import { text } from './schemas.ts';

/** What a response means that has this status, or this header. The first matching rule applies. */
export interface AnswerRule {
  readonly status?: number | readonly number[];
  /** A header that the response has. With `is`, the header must have this value. */
  readonly header?: string;
  readonly is?: string | number | boolean;
  /** `missing`: the query has no records. `wait`: the request is sent again. `fail`: the run fails at once. */
  readonly means: 'missing' | 'wait' | 'fail';
  /** The wait before the next request, if the response doesn't ask for one. */
  readonly after?: string;
}

const status = { type: 'integer', minimum: 200, maximum: 599 };

/** The option `answers` of a query. */
export const answers = option.list<AnswerRule>(
  {
    type: 'object',
    additionalProperties: false,
    required: ['means'],
    properties: {
      status: { anyOf: [status, { type: 'array', items: status, minItems: 1 }] },
      header: { ...text, minLength: 1 },
      is: { type: ['string', 'number', 'boolean'] },
      means: { enum: ['missing', 'wait', 'fail'] },
      after: { type: 'string', pattern: '^[1-9]\\d*[smh]$' },
    },
  },
  {
    about:
      'What responses mean whose status or header isn’t used as usual; the first matching rule applies. `missing`: there are no records. `wait`: send the request again, after the time in `after` unless the response asks for another one. `fail`: the run fails at once.',
    example: [
      { status: 404, means: 'missing' },
      { status: 403, header: 'x-quota-left', is: '0', means: 'wait', after: '30s' },
    ],
  },
);

/** The rule for a response; undefined if its status has the usual meaning. */
export function ruleFor(
  rules: readonly AnswerRule[],
  { status: seen, headers }: Pick<HttpResponse, 'status' | 'headers'>,
): AnswerRule | undefined {
  return rules.find(({ status, header, is }) => {
    if (status !== undefined && ![status].flat().includes(seen)) return false;
    if (header === undefined) return true;
    const value = headers[header.toLowerCase()];
    return value !== undefined && (is === undefined || [value].flat().join(', ').trim() === String(is));
  });
}

/** The problem for a response that means `wait` or `fail`. Reads the beginning of the response. */
export async function ruleProblem({ means, after }: AnswerRule, answer: HttpResponse): Promise<Problem> {
  const { url, status, headers } = answer;
  const beginning = excerpt(await readBeginning(answer.body), 200);
  const seen = beginning === '' ? `status ${status}` : `status ${status}: ${beginning}`;
  if (means === 'fail') {
    return httpProblem('REST_REFUSED', 'job', `${shownUrl(url)} refused the request, according to \`answers\``, {
      seen,
      next: 'check `method`, `parameters` and `body`; no data was sent',
    });
  }
  return httpProblem('REST_BUSY', 'try_later', `${shownUrl(url)} must be requested again, according to \`answers\``, {
    seen,
    next: 'wait: the request is sent again automatically; if this persists, raise `retries` or `after`',
    retryAfterMs: retryAfterMs(headers, Date.now()) ?? (after === undefined ? undefined : secondsOf(after) * 1000),
    isRateLimit: status === 403 || status === 429,
  });
}

/** Rules that would lose records, or that can't apply. */
export function answerFaults(rules: readonly AnswerRule[]): OptionFault[] {
  const message = rules.map(ruleFault).find((fault) => fault !== undefined);
  return message === undefined ? [] : [{ option: 'answers', message }];
}

/** Statuses of pages: their records would be lost. */
const pages = [200, 201, 203, 206];

function ruleFault({ status, header, is, means, after }: AnswerRule): string | undefined {
  const statuses = [status ?? []].flat();
  if (status === undefined && header === undefined) return `requires \`status\` or \`header\` for \`means: ${means}\``;
  if (is !== undefined && header === undefined) return 'requires `header` if `is` is set';
  if (after !== undefined && means !== 'wait') return 'allows `after` only with `means: wait`';
  const login = statuses.find((one) => one === 401 || one === 407);
  if (login !== undefined) return `allows no status ${login}, because it means that the credentials were refused`;
  if (means !== 'missing') return undefined;
  if (status === undefined) return 'requires a `status` for `means: missing`, because a page has records';
  const page = statuses.find((one) => pages.includes(one));
  return page === undefined
    ? undefined
    : `allows no status ${page} with \`means: missing\`, because the page's records would be lost`;
}
