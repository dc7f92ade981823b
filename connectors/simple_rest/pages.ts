import {
  type ConnectorLog,
  type Extraction,
  formatOfMediaType,
  formatOfName,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  isKnownEncoding,
  type RecordReader,
  type RecordSettings,
  recordReader,
  restProblem,
  type Spool,
  type SpooledPage,
  shownUrl,
  withRetries,
  withUrl,
} from '#sdk';
import { readsAnswer } from './faults.ts';
import type { RestQuery } from './options.ts';
import { type Pager, pagerOf } from './paging.ts';

interface PagesInit {
  readonly client: HttpClient;
  readonly request: HttpRequest;
  readonly query: RestQuery;
  readonly retries: number;
  readonly spool: Spool;
  readonly signal: AbortSignal;
  readonly log: ConnectorLog;
  /** Called after each page. */
  readonly alive: () => void;
}

interface Page {
  readonly answer: HttpAnswer;
  readonly spooled: SpooledPage;
}

/** Fetches every page of a query into the spool, and only then gives its rows: a part never passes for the whole. */
export async function readPages(init: PagesInit): Promise<Extraction> {
  const pager = pagerOf(init.query.paging);
  let request: HttpRequest | undefined = withUrl(init.request, pager.first(init.request.url));
  let reader: RecordReader | undefined;
  let before: SpooledPage | undefined;
  for (let number = 1; request !== undefined; number++) {
    if (number > init.query.max_pages) throw tooManyPages(init.query.max_pages);
    const page = await fetchPage(init, request);
    init.alive();
    reader ??= await recordReader(settingsOf(init.query, page.answer));
    const url: URL | undefined = await nextUrl({ init, pager, reader, page, before, number });
    before = page.spooled;
    if (url !== undefined) init.client.allow(init.request, url);
    request = url === undefined ? undefined : withUrl(request, url);
  }
  return reader!.extraction();
}

function fetchPage({ client, spool, retries, signal, log }: PagesInit, request: HttpRequest): Promise<Page> {
  const onPause = (problem: Error, milliseconds: number) =>
    log.warn('asking again after a pause', { because: problem.message, pauseMs: Math.round(milliseconds) });
  return withRetries({ retries, signal, onPause }, async () => {
    const answer = await client.fetch(request);
    return { answer, spooled: await spool.add(answer.body) };
  });
}

interface Step {
  readonly init: PagesInit;
  readonly pager: Pager;
  readonly reader: RecordReader;
  readonly page: Page;
  readonly before: SpooledPage | undefined;
  readonly number: number;
}

async function nextUrl({ init, pager, reader, page, before, number }: Step): Promise<URL | undefined> {
  const { answer, spooled } = page;
  const isNothing = answer.status === 204 || (spooled.bytes === 0 && number > 1);
  const ask = { count: init.query.paging.kind !== 'none', values: pager.wanted };
  const { records, values } = isNothing ? nothing : await reader.survey(spooled.input, ask);
  init.log.debug('page read', { page: number, records, bytes: spooled.bytes });
  if (before?.sha256 === spooled.sha256 && records !== 0) throw repeated(answer.url, number);
  return pager.next({ url: answer.url, records: records ?? 0, values, link: answer.headers.link });
}

const nothing = { records: 0, values: new Map<string, string>() };

function settingsOf(query: RestQuery, answer: HttpAnswer): RecordSettings {
  const contentType = [answer.headers['content-type'] ?? []].flat()[0];
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(contentType ?? '')?.[1];
  const format = query.format ?? formatOfMediaType(contentType) ?? formatOfName(answer.url.pathname);
  if (format === undefined && answer.status !== 204) throw unknownFormat(answer, contentType);
  if (format !== undefined && format !== 'json' && readsAnswer(query.paging)) throw noJson(answer, contentType);
  const encoding = query.encoding ?? (charset !== undefined && isKnownEncoding(charset) ? charset : undefined);
  return { ...query, format: format ?? 'json', encoding };
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
