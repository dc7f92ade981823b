import {
  type ConnectorLog,
  type Extraction,
  formatOfMediaType,
  formatOfName,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  isKnownEncoding,
  Pager,
  type RecordReader,
  type RecordSettings,
  recordReader,
  restProblem,
  type Scope,
  type Spool,
  type SpooledPage,
  shownUrl,
  spansOf,
  type Turn,
  withUrl,
} from '#sdk';
import type { Asking } from './asking.ts';
import { readsAnswer } from './faults.ts';
import type { RestQuery } from './options.ts';
import { AskedBefore, pagingOf, placePage, wantedOf } from './paging.ts';
import { conditioned, validatorsOf } from './validators.ts';

interface PagesInit {
  readonly asking: Asking;
  readonly client: HttpClient;
  readonly query: RestQuery;
  readonly spool: Spool;
  readonly log: ConnectorLog;
  /** Called after each page. */
  readonly alive: () => void;
  readonly watermark: string | undefined;
}

interface Page {
  readonly request: HttpRequest;
  readonly answer: HttpAnswer;
  readonly spooled: SpooledPage;
}

/** Fetches every page of a query into the spool, and only then gives its rows: a part never passes for the whole. */
export async function readPages(init: PagesInit): Promise<Extraction> {
  const run = new PageRun(init);
  for (const scope of scopesOf(init.query, init.asking.scope)) await run.readSpan(scope);
  return run.extraction();
}

/** One scope for each span of the window; a single one without a window. */
function* scopesOf({ window }: RestQuery, scope: Scope): Generator<Scope> {
  if (window === undefined) return yield scope;
  const { start, end, step, bound = 'inside' } = window;
  const dated: Scope = { ...scope, start_date: start, ...(end === undefined ? {} : { end_date: end }) };
  for (const span of spansOf({ end: bound, ...(step === undefined ? {} : { step }) }, dated, undefined)) {
    yield { ...scope, window: span };
  }
}

class PageRun {
  readonly #init: PagesInit;
  readonly #asked = new AskedBefore();
  #reader: RecordReader | undefined;
  #before: SpooledPage | undefined;
  #number = 0;
  #isUnchanged = false;
  #validators: string | undefined;

  constructor(init: PagesInit) {
    this.#init = init;
  }

  async readSpan(scope: Scope): Promise<void> {
    const { query } = this.#init;
    const pager = new Pager(pagingOf(query.paging));
    this.#before = undefined;
    for (let turn: Turn | undefined = pager.first(scope); turn !== undefined; ) {
      if (++this.#number > query.max_pages) throw tooManyPages(query.max_pages);
      const page = await this.#fetch(turn, scope);
      this.#init.alive();
      if (page.answer.status === 304) {
        this.#isUnchanged = true;
        return;
      }
      this.#reader ??= await recordReader(settingsOf(query, page.answer));
      const { records, values } = await this.#survey(page);
      const body = Object.fromEntries(values);
      const headers = { link: [page.answer.headers.link ?? []].flat().join(', ') };
      const answer = { url: page.answer.url, status: page.answer.status, text: '', headers, body };
      turn = pager.next({ answer, records, last: records > 0 ? {} : undefined });
      if (turn?.link !== undefined) this.#init.client.allow(page.request, turn.link);
      this.#before = page.spooled;
    }
  }

  async extraction(): Promise<Extraction> {
    const { query } = this.#init;
    if (this.#isUnchanged) {
      const nothing = (async function* () {})();
      return { columns: [], batches: nothing, watermark: () => this.#validators, unchanged: () => true };
    }
    // A window without a day in it asks nothing.
    this.#reader ??= await recordReader({ ...query, format: query.format ?? 'json' });
    const table = this.#reader.extraction();
    return query.conditional ? { ...table, watermark: () => this.#validators } : table;
  }

  async #fetch(turn: Turn, scope: Scope): Promise<Page> {
    const { asking, query, spool } = this.#init;
    const make = async () => {
      const made = await asking.request(query, { ...scope, page: turn.page });
      return turn.link === undefined ? placePage(made, query, turn.page) : withUrl(made, turn.link);
    };
    this.#asked.check(await make());
    let request: HttpRequest;
    return asking.fetch(
      async () => {
        request = await make();
        return query.conditional ? conditioned(request, this.#init.watermark) : request;
      },
      async (answer) => {
        if (query.conditional) this.#validators = validatorsOf(request, answer);
        return { request, answer, spooled: await spool.add(answer.body) };
      },
    );
  }

  async #survey({ answer, spooled }: Page): Promise<{ records: number; values: ReadonlyMap<string, string> }> {
    const { query, log } = this.#init;
    const isNothing = answer.status === 204 || (spooled.bytes === 0 && this.#number > 1);
    const ask = { count: query.paging.kind !== 'none', values: wantedOf(query.paging) };
    const input = { ...spooled.input, facts: factsOf(query, answer) };
    const { records, values } = isNothing ? nothing : await this.#reader!.survey(input, ask);
    log.debug('page read', { page: this.#number, records, bytes: spooled.bytes });
    if (this.#before?.sha256 === spooled.sha256 && records !== 0) throw repeated(answer.url, this.#number);
    return { records: records ?? 0, values };
  }
}

const nothing = { records: 0, values: new Map<string, string>() };

function factsOf({ header_columns }: RestQuery, { headers }: HttpAnswer): Record<string, string | undefined> {
  const facts = Object.entries(header_columns).map(([column, name]) => {
    const value = headers[name.toLowerCase()];
    return [column, value === undefined ? undefined : [value].flat().join(', ')] as const;
  });
  return Object.fromEntries(facts);
}

function settingsOf(query: RestQuery, answer: HttpAnswer): RecordSettings {
  const contentType = [answer.headers['content-type'] ?? []].flat()[0];
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType ?? '')?.[1];
  const format = query.format ?? formatOfMediaType(contentType) ?? formatOfName(answer.url.pathname);
  if (format === undefined && answer.status !== 204) throw unknownFormat(answer, contentType);
  if (format !== undefined && format !== 'json' && readsAnswer(query.paging)) throw noJson(answer, contentType);
  const encoding = query.encoding ?? (charset !== undefined && isKnownEncoding(charset) ? charset : undefined);
  return { ...query, format: format ?? 'json', encoding, factColumns: Object.keys(query.header_columns) };
}

function unknownFormat({ url }: HttpAnswer, contentType: string | undefined) {
  return restProblem('REST_FORMAT', 'job', `${shownUrl(url)} answers with something that is not known to be data`, {
    seen: contentType ?? 'no content type',
    allowed: 'json, jsonl, csv, xml',
    next: 'check the address and the login; set `format` if the content type is simply wrong',
  });
}

function noJson({ url }: HttpAnswer, contentType: string | undefined) {
  return restProblem(
    'REST_FORMAT',
    'job',
    `${shownUrl(url)} does not answer in json, so the way to the next page is unknown`,
    {
      seen: contentType ?? 'no content type',
      next: 'set `format: json` if the content type is simply wrong, or choose another kind of `paging`',
    },
  );
}

function repeated(url: URL, page: number) {
  return restProblem('REST_PAGES_REPEAT', 'job', `page ${page} is the same as the one before`, {
    seen: shownUrl(url),
    next: 'the server seems to ignore the paging parameter: look at `paging`; the part that was read is not sent',
  });
}

function tooManyPages(most: number) {
  return restProblem('REST_MAX_PAGES', 'job', `there are more than ${most} pages`, {
    allowed: String(most),
    next: 'raise `max_pages`, or ask for larger pages; the part that was read is not sent',
  });
}
