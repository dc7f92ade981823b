import type { Batch, ExtractContext, Extraction, SourceContext } from '#sdk';
import { addressOf, driverOf, placeOf } from './address.ts';
import { extractChanges } from './changes.ts';
import { extractChunks } from './chunks.ts';
import { acquireSlot } from './connection-slots.ts';
import type { RunQuery } from './dialect.ts';
import type { Driver } from './driver.ts';
import type { query as queryOptions, source as sourceOptions } from './options.ts';
import { extractRange } from './range-read.ts';
import { Route } from './route.ts';

type Context = ExtractContext<typeof sourceOptions, typeof queryOptions>;

/** Checks whether the server can be reached over the same route that runs use. */
export async function checkBy(driver: Driver, context: SourceContext<typeof sourceOptions>): Promise<string> {
  const way = new Route(context);
  try {
    return await driver.check(await way.connectOptions());
  } catch (thrown) {
    throw way.causeOf(thrown);
  } finally {
    await way.close();
  }
}

/** Waits for a free connection slot, then reads a query with a driver: in full, incrementally or in chunks. */
export async function extractBy(driver: Driver, context: Context): Promise<Extraction> {
  const { signal } = context;
  const free = await slotFor(context);
  const stop = new AbortController();
  const options = { ...context, signal: AbortSignal.any([signal, stop.signal]) };
  const way = new Route(options);
  try {
    const extraction = await read(driver, { ...options, query: context.query }, way);
    const unread = () => {
      free();
      way.closeSoon();
    };
    const leave = async () => {
      await way.close();
      free();
    };
    const left = () => stop.abort(new Error('the reader stopped before the first row'));
    return {
      ...extraction,
      batches: leaving(extraction.batches, { leave, unread, left, signal: options.signal, way }),
    };
  } catch (thrown) {
    const problem = way.causeOf(thrown);
    stop.abort(thrown);
    free();
    way.closeSoon();
    throw problem;
  }
}

/** Files have no limit. */
async function slotFor({ source, signal, alive = () => undefined }: Context): Promise<() => void> {
  if (driverOf(source) === 'sqlite') return () => undefined;
  const { servers, database, user } = addressOf(source);
  const server = JSON.stringify([servers.map(placeOf), database, user, source.ssh?.host, source.service]);
  return acquireSlot({ server, maxConnections: source.connections, signal, alive });
}

function read(driver: Driver, context: Context, way: Route): Promise<Extraction> {
  const { dialect } = driver;
  const { query, watermark, range, timezone, alive = () => undefined } = context;
  const { cursor, chunks } = query;
  const ask: RunQuery = async (asked) => driver.extract(await way.connectOptions(), asked);
  if (cursor !== undefined && range !== undefined)
    return extractRange({ query: { ...query, cursor }, dialect, watermark, range, timezone, ask });
  if (cursor !== undefined) return extractChanges({ query: { ...query, cursor }, dialect, watermark, ask });
  if (chunks === undefined) return ask(query);
  return extractChunks({ query: { ...query, chunks }, dialect, options: context, alive, ask });
}

interface Leaving {
  readonly leave: () => Promise<void>;
  /** Called instead of the read if the run is stopped before the first read. */
  readonly unread: () => void;
  /** Called if the reader stops before the first read. Aborts the run. */
  readonly left: () => void;
  readonly signal: AbortSignal;
  readonly way: Route;
}

function leaving(batches: AsyncIterable<Batch>, { leave, unread, left, signal, way }: Leaving): AsyncIterable<Batch> {
  signal.addEventListener('abort', unread, { once: true });
  const iterator = batches[Symbol.asyncIterator]();
  const reading = whenRead();
  let isRead = false;
  return { [Symbol.asyncIterator]: () => ({ next, return: whenLeft }) };

  function next(): Promise<IteratorResult<Batch, void>> {
    isRead = true;
    return reading.next();
  }

  /** If a generator is never started, its `finally` block doesn't run. */
  async function whenLeft(): Promise<IteratorResult<Batch, void>> {
    if (!isRead) {
      left();
      await iterator.return?.();
    }
    return reading.return();
  }

  async function* whenRead(): AsyncGenerator<Batch, void, void> {
    signal.removeEventListener('abort', unread);
    try {
      yield* { [Symbol.asyncIterator]: () => iterator };
    } catch (thrown) {
      throw way.causeOf(thrown);
    } finally {
      await leave();
    }
  }
}
