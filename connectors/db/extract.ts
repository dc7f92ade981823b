import type { Batch, ExtractContext, Extraction, SourceContext } from '#sdk';
import { addressOf, isFileSource } from './address.ts';
import { primaryKeyOf } from './catalogue.ts';
import { extractChanges } from './changes.ts';
import { columnsOf, extractChunks } from './chunks.ts';
import { extractCompared } from './compared-changes.ts';
import { acquireSlot } from './connection-slots.ts';
import type { Dialect, RunQuery } from './dialect.ts';
import type { Driver } from './driver.ts';
import type { query as queryOptions, SqlQuery, source as sourceOptions } from './options.ts';
import { extractRange } from './range-read.ts';
import { Route } from './route.ts';
import { changesTexts } from './source-texts.ts';
import { sqlQuery } from './table.ts';

type Context = ExtractContext<typeof sourceOptions, typeof queryOptions>;

/** Checks whether the server can be reached over the same route that runs use. */
export async function checkBy(driver: Driver, context: SourceContext<typeof sourceOptions>): Promise<string> {
  const route = new Route(context);
  try {
    return await driver.check(await route.connectOptions());
  } catch (thrown) {
    throw route.causeOf(thrown);
  } finally {
    await route.close();
  }
}

/** Reads a query with a driver: in full, incrementally or in chunks. */
export function extractBy(driver: Driver, context: Context): Promise<Extraction> {
  const needsSnapshot = context.comparedKey !== undefined;
  const ask = async (route: Route, asked: SqlQuery) =>
    driver.extract({ ...(await route.connectOptions()), needsSnapshot }, asked);
  const askAgain: RunQuery = (asked) => openBy(context, (_, route) => ask(route, asked));
  return openBy(context, (given, route) => read(driver, given, { ask: (asked) => ask(route, asked), askAgain }));
}

/** Waits for a free connection slot, then opens a read, which releases the slot at its end. */
async function openBy(
  context: Context,
  work: (context: Context, route: Route) => Promise<Extraction>,
): Promise<Extraction> {
  const { signal } = context;
  const release = await slotFor(context);
  const stop = new AbortController();
  const options = { ...context, signal: AbortSignal.any([signal, stop.signal]) };
  const route = new Route(options);
  try {
    const extraction = await work(options, route);
    const closeUnread = () => {
      release();
      route.closeSoon();
    };
    const close = async () => {
      await route.close();
      release();
    };
    const abandon = () => stop.abort(new Error('the reader stopped before the first row'));
    return {
      ...extraction,
      batches: closing(extraction.batches, { close, closeUnread, abandon, signal: options.signal, route }),
    };
  } catch (thrown) {
    const problem = route.causeOf(thrown);
    stop.abort(thrown);
    release();
    route.closeSoon();
    throw problem;
  }
}

/** Files have no limit. */
async function slotFor({ source, signal, alive = () => undefined }: Context): Promise<() => void> {
  if (isFileSource(source)) return () => undefined;
  const { servers, database, user, project } = addressOf(source);
  const places = servers.map(({ place }) => place);
  const server = JSON.stringify([places, database, user, project, source.ssh?.host, source.service]);
  return acquireSlot({ server, maxConnections: source.connections, signal, alive });
}

interface Connections {
  readonly ask: RunQuery;
  /** Runs a query over another connection, after the first one was closed. */
  readonly askAgain: RunQuery;
}

async function read(driver: Driver, context: Context, { ask, askAgain }: Connections): Promise<Extraction> {
  const dialect: Dialect = changesTexts(context.source) ? { ...driver.dialect, comparesTexts: false } : driver.dialect;
  const { watermark, range, timezone, comparedKey: key } = context;
  const query = sqlQuery(context.query, dialect);
  const { cursor, chunks } = query;
  if (cursor !== undefined && range !== undefined)
    return extractRange({ query: { ...query, cursor }, dialect, watermark, range, timezone, ask });
  if (cursor !== undefined && key !== undefined)
    return extractCompared({ query: { ...query, cursor }, dialect, watermark, ask, key, askAgain });
  if (cursor !== undefined) return extractChanges({ query: { ...query, cursor }, dialect, watermark, ask });
  if (chunks === undefined) return ask(query);
  const columns =
    columnsOf(chunks) ?? (await primaryKeyOf(query, { driver, ask, database: addressOf(context.source).database }));
  return extractChunks({ query, chunks: { ...chunks, columns }, dialect, options: context, ask });
}

interface ClosingOptions {
  readonly close: () => Promise<void>;
  /** Called instead of the read if the run is stopped before the first read. */
  readonly closeUnread: () => void;
  /** Called if the reader stops before the first read. Aborts the run. */
  readonly abandon: () => void;
  readonly signal: AbortSignal;
  readonly route: Route;
}

function closing(
  batches: AsyncIterable<Batch>,
  { close, closeUnread, abandon, signal, route }: ClosingOptions,
): AsyncIterable<Batch> {
  signal.addEventListener('abort', closeUnread, { once: true });
  const iterator = batches[Symbol.asyncIterator]();
  const rows = readRows();
  let isRead = false;
  return { [Symbol.asyncIterator]: () => ({ next, return: stop }) };

  function next(): Promise<IteratorResult<Batch, void>> {
    isRead = true;
    return rows.next();
  }

  /** If a generator is never started, its `finally` block doesn't run. */
  async function stop(): Promise<IteratorResult<Batch, void>> {
    if (!isRead) {
      abandon();
      await iterator.return?.();
    }
    return rows.return();
  }

  async function* readRows(): AsyncGenerator<Batch, void, void> {
    signal.removeEventListener('abort', closeUnread);
    try {
      yield* { [Symbol.asyncIterator]: () => iterator };
    } catch (thrown) {
      throw route.causeOf(thrown);
    } finally {
      await close();
    }
  }
}
