import type { IncomingMessage, ServerResponse } from 'node:http';
import { badRequest } from './api-error.ts';

export interface BodyReadOptions {
  /** Maximum pause between two chunks. */
  readonly idleMs: number;
  /** The log entry whose `bytes_in` is updated. */
  readonly entry?: { bytes_in: number };
}

/** Minimum rate, averaged over the waiting time. A slower client only ties up the connection (slowloris). */
const minBytesPerSecond = 1024;

/**
 * Reads the chunks of a body with a stall timeout. Throws an ApiError if no chunk arrives for `idleMs`, or if the total
 * waiting time exceeds `idleMs` at less than a kilobyte per second. Time that the service spends on a chunk doesn't
 * count.
 */
export async function* withStallTimeout(reader: AsyncIterator<Buffer>, idleMs: number): AsyncGenerator<Buffer, void> {
  let refuse: (error: Error) => void = () => undefined;
  const timer = setTimeout(() => refuse(badRequest(silent(idleMs))), idleMs);
  let [bytes, waited] = [0, 0];
  try {
    for (;;) {
      const asked = performance.now();
      // A new promise per chunk: a shared one would accumulate a reaction for each race.
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
 * Await this before sending the response. If the connection closes with the response, reads the rest of the body first:
 * closing a connection with unread bytes resets it, so a client that reads only after sending everything would never
 * see the response. Limited to twice the stall timeout; skipped if the client waits for `100 Continue`.
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
 * Call this after the response. Reads and discards what the client still sends, because some clients read only after
 * they have sent everything. Closes the connection if that takes longer than `withinMs`.
 */
export function dropUnread(request: IncomingMessage, withinMs: number): void {
  if (request.complete || request.destroyed) return;
  const timer = setTimeout(() => request.socket.destroy(), withinMs);
  timer.unref();
  for (const event of ['end', 'close'] as const) request.once(event, () => clearTimeout(timer));
}
