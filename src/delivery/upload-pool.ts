import PQueue from 'p-queue';
import { type Problem, toProblem } from '../lib/problem.ts';
import { isUnwritable } from '../state/engine/state-problem.ts';
import type { Resend } from '../state/outbox/resends.ts';
import type { OutboxRow } from '../state/tables.ts';
import { factsOf } from './facts.ts';
import { resendPayload, resendRank } from './resend-payload.ts';
import type { SendGate } from './send-gate.ts';
import { type DeliveryState, sendPayload } from './send-payload.ts';
import type { SendOptions } from './send-upload.ts';

/** Retry delay for a payload after an internal error. It's shorter if the disk isn't writable. */
const faultWaitMs = 60_000;
const unwritableWaitMs = 10_000;

type UploadPoolOptions = Omit<SendOptions, 'gate'>;

/**
 * Sends payloads in parallel and by priority. The number of parallel uploads to a destination is its limit of requests
 * per second. Other payloads wait in the store. A stuck upload doesn't block the rest.
 */
export class UploadPool {
  readonly #options: UploadPoolOptions;
  readonly #queues = new Map<string, PQueue>();

  constructor(given: UploadPoolOptions) {
    this.#options = given;
  }

  /** Queues the payload. The promise never rejects. Undefined if the payload's destination has no gate. */
  send(row: OutboxRow): Promise<DeliveryState> | undefined {
    const gate = this.#options.gateway.find(row.destination);
    if (gate === undefined) return undefined;
    const priority = this.#options.gateway.rankOf(row);
    return this.#queueOf(gate).add(() => this.#sendSafely(row, gate), { priority });
  }

  /**
   * Resends a delivered payload after all owed ones. The promise never rejects. Undefined if the payload's destination
   * has no gate.
   */
  resend(repeat: Resend): Promise<void> | undefined {
    const { destination, url } = repeat.row;
    const gate = this.#options.gateway.find(destination) ?? this.#options.gateway.at(url);
    if (gate === undefined) return undefined;
    const sending = async (): Promise<void> => {
      if (this.#options.signal.aborted) return;
      // Either the error is already recorded, or it will occur again at the next check.
      await resendPayload(repeat, { ...this.#options, gate }).catch(() => false);
    };
    return this.#queueOf(gate).add(sending, { priority: resendRank });
  }

  async #sendSafely(row: OutboxRow, gate: SendGate): Promise<DeliveryState> {
    const { clock } = this.#options.gateway;
    if (this.#options.signal.aborted) return { state: 'waiting_retry', until: clock.now() };
    try {
      return await sendPayload(row, { ...this.#options, gate });
    } catch (error) {
      if (this.#options.signal.aborted) return { state: 'waiting_retry', until: clock.now() };
      const problem = toProblem(error, { code: 'DELIVERY_FAULT', family: 'bug' });
      const at = clock.now() + (isUnwritable(problem) ? unwritableWaitMs : faultWaitMs);
      await this.#report(row, problem, at);
      return { state: 'waiting_retry', until: at, problem };
    }
  }

  /** Emits the event every time, because the store may be unable to record the problem. */
  async #report(row: OutboxRow, { code, message }: Problem, until: number): Promise<void> {
    const { store, emit } = this.#options.gateway;
    emit('payload.waiting', { ...factsOf(row), code, message, until });
    await store.outbox.note(row.id, { code, message }).catch(() => undefined);
  }

  #queueOf({ destination }: SendGate): PQueue {
    const known = this.#queues.get(destination.name);
    if (known !== undefined) return known;
    const queue = new PQueue({ concurrency: Math.max(1, destination.requestsPerSecond) });
    this.#queues.set(destination.name, queue);
    return queue;
  }
}
