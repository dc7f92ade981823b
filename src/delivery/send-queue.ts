import PQueue from 'p-queue';
import type { Clock } from '../lib/clock.ts';
import type { NoFreeSlot, SlotTicket } from '../state/quota/send-slots.ts';

/** Manual requests go before scheduled ones. */
export type Priority = 'person' | 'schedule';

/** The rank of manual requests, which is higher than that of any scheduled payload. */
const personRank = 1_000_000;
/**
 * Polling interval while all slots are in use. It's shorter than a slot's rest period, so that polling doesn't reduce
 * throughput.
 */
const pollMs = 200;

/** An account's send queue in this process. Only the head of the queue waits for a slot. */
export class SendQueue {
  readonly #queue = new PQueue({ concurrency: 1 });
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Waits in the queue, higher rank first, then calls `take` until it returns a ticket. Rejects with the error of
   * `take`, or if aborted.
   */
  acquire<T extends { ticket: SlotTicket }>(
    take: () => Promise<T | NoFreeSlot>,
    options: { priority: Priority; rank?: number; signal?: AbortSignal },
  ): Promise<T> {
    const { priority, rank = 0, signal } = options;
    const added = {
      priority: priority === 'person' ? personRank + rank : rank,
      signal,
    };
    return this.#queue.add(() => this.#untilTaken(take, signal), added);
  }

  async #untilTaken<T extends { ticket: SlotTicket }>(
    take: () => Promise<T | NoFreeSlot>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    for (;;) {
      signal?.throwIfAborted();
      const taken = await take();
      if ('ticket' in taken) return taken;
      await this.#clock.sleep(Math.max(1, taken.freeInMs ?? pollMs), signal);
    }
  }
}
