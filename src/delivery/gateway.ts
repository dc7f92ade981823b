import type { Destination, JobPriority } from '../config/config.ts';
import type { Clock } from '../lib/clock.ts';
import type { Emit } from '../lib/events.ts';
import type { Store } from '../state/store.ts';
import type { OutboxRow } from '../state/tables.ts';
import type { DeliveryEvents } from './events.ts';
import { rankOfPayload } from './importance.ts';
import { type Network, SendGate } from './send-gate.ts';
import { SendQueue } from './send-queue.ts';
import { VerifiedCache } from './verified-cache.ts';

export interface GatewayOptions {
  readonly store: Store;
  readonly destinations: Iterable<Destination>;
  readonly clock: Clock;
  readonly emit: Emit<DeliveryEvents>;
  /**
   * Returns a job's priority by the job's name, or undefined for an unknown job. If there's no priority, `normal`
   * applies.
   */
  readonly priorityOf?: (job: string) => JobPriority | undefined;
  readonly network?: Network;
}

/**
 * All gates of a config. Open one gateway per process, so that manual and scheduled requests share a queue, and close
 * it at the end.
 */
export class Gateway {
  readonly store: Store;
  readonly clock: Clock;
  readonly emit: Emit<DeliveryEvents>;
  readonly verified: VerifiedCache;
  readonly #gates = new Map<string, SendGate>();

  readonly #priorityOf: (job: string) => JobPriority | undefined;

  constructor({ store, destinations, clock, emit, network, priorityOf = () => undefined }: GatewayOptions) {
    this.#priorityOf = priorityOf;
    const given = network === undefined ? {} : { network };
    this.store = store;
    this.clock = clock;
    this.verified = new VerifiedCache(clock);
    this.emit = emit;
    const lines = new Map<string, SendQueue>();
    for (const destination of destinations) {
      const line = lines.get(destination.account) ?? new SendQueue(clock);
      lines.set(destination.account, line);
      this.#gates.set(destination.name, new SendGate({ destination, store, clock, emit, line, ...given }));
    }
  }

  /** Finds a destination's gate by the destination's name. Undefined if the config doesn't contain the destination. */
  find(destination: string): SendGate | undefined {
    return this.#gates.get(destination);
  }

  /** Finds the gate for this URL, regardless of the destination's name. */
  at(url: string): SendGate | undefined {
    return [...this.#gates.values()].find(({ destination }) => destination.url === url);
  }

  /** The gates of this config. */
  gates(): Iterable<SendGate> {
    return this.#gates.values();
  }

  /** The gate of a destination in this config. */
  of(destination: Destination): SendGate {
    const gate = this.#gates.get(destination.name);
    if (gate === undefined) throw new Error(`destination ${destination.name} does not belong to this gateway`);
    return gate;
  }

  /** A waiting payload's current rank; the highest rank goes first. */
  rankOf(row: Pick<OutboxRow, 'job' | 'waiting_since'>): number {
    return rankOfPayload(row, { priority: this.#priorityOf(row.job), now: this.clock.now() });
  }

  /** Allows refused credentials to be tried again. */
  resetAuth(): void {
    for (const gate of this.#gates.values()) gate.login.reset();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#gates.values()].map((gate) => gate.close()));
  }
}
