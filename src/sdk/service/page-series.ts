import { createHash } from 'node:crypto';
import type { ServiceAnswer } from './answer.ts';
import type { ApiClient } from './api-client.ts';
import { Deduplicator } from './deduplicator.ts';
import type { Fields, StreamData } from './description.ts';
import { signOfMore } from './more-signs.ts';
import { type NextPage, Pager } from './paging.ts';
import { valueAt } from './path.ts';
import { type RecordPiece, recordsOf } from './records.ts';
import type { RequestData } from './request-data.ts';
import { Ignored, partIgnored, partialAnswer, repeatedPage } from './service-problems.ts';
import type { Scope } from './template.ts';

export interface PageSeriesOptions {
  readonly api: ApiClient;
  /** What messages call the service. */
  readonly title: string;
  readonly stream: StreamData;
  /** What the first page is asked for with; the stream's request for all others. */
  readonly firstRequest: RequestData;
  readonly scope: Scope;
  /** Called before each page. */
  readonly onPage: () => void;
}

/** Records of one page, and what the page was in templates. */
export interface PagePiece extends Pick<RecordPiece, 'records' | 'count'> {
  readonly page: NextPage['page'];
}

/** All pages of one question, in order, each asked for when the records of the one before were taken. */
export class PageSeries {
  readonly #options: PageSeriesOptions;
  readonly #pager: Pager;
  readonly #guard = new RepeatGuard();
  readonly #distinct: Deduplicator | undefined;
  #answer: ServiceAnswer | undefined;
  #hasPages = false;
  #sign: string | undefined;

  constructor(options: PageSeriesOptions) {
    this.#options = options;
    const { stream, title } = options;
    this.#pager = new Pager(stream.paging, { title, places: 'vendor' });
    this.#distinct = stream.distinct === undefined ? undefined : new Deduplicator(stream.distinct);
  }

  /** What the totals that the service told say about the pages. */
  get pager(): Pager {
    return this.#pager;
  }

  /** The answer that came last, if the stream resumes by it; no other is held, as it may be a large page. */
  get answer(): ServiceAnswer | undefined {
    return this.#answer;
  }

  /** Where an answer shows a next page although the stream is described without pages. */
  get sign(): string | undefined {
    return this.#sign;
  }

  /** @throws Problem if an answer is not a page, or does not say how to go on. */
  async *read(): AsyncGenerator<PagePiece> {
    const { stream, firstRequest, scope, onPage } = this.#options;
    let turn: NextPage | undefined = this.#pager.first(scope);
    for (let request = firstRequest; turn !== undefined; request = turn?.request ?? stream.request) {
      onPage();
      turn = yield* this.#page(request, turn);
    }
  }

  /** One page. Gives the turn after it; undefined if it was the last. */
  async *#page(request: RequestData, { page, link }: NextPage): AsyncGenerator<PagePiece, NextPage | undefined> {
    const { api, title, stream } = this.#options;
    const scope: Scope = { ...this.#options.scope, page };
    const { decode, errors } = stream;
    const reply = await api.call({ request, link, scope, decode, errors }).catch((error: unknown) => {
      throw error instanceof Ignored && this.#hasPages ? partIgnored(error.message) : error;
    });
    const part = partialAnswer(title, reply.answer);
    if (reply.verdict === 'ok' && part !== undefined) throw part;
    if (this.#guard.hasSeen(reply.digest)) throw repeatedPage(title, reply.answer.url);
    this.#hasPages = true;
    if (resumesByAnswer(stream)) this.#answer = reply.answer;
    let count = 0;
    let last: Fields | undefined;
    for await (const piece of reply.verdict === 'empty' ? [] : recordsOf(reply, stream, scope)) {
      count += piece.count;
      last = piece.last ?? last;
      yield { records: this.#distinct?.fresh(piece.records) ?? piece.records, count: piece.count, page };
    }
    const turn = this.#pager.next({ answer: reply.answer, records: count, last });
    if (stream.paging === undefined && isList(stream)) this.#sign = signIn(reply.answer);
    const isRepeated = turn !== undefined && count > 0 && this.#guard.hasSeen(digestOf(turn, count, last));
    if (isRepeated) throw repeatedPage(title, reply.answer.url);
    return turn;
  }
}

const resumesByAnswer = ({ incremental }: StreamData): boolean => incremental !== undefined && 'state' in incremental;

function isList({ records }: StreamData): boolean {
  return typeof records === 'string' || Array.isArray(records);
}

function signIn({ body, headers }: ServiceAnswer): string | undefined {
  return signOfMore((place) => valueAt(body, place), headers.link);
}

/**
 * Tells two pages apart where answers differ by more than their records, such as the number of a request: the same last
 * record, and the same way on.
 */
function digestOf({ page, link }: NextPage, count: number, last: Fields | undefined): string {
  const text = JSON.stringify([page, link, count, last]);
  return createHash('sha256').update(text).digest('hex');
}

/** The same page again, at once or after a round. Only the last few pages count: a long way is no reason to keep all. */
class RepeatGuard {
  readonly #recent: string[] = [];

  hasSeen(digest: string): boolean {
    if (this.#recent.includes(digest)) return true;
    this.#recent.push(digest);
    if (this.#recent.length > 50) this.#recent.shift();
    return false;
  }
}
