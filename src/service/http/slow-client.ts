import type { IncomingMessage, ServerResponse } from 'node:http';
import { badRequest } from './api-error.ts';

export interface BodyReadOptions {
  /** Maximum time to wait for a chunk. */
  readonly idleMs: number;
  /** The request's log entry. Its `bytes_in` is updated while the body is read. */
  readonly entry?: { bytes_in: number };
}

/**
 * Minimum rate at which a body must arrive, averaged over the waiting time. A slower client may only want to occupy the
 * connection (slowloris attack).
 */
const minBytesPerSecond = 1024;

/**
 * Reads a request body chunk by chunk, with a stall timeout. Throws an ApiError if no chunk arrives for `idleMs`, or if
 * the service has waited for more than `idleMs` in total and the average rate is below one kilobyte per second. The
 * time that the service spends on processing a chunk doesn't count as waiting time.
 */
export async function* withStallTimeout(reader: AsyncIterator<Buffer>, idleMs: number): AsyncGenerator<Buffer, void> {
  let refuse: (error: Error) => void = () => undefined;
  const timer = setTimeout(() => refuse(badRequest(silent(idleMs))), idleMs);
  let [bytes, waited] = [0, 0];
  try {
    for (;;) {
      const asked = performance.now();
      // Create a new promise for each chunk. A promise that all chunks share would accumulate one reaction per race.
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

const silent = (idleMs: number): string => `Request timeout: no part of the body arrived for ${idleMs / 1000} seconds`;
const tooSlow = `The body arrives too slowly: less than ${minBytesPerSecond} bytes per second`;

/**
 * Reads the rest of a request body if the connection will be closed after the response. Await this function before you
 * send the response. If a connection is closed while it has unread bytes, the client's side is reset, and a client that
 * reads only after it has sent everything never sees the response. Gives up after twice the stall timeout. Does nothing
 * if the client waits for `100 Continue`.
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
 * Limits how long a client may continue to send its body after the response. Call this after the response was sent.
 * Some clients read the response only after they have sent everything, so the connection is closed only if the rest
 * takes longer than `withinMs`.
 */
export function dropUnread(request: IncomingMessage, withinMs: number): void {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.socket.destroy(), withinMs);
  timer.unref();
  for (const event of ['end', 'close'] as const) request.once(event, () => clearTimeout(timer));
}
