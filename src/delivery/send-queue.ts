import PQueue from 'p-queue';
import type { Clock } from '../lib/clock.ts';
import type { NoFreeSlot, SlotTicket } from '../state/quota/send-slots.ts';

/** People at a keyboard come before the schedule. */
export type Priority = 'person' | 'schedule';

/** Above every rank that a payload of the schedule can come to. */
const personRank = 1_000_000;
/** How long to wait when every slot is under way: less than the rest after it, so that nothing is lost by it. */
const pollMs = 200;

/** The line before the sends of one account in this process. One stands at its head and waits for a slot. */
export class SendQueue {
  readonly #queue = new PQueue({ concurrency: 1 });
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Waits in line, the higher rank before the lower one, then asks `take` until it hands out a ticket. Rejects with what
   * `take` throws, or when aborted.
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
