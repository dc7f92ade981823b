import type { Problem } from '../../lib/problem.ts';
import { isLinkHeader, nextLink } from '../http/link-header.ts';
import { type AnswerPath, pick, type ServiceAnswer } from './answer.ts';
import { isObject, textOf } from './exact-json.ts';
import { type PageFault, pageProblem } from './page-problems.ts';
import type { Paging } from './paging-data.ts';

/** One page, as far as it says whether there is another one. */
export interface PageFacts {
  readonly answer: ServiceAnswer;
  readonly records: number;
  /** Where the answer shows a next page that `paging` does not cover, if the caller searched for one. */
  readonly sign?: string | undefined;
}

/** What follows a page: another one (by a token or a link, if the paging has them), nothing, or an error. */
export type PageEnd =
  | { readonly kind: 'more'; readonly token?: unknown; readonly link?: URL }
  | { readonly kind: 'end' }
  | { readonly kind: 'fault'; readonly problem: Problem };

/** Whom the messages are about, and for. */
export interface PageEndOptions {
  readonly title: string;
  /** `option`: a user wrote the places down and can correct them. `vendor`: the connector's author did. */
  readonly places: 'option' | 'vendor';
}

/** A number of records or pages that the answers tell, over all pages. */
interface Told {
  readonly last: number;
  readonly hasChanged: boolean;
  readonly hasFallen: boolean;
}

const end: PageEnd = { kind: 'end' };
const more: PageEnd = { kind: 'more' };

/**
 * Decides after each page whether it was the last one. The end of the data is something that the server says: a next page that
 * is null, false or empty, a flag, a total that is reached, a page without records, a page shorter than the protocol's
 * pages. It is never something that was not found: a place that no page has may be a typing error, a renamed field or a
 * broken answer, and then the pages so far are a part that must not pass for the whole.
 */
export class PageEndJudge {
  readonly #paging: Paging;
  readonly #options: PageEndOptions;
  readonly #told = new Map<'total' | 'pages', Told>();
  #records = 0;
  #pages = 0;
  #largest = 0;
  #hasSeenWay = false;

  constructor(paging: Paging, options: PageEndOptions) {
    this.#paging = paging;
    this.#options = options;
  }

  /** Whether the server changed its mind about how much there is: data moved between the pages while they were read. */
  get hasChanged(): boolean {
    return [...this.#told.values()].some((told) => told.hasChanged);
  }

  /** Whether there was less on a later page: something before it went away, and what moved up in its place was not read. */
  get hasFallen(): boolean {
    return [...this.#told.values()].some((told) => told.hasFallen);
  }

  /** Records beyond the number that the server told last; 0 if it told none. */
  get surplus(): number {
    const total = this.#told.get('total');
    return total === undefined ? 0 : Math.max(0, this.#records - total.last);
  }

  /** Records of all pages so far. */
  get records(): number {
    return this.#records;
  }

  after(page: PageFacts): PageEnd {
    this.#records += page.records;
    this.#pages += 1;
    const decided = this.#counts(page) ?? this.#decide(page);
    this.#largest = Math.max(this.#largest, page.records);
    return decided;
  }

  #decide(page: PageFacts): PageEnd {
    const flags = this.#flags(page);
    if (typeof flags === 'object') return flags;
    if (flags === 'over') return this.#ended(page);
    const { by, size } = this.#paging;
    if (size !== undefined && page.records < size) return this.#ended(page);
    if (by === 'token' || by === 'link') return this.#way(page, flags === 'more');
    if (page.records > 0) return flags !== 'more' && this.#isReached() ? this.#ended(page) : more;
    if (flags !== 'more' || this.#isReached()) return this.#ended(page);
    // An offset cannot move on behind a page without records.
    return by === 'page' ? more : this.#fault(page, { kind: 'no way', at: undefined });
  }

  /** What the flags say; undefined if there are none. */
  #flags(page: PageFacts): 'more' | 'over' | PageEnd | undefined {
    const { present, always } = this.#paging;
    let said: 'more' | undefined;
    for (const name of ['more', 'last', 'empty'] as const) {
      const at = this.#paging[name];
      if (at === undefined) continue;
      const value = pick(page.answer, at);
      if (!this.#isFlag(value)) return this.#fault(page, { kind: 'flag', name, at });
      if (isTrue(value) === (name === 'last')) return 'over';
      if (name !== 'empty') said = 'more';
    }
    if (present === undefined) return said;
    if (always !== undefined && page.records > 0 && (pick(page.answer, always) ?? null) === null) {
      return this.#fault(page, { kind: 'flag', name: 'more', at: always });
    }
    return isTrue(pick(page.answer, present)) ? 'more' : 'over';
  }

  /** A user may name the next page itself, which is null on the last one. A flag of a vendor never is. */
  #isFlag(value: unknown): boolean {
    return value !== undefined && (value !== null || this.#options.places === 'option');
  }

  /** By the token or the address that leads to the next page. */
  #way(page: PageFacts, isMore: boolean): PageEnd {
    const { by, at } = this.#paging as Extract<Paging, { by: 'token' | 'link' }>;
    const value = at === undefined ? linkOf(page.answer) : pick(page.answer, at);
    if (value === undefined) return isMore ? this.#fault(page, { kind: 'no way', at }) : this.#without(page, at);
    this.#hasSeenWay = true;
    const text = textOf(value) ?? '';
    if (text === '' || text === 'null' || value === false) {
      return isMore ? this.#fault(page, { kind: 'no way', at }) : this.#ended(page);
    }
    // Some servers always give a token. Behind the last record they give pages without any.
    if (page.records === 0 && this.#isReached() && !isMore) return this.#ended(page);
    if (by === 'token')
      return isToken(value) ? { kind: 'more', token: value } : this.#fault(page, { kind: 'token', at, value });
    const link = typeof value === 'string' ? URL.parse(value, page.answer.url) : null;
    return link !== null && /^https?:$/.test(link.protocol)
      ? { kind: 'more', link }
      : this.#fault(page, { kind: 'link', at, value });
  }

  /** The place of the next page is not there: the end only if something else says so. */
  #without(page: PageFacts, at: AnswerPath | undefined): PageEnd {
    const { missing } = this.#paging;
    const { records, sign } = page;
    // Shorter than the pages before, which had the place. What was asked for proves nothing: servers cap the size.
    const isShort = records < this.#largest;
    const isSaid = this.#isReached() || records === 0 || (isShort && sign === undefined);
    const isEnd = missing === 'end' || (missing === 'single' && !this.#hasSeenWay);
    if (isEnd || (isSaid && missing !== 'error')) return this.#ended(page);
    return this.#fault(page, { kind: 'missing', at, hasSeen: this.#hasSeenWay });
  }

  /** The numbers that this page tells; a fault if they are none. */
  #counts(page: PageFacts): PageEnd | undefined {
    for (const name of ['total', 'pages'] as const) {
      const at = this.#paging[name];
      const value = at === undefined ? undefined : pick(page.answer, at);
      if (value === undefined || value === null) continue;
      const count = countOf(value);
      if (count === undefined) return this.#fault(page, { kind: 'count', name, at, value });
      const before = this.#told.get(name);
      const hasChanged = before !== undefined && (before.hasChanged || before.last !== count);
      const hasFallen = before !== undefined && (before.hasFallen || count < before.last);
      this.#told.set(name, { last: count, hasChanged, hasFallen });
    }
    return undefined;
  }

  #isReached(): boolean {
    const { total, pages } = this.#sums();
    return (total !== undefined && this.#records >= total) || (pages !== undefined && this.#pages >= pages);
  }

  #sums(): { total: number | undefined; pages: number | undefined } {
    return { total: this.#told.get('total')?.last, pages: this.#told.get('pages')?.last };
  }

  /** The end as the server says it, held against how much there is as the server says that. */
  #ended(page: PageFacts): PageEnd {
    const { total, pages } = this.#sums();
    if (total !== undefined && this.#records < total) {
      return this.#fault(page, { kind: 'short', what: 'records', seen: this.#records, told: total });
    }
    if (total === undefined && pages !== undefined && this.#pages < pages) {
      return this.#fault(page, { kind: 'short', what: 'pages', seen: this.#pages, told: pages });
    }
    return this.#left(page) ?? this.#untold(page) ?? end;
  }

  /** Held against what this page tells to be left. */
  #left(page: PageFacts): PageEnd | undefined {
    const { remaining: at } = this.#paging;
    const value = at === undefined ? undefined : pick(page.answer, at);
    if (value === undefined || value === null) return undefined;
    const left = countOf(value);
    if (left === undefined) return this.#fault(page, { kind: 'count', name: 'total', at, value });
    return page.records < left
      ? this.#fault(page, { kind: 'short', what: 'records', seen: page.records, told: left })
      : undefined;
  }

  /** A number that the user wants looked at, and that no page told. */
  #untold(page: PageFacts): PageEnd | undefined {
    if (this.#options.places === 'vendor' || this.#records === 0) return undefined;
    const name = (['total', 'pages'] as const).find((one) => this.#paging[one] !== undefined && !this.#told.has(one));
    return name === undefined ? undefined : this.#fault(page, { kind: 'untold', name, at: this.#paging[name]! });
  }

  #fault({ answer, records, sign }: PageFacts, fault: PageFault): PageEnd {
    const hint = sign === undefined ? '' : `; the answer shows a next page at ${sign}`;
    const seen = `${records} records on page ${this.#pages}${hint}`;
    return { kind: 'fault', problem: pageProblem(fault, { ...this.#options, url: answer.url, seen }) };
  }
}

/** The next address of the Link header: null if it has only others, undefined if there is no header. */
function linkOf({ headers: { link = '' } }: ServiceAnswer): unknown {
  if (link === '') return undefined;
  // What is no list of links says nothing about the next page. As an object it is no address either.
  return nextLink(link) ?? (isLinkHeader(link) ? null : { link });
}

/** A number of things; undefined for everything else. */
function countOf(value: unknown): number | undefined {
  const count = Number(textOf(value) || Number.NaN);
  return Number.isInteger(count) && count >= 0 ? count : undefined;
}

function isToken(value: unknown): boolean {
  return value !== true && !isObject(value) && !Array.isArray(value);
}

function isTrue(value: unknown): boolean {
  const text = textOf(value);
  return text !== undefined && !['', '0', 'false', 'null', '[]', '{}'].includes(text);
}
