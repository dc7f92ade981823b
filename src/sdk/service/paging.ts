import { nextLink } from '../http/link-header.ts';
import { type Answer, pick, type Where } from './answer.ts';
import type { Fields, Paging, RequestData, Stop } from './description.ts';
import { textOf } from './exact-json.ts';
import { valueAt } from './path.ts';
import { noWayOn } from './service-problems.ts';
import { renderText, type Scope } from './template.ts';

/** How the next page is asked for: by the same request with other facts, by another one, or at an address. */
export interface Turn {
  /** `page` in the scope of the request. */
  readonly page: Readonly<Record<string, unknown>>;
  readonly request?: RequestData;
  readonly link?: URL;
}

/** What was found on a page. */
export interface Leaf {
  readonly answer: Answer;
  readonly records: number;
  readonly last: Fields | undefined;
}

/** The pages of one request, one after another. */
export class Pager {
  readonly #paging: Paging | undefined;
  readonly #title: string;
  #records = 0;
  #pages = 0;
  #page: { number?: number; offset?: unknown; token?: unknown } = {};

  constructor(paging: Paging | undefined, title = 'The service') {
    this.#paging = paging;
    this.#title = title;
  }

  first(scope: Scope): Turn {
    const paging = this.#paging;
    if (paging?.by === 'page') this.#page = { number: paging.first ?? 1 };
    if (paging?.by === 'offset') this.#page = { offset: paging.first ?? 0 };
    if (paging?.by === 'token' && paging.first !== undefined) this.#page = { token: renderText(paging.first, scope) };
    return { page: this.#page };
  }

  /**
   * The turn after that page; undefined when it was the last.
   * @throws Problem `SERVICE_NO_WAY_ON` where the service says that there is more, and not how to get there.
   */
  next(leaf: Leaf): Turn | undefined {
    const paging = this.#paging;
    this.#records += leaf.records;
    this.#pages += 1;
    if (paging === undefined || isOver(paging, leaf, { records: this.#records, pages: this.#pages })) return undefined;
    if (paging.by === 'page') return this.#count(leaf, paging);
    if (paging.by === 'offset') return this.#offset(leaf, paging);
    return paging.by === 'token' ? this.#token(leaf, paging) : linked(leaf, paging.at);
  }

  #count({ records }: Leaf, paging: Paging): Turn | undefined {
    if (records === 0 && !saysMore(paging)) return undefined;
    this.#page = { number: (this.#page.number ?? 0) + 1 };
    return { page: this.#page };
  }

  #offset({ records, last }: Leaf, paging: Extract<Paging, { by: 'offset' }>): Turn | undefined {
    if (records === 0 || last === undefined) return undefined;
    const { first = 0, last_record } = paging;
    this.#page = { offset: last_record === undefined ? first + this.#records : valueAt(last, last_record) };
    return { page: this.#page };
  }

  #token({ answer }: Leaf, { at, onward, more }: Extract<Paging, { by: 'token' }>): Turn | undefined {
    const token = pick(answer, at);
    const text = textOf(token) ?? '';
    if (text === '' || text === 'null' || token === false) {
      if (more !== undefined) throw noWayOn(this.#title, answer.url);
      return undefined;
    }
    this.#page = { token };
    return { page: this.#page, ...(onward === undefined ? {} : { request: onward }) };
  }
}

function linked({ answer }: Leaf, at: Where | undefined): Turn | undefined {
  const link = at === undefined ? nextLink(answer.headers.link) : textOf(pick(answer, at));
  if (link === undefined || link === '') return undefined;
  const url = URL.parse(link, answer.url);
  return url === null ? undefined : { page: {}, link: url };
}

/** Whether the service itself says if there is more, so that an empty page proves nothing. */
function saysMore({ more, last }: Stop): boolean {
  return more !== undefined || last !== undefined;
}

function isOver(stop: Stop, { answer, records }: Leaf, sum: { records: number; pages: number }): boolean {
  const value = (where: Where | undefined) => (where === undefined ? undefined : pick(answer, where));
  if (stop.more !== undefined && !isTrue(value(stop.more))) return true;
  if (stop.last !== undefined && isTrue(value(stop.last))) return true;
  if (stop.empty !== undefined && !isTrue(value(stop.empty))) return true;
  if (stop.size !== undefined && records < stop.size) return true;
  const total = Number(textOf(value(stop.total)) ?? Number.NaN);
  const pages = Number(textOf(value(stop.pages)) ?? Number.NaN);
  return sum.records >= total || sum.pages >= pages;
}

function isTrue(value: unknown): boolean {
  const text = textOf(value);
  return text !== undefined && !['', '0', 'false', 'null', '[]', '{}'].includes(text);
}
