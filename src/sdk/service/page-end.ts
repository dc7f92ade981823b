import type { Problem } from '../../lib/problem.ts';
import { isLinkHeader, nextLink } from '../http/link-header.ts';
import { type AnswerPath, pick, type ServiceAnswer } from './answer.ts';
import { isObject, textOf } from './exact-json.ts';
import { type PageFault, pageProblem, placeText } from './page-problems.ts';
import type { Paging } from './paging-data.ts';

/** The parts of a page that determine whether another page follows. */
export interface PageFacts {
  readonly answer: ServiceAnswer;
  readonly records: number;
  /** The last record, for locations in it. */
  readonly last?: unknown;
  /** A reference to a next page that isn't the one declared in `paging`, if the caller searched for one. */
  readonly sign?: string | undefined;
  /** What the response contains at the nearest existing part of a path, if the caller knows it. */
  readonly nearby?: ((place: string) => string | undefined) | undefined;
}

/**
 * The step after a page: request another page (with the token or link, if paging uses one), stop, or report an error.
 */
export type PageEnd =
  | { readonly kind: 'more'; readonly token?: unknown; readonly link?: URL }
  | { readonly kind: 'end' }
  | { readonly kind: 'fault'; readonly problem: Problem };

/** The subject and audience of error messages. */
export interface PageEndOptions {
  readonly title: string;
  /** Who declared the paths. `option`: the user, who can correct them. `vendor`: the connector's author. */
  readonly places: 'option' | 'vendor';
}

/** A total number of records or pages that responses report. */
interface ReportedTotal {
  readonly last: number;
  readonly hasChanged: boolean;
  readonly hasFallen: boolean;
}

const end: PageEnd = { kind: 'end' };
const more: PageEnd = { kind: 'more' };

/**
 * Decides after each page whether it was the last one. The server must signal the end by a null, false or empty next
 * page, a flag, a total that has been reached, a page without records, or a page that isn't full. A missing value alone
 * doesn't mean the end: the path may have a typo, the field may have been renamed or the response may be broken, and
 * the data would be incomplete.
 */
export class PageEndJudge {
  readonly #paging: Paging;
  readonly #options: PageEndOptions;
  readonly #totals = new Map<'total' | 'pages', ReportedTotal>();
  #records = 0;
  #pages = 0;
  #largest = 0;
  #hasSeenWay = false;

  constructor(paging: Paging, options: PageEndOptions) {
    this.#paging = paging;
    this.#options = options;
  }

  /** Whether the reported total changed, which means that records may have moved between pages during the read. */
  get hasChanged(): boolean {
    return [...this.#totals.values()].some((total) => total.hasChanged);
  }

  /**
   * Whether the reported total decreased. If so, records were deleted, and records that moved to earlier pages weren't
   * read.
   */
  get hasFallen(): boolean {
    return [...this.#totals.values()].some((total) => total.hasFallen);
  }

  /** Number of records in excess of the last reported total; 0 if no total was reported. */
  get surplus(): number {
    const total = this.#totals.get('total');
    return total === undefined ? 0 : Math.max(0, this.#records - total.last);
  }

  /** Number of records on all pages so far. */
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

  /**
   * Decides after a response that says that there is no such page. The response itself is no page.
   * @returns the end, or an error if the reported totals contradict it.
   */
  beyond(page: PageFacts): PageEnd {
    return this.#ended({ ...page, records: 0 });
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
    // After a page without records, the offset can't advance.
    return by === 'page' ? more : this.#fault(page, { kind: 'no way', at: undefined });
  }

  /** What the flags on a page indicate; undefined if paging declares no flags. */
  #flags(page: PageFacts): 'more' | 'over' | PageEnd | undefined {
    const { present, always } = this.#paging;
    let flag: 'more' | undefined;
    for (const name of ['more', 'last', 'empty'] as const) {
      const at = this.#paging[name];
      if (at === undefined) continue;
      const value = pickFrom(page, at);
      if (!this.#isFlag(value)) return this.#fault(page, { kind: 'flag', name, at });
      if (isTrue(value) === (name === 'last')) return 'over';
      if (name !== 'empty') flag = 'more';
    }
    if (present === undefined) return flag;
    if (always !== undefined && page.records > 0 && (pickFrom(page, always) ?? null) === null) {
      return this.#fault(page, { kind: 'flag', name: 'more', at: always });
    }
    return isTrue(pickFrom(page, present)) ? 'more' : 'over';
  }

  /**
   * Whether a value can be a flag. A flag that a user declares may be the next page's token or URL, which is null on
   * the last page. A flag that a connector's author declares is never null.
   */
  #isFlag(value: unknown): boolean {
    return value !== undefined && (value !== null || this.#options.places === 'option');
  }

  /** Decides whether more pages follow by the next page's token or URL. */
  #way(page: PageFacts, isMore: boolean): PageEnd {
    const { by, at, ends_empty } = this.#paging as Extract<Paging, { by: 'token' | 'link' }>;
    const value = at === undefined ? linkOf(page.answer) : pickFrom(page, at);
    if (isInLastRecord(at) && page.records > 0 && isNothing(value)) {
      return this.#fault(page, { kind: 'no key', at, value });
    }
    if (ends_empty && page.records === 0 && !isMore) return this.#ended(page);
    if (value === undefined) return isMore ? this.#fault(page, { kind: 'no way', at }) : this.#without(page, at);
    this.#hasSeenWay = true;
    if (isNothing(value)) {
      return isMore ? this.#fault(page, { kind: 'no way', at }) : this.#ended(page);
    }
    // Some servers always return a token, so the page after the last one has no records.
    if (page.records === 0 && this.#isReached() && !isMore) return this.#ended(page);
    if (by === 'token')
      return isToken(value, this.#paging)
        ? { kind: 'more', token: value }
        : this.#fault(page, { kind: 'token', at, value });
    const link = typeof value === 'string' ? URL.parse(value, page.answer.url) : null;
    return link !== null && /^https?:$/.test(link.protocol)
      ? { kind: 'more', link }
      : this.#fault(page, { kind: 'link', at, value });
  }

  /**
   * Decides after a page without a path to the next page, which is the last page only if something else confirms that.
   */
  #without(page: PageFacts, at: AnswerPath | undefined): PageEnd {
    const { missing } = this.#paging;
    const { records, sign } = page;
    // This page is shorter than an earlier page that had the path. The requested page size can't be used, because
    // servers may cap it.
    const isShort = records < this.#largest;
    const isSaid = this.#isReached() || records === 0 || (isShort && sign === undefined);
    const isEnd = missing === 'end' || (missing === 'single' && !this.#hasSeenWay);
    if (isEnd || (isSaid && missing !== 'error')) return this.#ended(page);
    return this.#fault(page, { kind: 'missing', at, hasSeen: this.#hasSeenWay });
  }

  /** Remembers this page's totals. Returns an error if a total isn't a number. */
  #counts(page: PageFacts): PageEnd | undefined {
    for (const name of ['total', 'pages'] as const) {
      const at = this.#paging[name];
      const value = at === undefined ? undefined : pickFrom(page, at);
      if (value === undefined || value === null) continue;
      const count = countOf(value);
      if (count === undefined) return this.#fault(page, { kind: 'count', name, at, value });
      const before = this.#totals.get(name);
      const hasChanged = before !== undefined && (before.hasChanged || before.last !== count);
      const hasFallen = before !== undefined && (before.hasFallen || count < before.last);
      this.#totals.set(name, { last: count, hasChanged, hasFallen });
    }
    return undefined;
  }

  #isReached(): boolean {
    const { total, pages } = this.#sums();
    return (total !== undefined && this.#records >= total) || (pages !== undefined && this.#pages >= pages);
  }

  #sums(): { total: number | undefined; pages: number | undefined } {
    return { total: this.#totals.get('total')?.last, pages: this.#totals.get('pages')?.last };
  }

  /** Checks whether the reported totals confirm that this page is the last one. */
  #ended(page: PageFacts): PageEnd {
    const { total, pages } = this.#sums();
    if (total !== undefined && this.#records < total) {
      return this.#fault(page, { kind: 'short', what: 'records', seen: this.#records, reported: total });
    }
    if (total === undefined && pages !== undefined && this.#pages < pages) {
      return this.#fault(page, { kind: 'short', what: 'pages', seen: this.#pages, reported: pages });
    }
    return this.#left(page) ?? this.#unreported(page) ?? end;
  }

  /** Checks that the page contains as many records as it reports to be remaining. */
  #left(page: PageFacts): PageEnd | undefined {
    const { remaining: at } = this.#paging;
    const value = at === undefined ? undefined : pickFrom(page, at);
    if (value === undefined || value === null) return undefined;
    const left = countOf(value);
    if (left === undefined) return this.#fault(page, { kind: 'count', name: 'total', at, value });
    return page.records < left
      ? this.#fault(page, { kind: 'short', what: 'records', seen: page.records, reported: left })
      : undefined;
  }

  /** The error for a configured total that no page reported; undefined if there is none. */
  #unreported(page: PageFacts): PageEnd | undefined {
    if (this.#options.places === 'vendor' || this.#records === 0) return undefined;
    const name = (['total', 'pages'] as const).find((one) => this.#paging[one] !== undefined && !this.#totals.has(one));
    return name === undefined ? undefined : this.#fault(page, { kind: 'unreported', name, at: this.#paging[name]! });
  }

  #fault({ answer, records, sign, nearby }: PageFacts, fault: PageFault): PageEnd {
    const hint = sign === undefined ? '' : `; the response refers to a next page at ${sign}`;
    const names = isMissing(fault) ? nearby?.(textOfPlace(fault.at)) : undefined;
    const around = names === undefined ? '' : `; ${names}`;
    const seen = `${records} records on page ${this.#pages}${hint}${around}`;
    return { kind: 'fault', problem: pageProblem(fault, { ...this.#options, url: answer.url, seen }) };
  }
}

/**
 * The next page's URL in the Link header. Null if the header contains only other links; undefined if there is no
 * header.
 */
function linkOf({ headers: { link = '' } }: ServiceAnswer): unknown {
  if (link === '') return undefined;
  // A malformed Link header doesn't show whether there is a next page. The returned object isn't a URL, which makes the
  // read fail.
  return nextLink(link) ?? (isLinkHeader(link) ? null : { link });
}

/** The value as a count; undefined if it isn't one. */
function countOf(value: unknown): number | undefined {
  const count = Number(textOf(value) || Number.NaN);
  return Number.isInteger(count) && count >= 0 ? count : undefined;
}

/** A list or an object can be a token if the request sends it as JSON. */
function isToken(value: unknown, paging: Paging): boolean {
  const isAny = paging.by === 'token' && paging.any === true;
  return value !== true && (isAny || !(isObject(value) || Array.isArray(value)));
}

function pickFrom({ answer, last }: PageFacts, at: AnswerPath): unknown {
  return pick({ ...answer, last }, at);
}

function isInLastRecord(at: AnswerPath | undefined): at is AnswerPath {
  return typeof at === 'object' && 'last_record' in at;
}

/** Whether a value says that there is no next page. */
function isNothing(value: unknown): boolean {
  return value === false || ['', 'null'].includes(textOf(value) ?? '');
}

type MissingFault = Extract<PageFault, { kind: 'missing' | 'flag' | 'unreported' | 'no key' }>;

function isMissing(fault: PageFault): fault is MissingFault & { at: AnswerPath } {
  return ['missing', 'flag', 'unreported', 'no key'].includes(fault.kind) && 'at' in fault && fault.at !== undefined;
}

function textOfPlace(at: AnswerPath): string {
  return placeText(at).replaceAll('`', '');
}

function isTrue(value: unknown): boolean {
  const text = textOf(value);
  return text !== undefined && !['', '0', 'false', 'null', '[]', '{}'].includes(text);
}
