import type { Batch, ExtractContext, Extraction } from '#sdk';
import { addressOf, driverOf } from './address.ts';
import { extractChanges } from './changes.ts';
import { extractChunks } from './chunks.ts';
import type { Ask } from './dialect.ts';
import type { Door, Driver } from './driver.ts';
import type { query as queryOptions, source as sourceOptions } from './options.ts';
import { takePlace } from './places.ts';

type Context = ExtractContext<typeof sourceOptions, typeof queryOptions>;

/** Reads a query by a driver, in its turn: all of it, what has changed, or chunk by chunk. */
export async function extractBy(driver: Driver, context: Context): Promise<Extraction> {
  const { source, signal, alive = () => undefined } = context;
  if (driverOf(source) === 'sqlite') return read(driver, context, context);
  const stop = new AbortController();
  const door = { ...context, signal: AbortSignal.any([signal, stop.signal]) };
  const { host, port, database, user } = addressOf(source);
  const server = JSON.stringify([host, port, database, user]);
  const leave = await takePlace({ server, most: source.connections, signal, alive });
  try {
    const extraction = await read(driver, door, context);
    return { ...extraction, batches: leaving(extraction.batches, { leave, signal: door.signal }) };
  } catch (thrown) {
    stop.abort(thrown);
    leave();
    throw thrown;
  }
}

function read(driver: Driver, door: Door, { query, watermark, alive = () => undefined }: Context): Promise<Extraction> {
  const { dialect } = driver;
  const { cursor, chunks } = query;
  const ask: Ask = (asked) => driver.extract(door, asked);
  if (cursor !== undefined) return extractChanges({ query: { ...query, cursor }, dialect, watermark, ask });
  if (chunks === undefined) return ask(query);
  return extractChunks({ query: { ...query, chunks }, dialect, door, alive, ask });
}

/** `leave` runs when the reader goes, or when the run is stopped before anybody reads. */
function leaving(
  batches: AsyncIterable<Batch>,
  { leave, signal }: { readonly leave: () => void; readonly signal: AbortSignal },
): AsyncIterable<Batch> {
  signal.addEventListener('abort', leave, { once: true });
  return whenRead();

  async function* whenRead(): AsyncGenerator<Batch, void, void> {
    signal.removeEventListener('abort', leave);
    try {
      yield* batches;
    } finally {
      leave();
    }
  }
}
