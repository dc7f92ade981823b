import {
  checkPreviewMethod,
  type Extraction,
  type HttpRequest,
  type HttpResponse,
  type JournalPage,
  type NextPage,
  Pager,
  readTwice,
  requestHash,
  type Scope,
  signOfMore,
  totalWarning,
  withUrl,
} from '#sdk';
import { ruleFor, ruleProblem } from './answers.ts';
import { mayEqual, repeatedPage } from './equal-pages.ts';
import { discarded, type Fetched, type FetchedPage, type PageContent } from './fetched-page.ts';
import { childProblem, childQuery, type Parent, parentText, requestsAtOnce } from './for-each.ts';
import { inOrder, type MyTurn } from './in-order.ts';
import { moreWarning } from './more-pages.ts';
import { refusePartOf } from './page-answer.ts';
import { isPassing, laterPageProblem, pageMissing, pagesOfEarlier, tooManyPages, unreadable } from './page-problems.ts';
import { PageSurvey } from './page-survey.ts';
import { PageTable } from './page-table.ts';
import type { PagesOptions } from './pages-options.ts';
import { laterRequest, pagingOf, placePage, placesOf, stopSigns } from './paging.ts';
import { withPathOf } from './paths.ts';
import { methodsOf, withReport } from './report.ts';
import { Sample } from './sample.ts';
import { scopesOf } from './scopes.ts';
import { conditioned, isConditioned, validatorsOf } from './validators.ts';

/**
 * Spools all pages of a query before it returns any rows, so that Sluice never sends an incomplete result. If the
 * reported total changes between pages, records may have moved to other pages, so all pages are fetched a second time.
 */
export async function readPages(given: PagesOptions): Promise<Extraction> {
  const { spool, log, incremental, asking, preview, query } = given;
  for (const method of methodsOf(query)) checkPreviewMethod(preview, method);
  const scope = { ...asking.scope, ...incremental?.names(asking.scope) };
  const init = { ...given, query: childQuery(withPathOf(given.query)) };
  const { journal } = given;
  if (journal !== undefined && journal.earlier > 0)
    log.info('continuing after the pages of an earlier attempt', { pages: journal.earlier });
  const forget = async () => {
    spool.clear();
    await journal?.clear();
  };
  const run = await readTwice(() => PageRun.read(init, scope), { forget, log });
  return incremental === undefined ? run.extraction() : incremental.rows(() => run.extraction());
}

class PageRun {
  hasChanged = false;
  problem: unknown;
  readonly #init: PagesOptions;
  readonly #table: PageTable;
  readonly #survey: PageSurvey;
  #before: FetchedPage | undefined;
  #number = 0;
  #isUnchanged = false;
  #validators: string | undefined;
  #records = 0;
  readonly #sample: Sample;

  constructor(init: PagesOptions, { table, sample } = { table: new PageTable(init), sample: new Sample(init) }) {
    this.#init = init;
    this.#table = table;
    this.#sample = sample;
    this.#survey = new PageSurvey(init, table);
  }

  /** Number of pages read. */
  get pages(): number {
    return this.#number;
  }

  /** Reads all pages until a problem occurs. */
  static async read(init: PagesOptions, scope: Scope): Promise<PageRun> {
    const run = new PageRun(init);
    try {
      await run.#readAll(scope);
    } catch (error) {
      run.problem = error;
    }
    return run;
  }

  /** Reads the pages of all parents, or of the query itself if it has no `for_each`. */
  async #readAll(scope: Scope): Promise<void> {
    const { parents, query, log } = this.#init;
    if (parents === undefined) return this.#readScopes(scope);
    let done = 0;
    await inOrder(parents, this.#sample.isPartial ? 1 : requestsAtOnce(query), async (parent, myTurn) => {
      if (!this.#sample.takesMore()) return;
      await this.#readParent(parent, scope, myTurn);
      if (++done % reportedParents === 0) log.info('parents read', { parents: done, of: parents.length });
    });
  }

  async #readParent(parent: Parent, scope: Scope, myTurn: MyTurn): Promise<void> {
    const sample = this.#sample;
    const run = new PageRun({ ...this.#init, parents: undefined, myTurn }, { table: this.#table, sample });
    try {
      await run.#readScopes({ ...scope, parent });
      if (this.#init.preview === undefined) sample.note({ records: run.#records, hasNext: false });
    } catch (error) {
      throw childProblem(error, { query: this.#init.query, parent, isFirstPage: run.#before === undefined });
    } finally {
      this.#number += run.#number;
      this.hasChanged ||= run.hasChanged;
    }
  }

  async #readScopes(scope: Scope): Promise<void> {
    const { preview, query } = this.#init;
    for (const one of scopesOf(query, scope)) {
      if (preview !== undefined && !this.#sample.takesMore()) break;
      await this.#readScope(one);
    }
  }

  async #readScope(scope: Scope): Promise<void> {
    if (this.#init.query.report === undefined) return this.#readSpan(scope);
    const before = this.#number;
    await withReport({ ...this.#init, scope, hasPages: () => this.#number > before + 1 }, (ready) =>
      this.#readSpan(ready),
    );
  }

  async #readSpan(scope: Scope): Promise<void> {
    const { query } = this.#init;
    const pager = new Pager(pagingOf(query), { title, places: 'option' });
    this.#before = undefined;
    for (let turn: NextPage | undefined = pager.first(scope); turn !== undefined; ) {
      if (++this.#number > query.max_pages) throw tooManyPages(query.max_pages);
      const fetched = await this.#fetch(turn, scope);
      this.#init.alive();
      if (fetched.kind === 'unchanged') {
        this.#isUnchanged = true;
        return;
      }
      if (fetched.kind === 'missing') {
        if (this.#before !== undefined) throw pageMissing(fetched.answer, this.#number);
        if (this.#init.preview !== undefined) this.#sample.note({ records: 0, hasNext: false });
        return;
      }
      if (fetched.kind === 'beyond') {
        this.#number--;
        pager.endBeyond({ ...fetched.answer, text: '', headers: {}, body: undefined });
        break;
      }
      const { page, content } = fetched;
      const { records } = content;
      turn = this.#turnAfter(page, content, pager);
      this.#records += records;
      if (this.#init.preview !== undefined) return this.#sample.note({ records, hasNext: turn !== undefined });
      const isSame = this.#before?.spooled.sha256 === page.spooled.sha256;
      const isRepeated = isSame && (records > 0 || turn !== undefined);
      if (isRepeated && !(records > 0 && (await mayEqual(page.spooled, query, this.#table.settings!)))) {
        throw repeatedPage(page.answer.url, this.#number);
      }
      if (turn?.link !== undefined) this.#init.client.allow(page.request, turn.link);
      this.#before = page;
    }
    const warning = totalWarning({ code: 'REST', title }, pager);
    if (warning !== undefined) this.#table.warnings.push(warning);
  }

  #turnAfter({ answer }: FetchedPage, { records, valueAt, nearby }: PageContent, pager: Pager): NextPage | undefined {
    const { query, preview } = this.#init;
    const { paging } = query;
    const link = [answer.headers.link ?? []].flat().join(', ');
    const body = Object.fromEntries(placesOf(paging).map((place) => [place, valueAt(place)]));
    const facts = { url: answer.url, status: answer.status, text: '', headers: { link }, body };
    const sign = signOfMore(valueAt, answer.headers);
    try {
      const turn = pager.next({ answer: facts, records, last: body, sign, nearby });
      const { headers } = answer;
      const ended = { valueAt, headers, records, kind: paging.kind, sign, isOnly: preview !== undefined };
      const warning = turn === undefined ? moreWarning(ended) : undefined;
      if (warning !== undefined) this.#table.warnings.push(warning);
      return turn;
    } finally {
      this.hasChanged ||= pager.hasChanged;
    }
  }

  /** The table of all pages. */
  async extraction(): Promise<Extraction> {
    if (this.#isUnchanged) {
      return { columns: [], batches: nothing(), watermark: () => this.#validators, unchanged: () => true };
    }
    const { parents = [], preview, query, warn, journal } = this.#init;
    if (journal !== undefined && journal.taken > 0) warn(pagesOfEarlier(journal.taken));
    const rows = await this.#table.extraction();
    if (preview !== undefined) return { ...rows, firstPage: this.#sample.firstPage };
    const warning = this.#sample.warning(parents.length);
    if (warning !== undefined) warn(warning);
    const table = { ...rows, isSample: warning !== undefined };
    return query.conditional ? { ...table, watermark: () => this.#validators } : table;
  }

  /** A page and its values, which are parsed while a retry is still possible. */
  async #fetch(turn: NextPage, scope: Scope): Promise<Fetched> {
    const { asking, query, spool, journal } = this.#init;
    const isLater = this.#before !== undefined;
    const asked = isLater ? laterRequest(query) : query;
    const filled = { ...scope, page: turn.page };
    const place = (made: HttpRequest) =>
      turn.link === undefined ? placePage(made, asked, turn.page) : withUrl(made, turn.link);
    const make = async () => place(await asking.request(asked, filled));
    const plain = journal === undefined ? undefined : place(asking.plainRequest(asked, filled));
    const earlier = plain && (await journal?.take(requestHash(plain)));
    if (earlier !== undefined) return this.#earlierPage({ ...earlier, request: plain! }, scope);
    // A server that keeps the position itself, such as a scroll, may get the same request for each page.
    const isMoving = isLater && query.paging.next_request !== undefined;
    const isBeyond = ({ status }: HttpResponse) => isLater && stopSigns(query.paging).includes(status);
    const isRead = async (answer: HttpResponse) => {
      const rule = ruleFor(query.answers, answer);
      if (rule !== undefined && rule.means !== 'missing') throw await ruleProblem(rule, answer);
      return rule !== undefined || isBeyond(answer);
    };
    let request: HttpRequest;
    let isChecked = isMoving;
    const fetching = asking.fetch<Fetched>(
      async () => {
        request = await make();
        if (!isChecked) this.#table.asked.check(plain ?? request);
        isChecked = true;
        return query.conditional ? conditioned(request, this.#init.watermark) : request;
      },
      async (answer, sent) => {
        // With `missing: skip` and `stop_at: 404`, the status has another meaning behind the last page.
        if (isBeyond(answer)) return { kind: 'beyond', answer: await discarded(answer) };
        if (ruleFor(query.answers, answer)?.means === 'missing')
          return { kind: 'missing', answer: await discarded(answer) };
        await refusePartOf(sent, answer, {
          isPaged: query.paging.kind !== 'none' && this.#before?.answer.status !== 200,
          isConditional: query.conditional && isConditioned(sent),
        });
        if (query.conditional) this.#validators = validatorsOf(request, answer);
        const page = { request, answer, spooled: await spool.add(answer.body) };
        if (answer.status === 304) return { kind: 'unchanged' };
        // The rows of earlier parents come first.
        await this.#init.myTurn?.();
        try {
          await this.#table.open(answer);
          const content = await this.#survey.read(page, scope, this.#number);
          if (plain !== undefined) await journal?.add(requestHash(plain), page);
          return { kind: 'page', page, content };
        } catch (error) {
          spool.takeBack(page.spooled);
          throw isPassing(error, { answer, number: this.#number }) ? unreadable(answer.url, error) : error;
        }
      },
      { isRead, isRepeatable: !isMoving || /^get$/i.test(asked.method), facts: () => this.#pageOf(scope) },
    );
    return fetching.catch((error: unknown) => {
      throw isLater ? laterPageProblem(error, this.#number) : error;
    });
  }

  /** A page that an earlier attempt read. */
  async #earlierPage(
    { request, answer: head, spooled }: JournalPage & { request: HttpRequest },
    scope: Scope,
  ): Promise<Fetched> {
    this.#table.asked.check(request);
    const page = { request, answer: { ...head, body: nothing() }, spooled };
    await this.#init.myTurn?.();
    await this.#table.open(page.answer);
    return { kind: 'page', page, content: await this.#survey.read(page, scope, this.#number) };
  }

  /** Which page is requested, for log lines. */
  #pageOf({ parent }: Scope): object {
    const page = this.#number;
    return parent === undefined ? { page } : { page, parent: parentText(this.#init.query, parent) };
  }
}

async function* nothing(): AsyncGenerator<never> {}

/** The server's name in messages. */
const title = 'The server';

/** Progress is logged after each of this many parents. */
const reportedParents = 100;
