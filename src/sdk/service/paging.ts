import type { ServiceAnswer } from './answer.ts';
import { PageEndJudge, type PageEndOptions } from './page-end.ts';
import type { Paging } from './paging-data.ts';
import type { RequestData } from './request-data.ts';
import { renderText, type Scope } from './template.ts';

/** How to request the next page: the same request with other values, another request, or a URL. */
export interface NextPage {
  /** The value of the `page` variable in the request's templates. */
  readonly page: Readonly<Record<string, unknown>>;
  readonly request?: RequestData;
  readonly link?: URL;
}

/** Content of a page. */
export interface PageResult {
  readonly answer: ServiceAnswer;
  readonly records: number;
  readonly last: unknown;
  /** A reference to a next page that isn't the one declared in the paging. */
  readonly sign?: string | undefined;
  /** What the response contains at the nearest existing part of a path. */
  readonly nearby?: ((place: string) => string | undefined) | undefined;
}

/** Steps through the pages of one request. {@link PageEndJudge} decides which page is the last. */
export class Pager {
  readonly #paging: Paging | undefined;
  readonly #end: PageEndJudge | undefined;
  #page: { number?: number; offset?: unknown; token?: unknown } = {};

  constructor(paging: Paging | undefined, options: PageEndOptions) {
    this.#paging = paging;
    this.#end = paging === undefined ? undefined : new PageEndJudge(paging, options);
  }

  /** Whether the reported total of records or pages changed. */
  get hasChanged(): boolean {
    return this.#end?.hasChanged ?? false;
  }

  /** Whether the reported total decreased, which means that records may have been skipped. */
  get hasFallen(): boolean {
    return this.#end?.hasFallen ?? false;
  }

  /** Number of records in excess of the last reported total. */
  get surplus(): number {
    return this.#end?.surplus ?? 0;
  }

  first(scope: Scope): NextPage {
    const paging = this.#paging;
    if (paging?.by === 'page') this.#page = { number: paging.first ?? 1 };
    if (paging?.by === 'offset') this.#page = { offset: paging.first ?? 0 };
    if (paging?.by === 'token' && paging.first !== undefined) this.#page = { token: renderText(paging.first, scope) };
    return { page: this.#page };
  }

  /**
   * The step after this page; undefined if it was the last page.
   * @throws Problem if it's unclear whether more pages follow or how to request them.
   */
  next(leaf: PageResult): NextPage | undefined {
    if (this.#paging === undefined || this.#end === undefined) return undefined;
    const decided = this.#end.after(leaf);
    if (decided.kind === 'fault') throw decided.problem;
    return decided.kind === 'end' ? undefined : this.#turn(this.#paging, decided);
  }

  /**
   * Ends paging after a response that says that there is no such page.
   * @throws Problem if the reported totals contradict it.
   */
  endBeyond(answer: ServiceAnswer): void {
    const decided = this.#end?.beyond({ answer, records: 0 });
    if (decided?.kind === 'fault') throw decided.problem;
  }

  #turn(paging: Paging, { token, link }: { token?: unknown; link?: URL }): NextPage {
    if (paging.by === 'link') return { page: {}, link: link! };
    if (paging.by === 'page') this.#page = { number: (this.#page.number ?? 0) + 1 };
    else if (paging.by === 'token') this.#page = { token };
    else this.#page = { offset: (paging.first ?? 0) + this.#end!.records };
    const onward = paging.by === 'token' ? paging.onward : undefined;
    return { page: this.#page, request: onward };
  }
}
