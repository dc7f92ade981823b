import type { Batch, Column, Extraction, Value } from '#sdk';
import { type ApiKind, ApiSession } from './api-session.ts';
import { brokenProtocol, otherColumns, unreadable } from './broken-protocol.ts';
import type { ConnectOptions, LoginOptions } from './driver.ts';
import { noSnapshot } from './transaction.ts';

const rowsPerBatch = 1024;

/** Opens a session and reads a query over it. The session is closed if that fails; otherwise, the batches close it. */
export async function extractOver(
  options: ConnectOptions,
  kindOf: (login: LoginOptions) => ApiKind | Promise<ApiKind>,
  read: (api: ApiSession) => Promise<Extraction>,
): Promise<Extraction> {
  const [server] = options.address.servers;
  // Two queries don't see the same rows, because they have no snapshot in common.
  if (options.needsSnapshot === true) throw noSnapshot(server.place);
  const login = { ...options, server };
  const api = await ApiSession.open(login, await kindOf(login));
  try {
    return await read(api);
  } catch (thrown) {
    api.close();
    options.signal.throwIfAborted();
    throw unreadable(thrown);
  }
}

/** A result whose pages are read on demand. */
export interface ApiResult<C> {
  readonly columns: readonly Column[];
  /** The rows of each page: their cells. */
  readonly pages: AsyncIterable<readonly (readonly C[])[]>;
  /** How many rows the API announced. */
  readonly total: number;
  readonly cellValue: (cell: C, c: number) => Value;
}

/** The rows in batches. Fails if there are more or fewer than announced. Closes the session at the end. */
export async function* apiBatches<C>(
  api: ApiSession,
  { columns, pages, total, cellValue }: ApiResult<C>,
  signal: AbortSignal,
): AsyncGenerator<Batch, void, void> {
  let read = 0;
  try {
    for await (const page of pages) {
      for (let at = 0; at < page.length; at += rowsPerBatch) {
        signal.throwIfAborted();
        const rows = page.slice(at, at + rowsPerBatch);
        if (rows.some((row) => row.length !== columns.length)) throw otherColumns();
        const cells = columns.map((_, c) => {
          return { kind: 'values' as const, values: rows.map((row) => cellValue(row[c]!, c)) };
        });
        yield { columns, cells, length: rows.length };
      }
      read += page.length;
    }
    if (read !== total) throw brokenProtocol(`${read} of ${total} rows`);
  } catch (thrown) {
    signal.throwIfAborted();
    throw unreadable(thrown);
  } finally {
    api.close();
  }
}
