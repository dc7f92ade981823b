import { Problem, type ProblemOptions } from '../../lib/problem.ts';
import { excerpt } from '../../lib/redact.ts';
import type { RunWarning } from '../../lib/run-warnings.ts';
import { messageIn } from '../http/message-in.ts';
import { shownUrl } from '../http/problems.ts';
import { pick, type ServiceAnswer } from './answer.ts';
import type { Classification } from './classify.ts';
import type { Fields } from './description.ts';
import { isObject, textOf } from './exact-json.ts';
import type { ValuePath } from './path.ts';

/** The service has no records for this partition: continue with the next one. */
export class Ignored extends Error {}

/** The resume token has expired: read everything again. */
export class WatermarkLost extends Error {}

/** A pause shorter than this can't mean that a daily limit is used up. */
const minDailyMs = 15 * 60_000;

type Verdicts = Partial<Record<Classification['kind'], Pick<ProblemOptions, 'code' | 'family' | 'message' | 'next'>>>;

const meanings: Verdicts = {
  wait: { code: 'SERVICE_BUSY', family: 'try_later', message: 'is temporarily unavailable' },
  daily: {
    code: 'SERVICE_DAILY_LIMIT',
    family: 'try_later',
    message: 'has reached its daily limit',
    next: 'run the job less often, or ask the vendor for a higher quota',
  },
  login: {
    code: 'SERVICE_LOGIN',
    family: 'login',
    message: 'refused the credentials',
    next: "run `sluice login`, or fix the source's credentials",
  },
  permission: {
    code: 'SERVICE_PERMISSION',
    family: 'login',
    message: 'denied permission',
    next: 'grant read access to the user or token, then log in again',
  },
  config: { code: 'SERVICE_REFUSED', family: 'config', message: 'rejected the options' },
  fail: { code: 'SERVICE_FAILED', family: 'job', message: 'rejected the request' },
  pending: { code: 'SERVICE_BUSY', family: 'try_later', message: 'is not ready yet' },
};

/** The problem for an error response. */
export function answerProblem(
  service: string,
  answer: ServiceAnswer,
  { kind: verdict, rule, waitMs, isRateLimit }: Classification,
): Problem {
  const meaning = meanings[verdict] ?? meanings.fail!;
  const words = rule?.messageAt === undefined ? undefined : textOf(pick(answer, rule.messageAt));
  const shown = messageIn(words ?? answer.text);
  const next = rule?.next ?? meaning.next;
  const isDailyLimit = verdict === 'daily';
  const pause = isDailyLimit && (waitMs ?? 0) < minDailyMs ? undefined : waitMs;
  return new Problem({
    ...meaning,
    message: `${service} ${rule?.message ?? meaning.message} (${shownUrl(answer.url)})`,
    seen: shown === '' ? `status ${answer.status}` : `status ${answer.status}: ${shown}`,
    next,
    retryAfterMs: pause,
    isRateLimit,
    isDailyLimit,
    ...(verdict === 'login' ? { refusedPath: shownUrl(answer.url) } : {}),
  });
}

/** An unreadable response with a success status. */
export function unreadable(service: string, answer: Pick<ServiceAnswer, 'url' | 'text'>, cause: unknown): Problem {
  return new Problem({
    code: 'SERVICE_UNREADABLE',
    family: 'try_later',
    message: `${service} returned an unreadable response (${shownUrl(answer.url)})`,
    seen: messageIn(answer.text),
    next: 'if this persists, check whether a proxy or a sign-in page responds instead of the service',
    cause,
  });
}

/** The problem if there is no login yet, or if the login returned no token. */
export function tokenMissing(): Problem {
  return new Problem({
    code: 'SERVICE_LOGIN',
    family: 'login',
    message: 'no token for this source: not logged in',
    next: 'sluice login SOURCE',
  });
}

/** The response to a login call has no token where it should be. Shows only names, because the values may be secrets. */
export function noTokenIn({ url, status, headers, body, text }: ServiceAnswer, place: string): Problem {
  const fields = isObject(body) ? Object.keys(body).join(', ') : '';
  const what =
    text.trim() === '' ? 'no body' : fields === '' ? 'a body that is not a JSON object' : `fields: ${fields}`;
  return new Problem({
    code: 'SERVICE_NO_TOKEN',
    family: 'login',
    message: `The response to the login call has no token at ${place} (${shownUrl(url)})`,
    seen: excerpt(`status ${status}, ${what}; headers: ${Object.keys(headers).join(', ')}`, 300),
    next: "check the login call and the token's path: the response may report an error, or the token may be at another path",
  });
}

/** The user selected a column that the service doesn't have. */
export function noSuchField(service: string, seen: string, known: Iterable<string>): Problem {
  const names = [...known];
  const near = names.filter((name) => name.toLowerCase().includes(seen.toLowerCase()));
  const shown = (near.length > 0 ? near : names).slice(0, 20);
  return new Problem({
    code: 'SERVICE_NO_FIELD',
    family: 'config',
    message: `${service} has no such field or denies access to it`,
    seen,
    allowed: `${shown.join(', ')}${shown.length < names.length ? ` … (${names.length} in total)` : ''}`,
  });
}

/** A repeated page. */
export function repeatedPage(service: string, url: URL): Problem {
  return new Problem({
    code: 'SERVICE_PAGES_REPEAT',
    family: 'job',
    message: `${service} returned the same page repeatedly (${shownUrl(url)})`,
    next: 'run the job again; if this persists, the service has changed its paging, so report this as a bug; no data was sent',
  });
}

/** More records have the same time than the service returns for one query. */
export function cappedInstant(service: string, cap: number, seen: string | undefined): Problem {
  return new Problem({
    code: 'SERVICE_CAP',
    family: 'job',
    message: `${service} returns at most ${cap} records per request, but more records than that have the same modification time`,
    seen,
    next: 'set `start_date` to a later time; no data was sent',
  });
}

/** There are more pages than a run may read. */
export function tooManyPages(service: string, maxPages: number): Problem {
  return new Problem({
    code: 'SERVICE_MAX_PAGES',
    family: 'job',
    message: `${service} has more than ${maxPages} pages for this query`,
    allowed: String(maxPages),
    next: 'raise `max_pages`, or request a shorter period; no data was sent',
  });
}

/** The problem for a response that doesn't fit into memory. */
export function tooLarge(service: string, maxBytes: number): Problem {
  return new Problem({
    code: 'SERVICE_TOO_LARGE',
    family: 'job',
    message: `${service} returned more than ${maxBytes} bytes in one response`,
    next: 'request a shorter period or fewer fields, or raise `max_answer_bytes` in the source',
  });
}

/** The next page is on another host. */
export function strangeLink(service: string, link: URL, asked: URL): Problem {
  return new Problem({
    code: 'SERVICE_ORIGIN',
    family: 'job',
    message: `${service} refers to a next page on another host, which must not receive the credentials`,
    seen: link.origin,
    allowed: asked.origin,
  });
}

/** A required path is missing: the response is an error, or comes from a different version of the API. */
export function noList(answer: ServiceAnswer, path: ValuePath, allowed = 'a list'): Problem {
  const place = [path].flat().join('.');
  return new Problem({
    code: 'SERVICE_NO_LIST',
    family: 'job',
    message: `The response has no records${place === '' ? '' : ` at \`${place}\``} (${shownUrl(answer.url)})`,
    seen: messageIn(answer.text) || `status ${answer.status}, an empty response`,
    allowed,
    next: 'if this persists, check whether a proxy responds instead of the service; no data was sent, because a response without a list does not mean that there are no records',
  });
}

/**
 * A record has no value for any column: it's an error rather than a record, or it comes from a different version of the
 * API.
 */
export function alienRecord(service: string, record: Fields): Problem {
  return new Problem({
    code: 'SERVICE_NO_RECORD',
    family: 'job',
    message: `${service} returned something other than a record: it has none of the columns`,
    seen: messageIn(JSON.stringify(record)),
    next: 'if this persists, check whether a proxy responds instead of the service; no data was sent',
  });
}

/** No record has the stream's cursor column. */
export function cursorUnmet(service: string, column: string): RunWarning {
  return {
    code: 'COLUMN_IN_NO_RECORD',
    message: `No record has the watermark column ${column}, so the next run reads all records of ${service} again`,
    next: `if this persists, ${service} has renamed the column, so report this as a bug`,
  };
}

/** A response refers to a next page, but the stream declares no paging. */
export function moreIsShown(service: string, sign: string): RunWarning {
  return {
    code: 'SERVICE_MORE_PAGES',
    message: `A response from ${service} refers to a next page, at ${sign}, which was not read`,
    next: `${service} has changed its responses, or the connector lacks \`paging\`; report this as a bug`,
    incomplete: true,
  };
}

/** A success status whose result isn't ready or is only partial; undefined for other statuses. */
export function partialAnswer(service: string, { status, url }: ServiceAnswer): Problem | undefined {
  const isAccepted = status === 202;
  if (!isAccepted && status !== 206) return undefined;
  return new Problem({
    code: isAccepted ? 'SERVICE_ACCEPTED' : 'SERVICE_PARTIAL',
    family: isAccepted ? 'try_later' : 'job',
    message: `${service} ${isAccepted ? 'accepted the request, but has no result yet' : 'returned only part of the result'} (${shownUrl(url)})`,
    seen: `status ${status}`,
    allowed: 'status 200',
  });
}

/** Records were deleted during an incremental read, so records that moved to earlier pages would never be read. */
export function totalFell(service: string): Problem {
  return new Problem({
    code: 'SERVICE_TOTAL_CHANGED',
    family: 'try_later',
    message: `${service} reported a smaller total while its pages were read: records were skipped`,
    next: 'wait for the next run, which reads the same records again; no data was sent',
  });
}

/** The vendor didn't create the report: the response doesn't contain the ID that is needed to fetch the result. */
export function jobNotMade(service: string, missing: string, answer: ServiceAnswer): Problem {
  return new Problem({
    code: 'SERVICE_JOB_FAILED',
    family: 'job',
    message: `${service} did not create the report: its response contains no ${missing} (${shownUrl(answer.url)})`,
    seen: messageIn(answer.text) || `status ${answer.status}, an empty response`,
    next: "check the query's options: the response usually describes the error",
  });
}

/** The vendor's report job failed or took too long. */
export function jobProblem(service: string, state: string, isLate: boolean): Problem {
  return new Problem({
    code: isLate ? 'SERVICE_JOB_LATE' : 'SERVICE_JOB_FAILED',
    family: 'try_later',
    message: isLate ? `${service} did not finish the report in time` : `${service} could not create the report`,
    seen: state,
    next: 'if this persists, request a shorter period or fewer columns',
  });
}

/** The resume token expired in the middle of a run. */
export function watermarkLost(message: string): Problem {
  return new Problem({
    code: 'SERVICE_PLACE_LOST',
    family: 'try_later',
    message,
    next: 'wait for the next run, which starts from the beginning; no data from this run was sent',
  });
}

/** A reason to skip the partition occurred on a later page, so the earlier pages are incomplete. */
export function partIgnored(message: string): Problem {
  return new Problem({
    code: 'SERVICE_PART_LOST',
    family: 'try_later',
    message: `${message} after some of its pages had been read`,
    next: 'wait for the next run, which starts from the beginning; no data from this run was sent',
  });
}
