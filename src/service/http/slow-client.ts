import type { IncomingMessage, ServerResponse } from 'node:http';
import { badRequest } from './api-error.ts';

/** How the body of a request is read. */
export interface BodyReadOptions {
  /** The client's longest silence. */
  readonly idleMs: number;
  /** Where the bytes that were read are counted. */
  readonly entry?: { bytes_in: number };
}

/** A client below this rate, averaged over the waiting time, only holds a connection (a slowloris). */
const minBytesPerSecond = 1024;

/**
 * Reads the pieces of a body with a stall timeout. Throws an ApiError if no piece arrives for `idleMs`, or if the total
 * waiting time is longer than that at less than a kilobyte per second. Time that the service spends on a piece does not
 * count.
 */
export async function* withStallTimeout(reader: AsyncIterator<Buffer>, idleMs: number): AsyncGenerator<Buffer, void> {
  let refuse: (error: Error) => void = () => undefined;
  const timer = setTimeout(() => refuse(badRequest(silent(idleMs))), idleMs);
  let [bytes, waited] = [0, 0];
  try {
    for (;;) {
      const asked = performance.now();
      // A promise for each piece: one for all of them would remember each that was waited for.
      const next = await new Promise<IteratorResult<Buffer>>((resolve, reject) => {
        refuse = reject;
        reader.next().then(resolve, reject);
      });
      if (next.done === true) return;
      waited += performance.now() - asked;
      bytes += next.value.length;
      if (waited > idleMs && bytes < (waited / 1000) * minBytesPerSecond) throw badRequest(tooSlow);
      timer.refresh();
      yield next.value;
      timer.refresh();
    }
  } finally {
    clearTimeout(timer);
  }
}

const silent = (idleMs: number): string => `Request timeout: the body stopped arriving for ${idleMs / 1000} seconds`;
const tooSlow = `The body arrives too slowly: less than ${minBytesPerSecond} bytes per second`;

/**
 * To be waited for before a request is answered. Where the connection ends with the answer, what is left of the body is
 * read first: a connection that ends with bytes unread is reset, and a client that reads only when it has sent all would
 * never see why. Not for longer than twice its silence, and not where the client waits to be told that it may send.
 */
export async function readRest(
  request: IncomingMessage,
  response: ServerResponse,
  reading: BodyReadOptions,
): Promise<void> {
  const isAsking = request.headers.expect !== undefined && reading.entry?.bytes_in === 0;
  if (response.shouldKeepAlive || isAsking || request.complete || request.destroyed) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, reading.idleMs * 2);
    for (const event of ['end', 'close'] as const) request.once(event, () => resolve());
    request.once('close', () => clearTimeout(timer));
    request.resume();
  });
}

/**
 * Call it after the response. Reads and discards what the client still sends, since some clients read only when
 * they have sent everything. The connection is closed if that takes longer than `withinMs`.
 */
export function dropUnread(request: IncomingMessage, withinMs: number): void {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.socket.destroy(), withinMs);
  timer.unref();
  for (const event of ['end', 'close'] as const) request.once(event, () => clearTimeout(timer));
}
