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
  /** The service's name in messages. */
  readonly title: string;
  readonly stream: StreamData;
  /** The request for the first page; later pages use the stream's request. */
  readonly firstRequest: RequestData;
  readonly scope: Scope;
  /** Called before each page. */
  readonly onPage: () => void;
}

/** One page's records and template variables. */
export interface PagePiece extends Pick<RecordPiece, 'records' | 'count'> {
  readonly page: NextPage['page'];
}

/**
 * Reads all pages of one query in order. Each page is requested once the previous page's records have been consumed.
 */
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

  /** Compares the pages with the reported totals. */
  get pager(): Pager {
    return this.#pager;
  }

  /** The last response. It's kept only if the stream resumes from it, because pages may be large. */
  get answer(): ServiceAnswer | undefined {
    return this.#answer;
  }

  /** A reference to a next page, found although the stream declares no paging. */
  get sign(): string | undefined {
    return this.#sign;
  }

  /** @throws Problem if a response isn't a page, or if it's unclear whether another page follows. */
  async *read(): AsyncGenerator<PagePiece> {
    const { stream, firstRequest, scope, onPage } = this.#options;
    let turn: NextPage | undefined = this.#pager.first(scope);
    for (let request = firstRequest; turn !== undefined; request = turn?.request ?? stream.request) {
      onPage();
      turn = yield* this.#page(request, turn);
    }
  }

  /** Reads one page. Returns the next step; undefined if it was the last page. */
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
      last = piece.last;
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
  return signOfMore((place) => valueAt(body, place), headers);
}

/**
 * Identifies a page by its last record and next step, because other parts of a response, such as a request ID, may
 * differ even if the page is the same.
 */
function digestOf({ page, link }: NextPage, count: number, last: Fields | undefined): string {
  const text = JSON.stringify([page, link, count, last]);
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Detects a page that repeats the previous page or one of the last few pages. Remembers only these, to limit memory
 * use.
 */
class RepeatGuard {
  readonly #recent: string[] = [];

  hasSeen(digest: string): boolean {
    if (this.#recent.includes(digest)) return true;
    this.#recent.push(digest);
    if (this.#recent.length > 50) this.#recent.shift();
    return false;
  }
}
