import PQueue from 'p-queue';
import { type Problem, toProblem } from '../lib/problem.ts';
import type { Repeat } from '../state/repeats.ts';
import { isUnwritable } from '../state/state-problem.ts';
import type { OutboxRow } from '../state/tables.ts';
import { factsOf } from './facts.ts';
import type { Gate } from './gate.ts';
import type { Gateway } from './gateway.ts';
import type { Priority } from './pacing.ts';
import { repeatPayload, repeatRank } from './repeat-payload.ts';
import { type Fate, sendPayload } from './send-payload.ts';

/** A payload that met a fault of ours is looked at again after this, one that met a disk that takes no writes sooner. */
const faultWaitMs = 60_000;
const unwritableWaitMs = 10_000;

interface LanesGiven {
  readonly gateway: Gateway;
  readonly priority: Priority;
  readonly signal: AbortSignal;
  readonly cut: AbortSignal;
}

/**
 * Sends payloads side by side, as many per destination as requests fit into a second, the important ones first. The
 * rest waits as rows in the store, and one that is stuck holds up nobody else.
 */
export class Lanes {
  readonly #given: LanesGiven;
  readonly #queues = new Map<string, PQueue>();

  constructor(given: LanesGiven) {
    this.#given = given;
  }

  /** Sends the payload when its turn comes; never rejects. Undefined when no gate leads to its destination. */
  send(row: OutboxRow): Promise<Fate> | undefined {
    const gate = this.#given.gateway.find(row.destination);
    if (gate === undefined) return undefined;
    const priority = this.#given.gateway.rankOf(row);
    return this.#queueOf(gate).add(() => this.#sendSafely(row, gate), { priority });
  }

  /** Sends a delivered payload once more, after all that is owed; never rejects. Undefined when no gate leads there. */
  repeat(repeat: Repeat): Promise<void> | undefined {
    const { destination, url } = repeat.row;
    const gate = this.#given.gateway.find(destination) ?? this.#given.gateway.at(url);
    if (gate === undefined) return undefined;
    const sending = async (): Promise<void> => {
      if (this.#given.signal.aborted) return;
      // What went wrong is written down, or comes again with the next look.
      await repeatPayload(repeat, { ...this.#given, gate }).catch(() => false);
    };
    return this.#queueOf(gate).add(sending, { priority: repeatRank });
  }

  async #sendSafely(row: OutboxRow, gate: Gate): Promise<Fate> {
    const { clock } = this.#given.gateway;
    if (this.#given.signal.aborted) return { state: 'waiting_retry', at: clock.now() };
    try {
      return await sendPayload(row, { ...this.#given, gate });
    } catch (error) {
      if (this.#given.signal.aborted) return { state: 'waiting_retry', at: clock.now() };
      const problem = toProblem(error, { code: 'DELIVERY_FAULT', family: 'bug' });
      const at = clock.now() + (isUnwritable(problem) ? unwritableWaitMs : faultWaitMs);
      await this.#tell(row, problem, at);
      return { state: 'waiting_retry', at, problem };
    }
  }

  /** Told each time: the store may not be able to keep it. */
  async #tell(row: OutboxRow, { code, message }: Problem, until: number): Promise<void> {
    const { store, emit } = this.#given.gateway;
    emit('payload.waiting', { ...factsOf(row), code, message, until });
    await store.outbox.note(row.id, { code, message }).catch(() => undefined);
  }

  #queueOf({ destination }: Gate): PQueue {
    const known = this.#queues.get(destination.name);
    if (known !== undefined) return known;
    const queue = new PQueue({ concurrency: Math.max(1, destination.requestsPerSecond) });
    this.#queues.set(destination.name, queue);
    return queue;
  }
}
