import { withoutSlash } from '../../lib/without-slash.ts';
import type { Batch } from '../batch.ts';
import type { Connector, ExtractContext, SourceContext } from '../connector.ts';
import { isMatch } from '../dataset.ts';
import type { Extraction } from '../extraction.ts';
import { openHttp } from '../http/open.ts';
import { PageSpool } from '../http/page-spool.ts';
import type { OAuthDescription } from '../oauth.ts';
import type { OptionSet } from '../option.ts';
import { ApiClient, answerOf } from './api-client.ts';
import { loginOf } from './credential-provider.ts';
import { dateFaults } from './date-faults.ts';
import { fileDecoding, type LoginData, type ServiceDescription, type StreamData } from './description.ts';
import { discoverColumns } from './discovery.ts';
import { fileTable } from './file-table.ts';
import { streamsOf } from './list-streams.ts';
import { Moment } from './moment.ts';
import { pacerFor } from './pacer.ts';
import { coversOf, cursorOf, type RangeScope, rangeScope, rangesBy } from './ranges.ts';
import { RecordStore } from './record-store.ts';
import { ReportOrders } from './report-orders.ts';
import { rowKeyOf } from './row-key.ts';
import { type ColumnMap, RowMaker } from './rows.ts';
import { queryFaults, queryOptions, sourceOptions } from './service-options.ts';
import { columnsText, resumesText } from './service-page.ts';
import { cursorUnmet } from './service-problems.ts';
import { StreamReader } from './stream-reader.ts';
import { StreamWatermark } from './stream-watermark.ts';
import { renderText, type Scope } from './template.ts';

type Context = SourceContext<OptionSet>;

/** Creates a connector from a service's description. All services share one engine. See {@link ServiceDescription}. */
export function defineService(service: ServiceDescription): Connector {
  const resumes = resumesText(service);
  const logins = [service.login].flat() as readonly LoginData[];
  return {
    id: service.id,
    title: service.title,
    summary: service.summary,
    source: sourceOptions(service),
    query: queryOptions(service),
    shorthand: 'stream',
    columns: columnsText(service),
    resumes,
    givesOnlyNewBy: ({ incremental }) => (incremental === true ? 'incremental' : undefined),
    rowKey: (query) => rowKeyOf(service, query),
    rangesBy: (query) => rangesBy(service, query),
    limits: service.limits,
    example: service.example,
    logsInByRequest: true,
    ...(logins.some(({ kind }) => kind === 'oauth') ? { oauth: (source) => describedLogin(service, source) } : {}),
    validate: ({ query }) =>
      query === undefined ? [] : [...queryFaults(service, query), ...dateFaults(query, scopeOf({}, query, 'UTC'))],
    check: (context) => checkService(service, context),
    discover: async ({ pattern }) => streamsOf(service).filter(({ name }) => isMatch(name, pattern)),
    extract: (context) => extractStream(service, context),
  };
}

/** The OAuth description of the login that applies. If `api_url` is set, its host replaces the vendor's in the URLs. */
function describedLogin(
  { login }: ServiceDescription,
  source: Readonly<Record<string, unknown>>,
): OAuthDescription | undefined {
  const data = loginOf(login, source);
  if (data.kind !== 'oauth') return undefined;
  const apiUrl = typeof source.api_url === 'string' ? withoutSlash(source.api_url) : undefined;
  if (apiUrl === undefined) return data.oauth;
  const move = (address: string) => address.replace(/^(?:https?:\/\/[^/]+|\{\w+\})/, apiUrl);
  const moved = Object.entries(data.oauth).map(([name, value]) =>
    name.endsWith('_url') && typeof value === 'string' ? [name, move(value)] : [name, value],
  );
  const { device } = data.oauth;
  const codes = device === undefined ? {} : { device: { ...device, url: move(device.url) } };
  return { ...(Object.fromEntries(moved) as OAuthDescription), ...codes };
}

function scopeOf(source: object, query: object, zone: string, logicalAt?: number): Scope {
  return { ...source, ...query, now: Moment.ofRun(zone, logicalAt) };
}

async function checkService(service: ServiceDescription, context: Context): Promise<string> {
  const scope = scopeOf(context.source, {}, zoneOf(context));
  const session = await open(service, context, { scope, scratch: undefined, alive: () => undefined });
  const { request, decode, message } = service.check;
  try {
    const answer = await answerOf(session.api, { request, scope, decode });
    return (
      renderText(message, { ...scope, answer: answer.body }) ?? `connected to ${service.title}; credentials accepted`
    );
  } finally {
    await session.close();
  }
}

async function extractStream(
  service: ServiceDescription,
  context: ExtractContext<OptionSet, OptionSet>,
): Promise<Extraction> {
  const { query, scratch, watermark, alive = () => undefined } = context;
  const zone = zoneOf(context);
  const plain = scopeOf(context.source, query, zone, context.logicalAt ?? context.attemptFacts?.since);
  const stream = withCursor(service.streams[String(query.stream)]!, plain);
  const asked = context.range === undefined ? undefined : rangeScope(context.range, { stream, scope: plain });
  const { scope } = asked ?? { scope: plain };
  const session = await open(service, context, { scope, scratch, alive });
  const position = watermarkOf({ stream, asked, scope, context });
  const maxPages = Number(query.max_pages);
  const orders = new ReportOrders(context.attemptFacts?.texts);
  const options = { ...context, service, api: session.api, watermark: position, maxPages, alive, orders };
  const reading = new StreamReader(options);
  try {
    const table = await tableOf({ service, stream, session, reading, scope, context });
    const pass: Pass = { rows: 0, isWhole: false };
    const batches = closing(table.batches, { pass, close: session.close });
    if (context.range !== undefined) {
      const { columns, absentColumns } = table;
      const covers = coversOf(context.range, { stream, columns, zone });
      return { columns, absentColumns, batches, ...cursorPart(stream), covers };
    }
    if (position === undefined || fileDecoding(stream) !== undefined) return { ...table, batches };
    const unchanged = () => pass.isWhole && pass.rows === 0 && watermark !== undefined;
    // Records can arrive in any order, so after a partial read, unread records may have lower cursors than the highest
    // one seen.
    const mark = () => (pass.isWhole ? position.watermark() : undefined);
    return { ...table, batches, ...cursorPart(stream), watermark: mark, unchanged };
  } catch (error) {
    await session.close();
    throw error;
  }
}

/** The watermark that recognizes known records; undefined if all records are read. */
function watermarkOf(given: {
  stream: StreamData;
  asked: RangeScope | undefined;
  scope: Scope;
  context: ExtractContext<OptionSet, OptionSet>;
}): StreamWatermark | undefined {
  const { stream, asked, scope, context } = given;
  if (asked !== undefined) {
    return asked.until && new StreamWatermark(stream, { start: scope.now, watermark: undefined, until: asked.until });
  }
  const { query, watermark } = context;
  return query.incremental === true ? new StreamWatermark(stream, { start: scope.now, watermark }) : undefined;
}

function cursorPart(stream: StreamData): Pick<Extraction, 'cursor'> {
  const cursor = cursorOf(stream);
  return cursor === undefined ? {} : { cursor };
}

/** The stream with the cursor column, which may depend on the user's options. */
function withCursor(stream: StreamData, scope: Scope): StreamData {
  const { incremental } = stream;
  if (incremental === undefined || !('column' in incremental)) return stream;
  return { ...stream, incremental: { ...incremental, column: renderText(incremental.column, scope) ?? '' } };
}

/** Progress of one read. */
interface Pass {
  rows: number;
  /** True once all rows have been read. */
  isWhole: boolean;
}

/** Yields the batches. Always calls `close` at the end, even if no batch was ever requested. */
function closing(
  batches: AsyncIterable<Batch>,
  { pass, close }: { pass: Pass; close: () => Promise<void> },
): AsyncIterable<Batch> {
  const inner = batches[Symbol.asyncIterator]();
  const done = { done: true, value: undefined } as const;
  const end = async () => {
    await inner.return?.();
    await close();
    return done;
  };
  const next = async () => {
    try {
      const step = await inner.next();
      if (step.done === true) {
        pass.isWhole = true;
        return await end();
      }
      pass.rows += step.value.length;
      return step;
    } catch (error) {
      await close();
      throw error;
    }
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: end }) };
}

interface TableOptions {
  readonly service: ServiceDescription;
  readonly stream: StreamData;
  readonly session: Session;
  readonly reading: StreamReader;
  readonly scope: Scope;
  readonly context: ExtractContext<OptionSet, OptionSet>;
}

async function tableOf(given: TableOptions): Promise<Extraction> {
  const { service, stream, session, reading, scope, context } = given;
  const { columns } = stream;
  const { scratch, query, signal, keptColumns } = context;
  if (fileDecoding(stream) !== undefined)
    return fileTable({ ...context, title: service.title, reading, stream, scope });
  if (columns === 'discovered') {
    const store = await RecordStore.create(scratch, { signal, drop: stream.drop ?? [] });
    try {
      for await (const { records } of reading.read(stream, scope)) await store.add(records);
    } catch (error) {
      await store.close();
      throw error;
    }
    return store.table({ title: service.title, flatten: query.flatten, types: query.types, keptColumns });
  }
  if (typeof columns !== 'function' && 'request' in columns && typeof columns.request === 'object') {
    const found = await discoverColumns(session.api, columns as Parameters<typeof discoverColumns>[1], {
      scope,
      stream,
      title: service.title,
    });
    return lazily(given, found.columns, { ...scope, fields: found.fields });
  }
  return lazily(given, (typeof columns === 'function' ? columns(scope) : columns) as ColumnMap, scope);
}

/** If the columns are known in advance, rows are streamed page by page, without spooling all records. */
function lazily(
  { service, stream, reading, context }: TableOptions,
  map: ColumnMap,
  scope: Scope,
): Pick<Extraction, 'columns' | 'batches'> {
  const maker = new RowMaker(map, { title: service.title, zone: scope.now.at.timeZoneId });
  async function* batches(): AsyncGenerator<Batch> {
    for await (const chunk of reading.read(stream, scope)) {
      if (chunk.records.length > 0) yield maker.batch(chunk.records, chunk.scope);
    }
    const cursor = cursorOf(stream);
    if (cursor !== undefined && maker.isUnmet(cursor)) context.warn(cursorUnmet(service.title, cursor));
  }
  return { columns: maker.columns, batches: batches() };
}

interface Session {
  readonly api: ApiClient;
  close(): Promise<void>;
}

async function open(
  service: ServiceDescription,
  context: Context & Pick<ExtractContext<OptionSet, OptionSet>, 'preview'>,
  { scope, scratch, alive }: { scope: Scope; scratch: string | undefined; alive: () => void },
): Promise<Session> {
  const { source, signal, log, login: tokens, logIn, preview } = context;
  const timeoutMs = Number(source.timeout_seconds) * 1000;
  const client = await openHttp({ timeoutMs, answerMs: 30 * 60_000, signal, otherOrigins: 'any' });
  const spool = new PageSpool(scratch ?? '', { maxBytes: Number.MAX_SAFE_INTEGER, signal });
  const api = new ApiClient({
    service,
    login: loginOf(service.login, source),
    tokens,
    logIn,
    scope,
    client,
    pacer: pacerFor(service.id, source, service.budget),
    spool,
    retries: preview === undefined ? Number(source.retries) : 0,
    maxBytes: Number(source.max_answer_bytes),
    signal,
    log,
    alive,
    preview,
  });
  const close = async () => {
    await api.end();
    await spool.close();
    await client.close();
  };
  return { api, close };
}

function zoneOf(context: Context & { readonly timezone?: string | undefined }): string {
  const { timezone } = context.source;
  return typeof timezone === 'string' ? timezone : (context.timezone ?? 'UTC');
}
