import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { Problem } from '../../lib/problem.ts';
import { redact } from '../../lib/redact.ts';
import type { Database } from '../store/database.ts';
import { datasourceById } from '../store/datasources.ts';
import { instanceById, noteFailure, propertiesOf } from '../store/instances.ts';
import type { Blobs } from '../uploads/blobs.ts';
import { publish } from '../uploads/publish.ts';
import { receive } from '../uploads/receive.ts';
import type { Reach } from './address-policy.ts';
import type { Pull } from './pull.ts';
import { type Busy, enqueue, type Queued, resume, settle, takeNext } from './queue.ts';
import { dueInstances, planNext, planWithinInterval } from './schedule.ts';
import { registerSecretsOf } from './secrets.ts';

const maxPullMs = 10 * 60_000;
/**
 * Maximum number of concurrent refreshes. It's limited because each refresh may run in a separate process with its own
 * memory.
 */
const maxConcurrent = 4;
/** Maximum number of concurrent refreshes per company, so that a company with many clients doesn't block the others. */
const maxPerCompany = 2;

interface RefreshWorkerOptions {
  readonly db: Database;
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly log: Log;
  readonly uploadLimitBytes: number;
  readonly pull: Pull | undefined;
  readonly reach: Reach;
}

/**
 * Takes instances from the durable queue in FIFO order, and stores the data that their connectors yield. Each account
 * refreshes one instance at a time. Accounts refresh in parallel, but at most two accounts per company, so a source
 * that hangs blocks only its own account.
 */
export class RefreshWorker {
  readonly #options: RefreshWorkerOptions;
  #stop = new AbortController();
  /** The running refreshes, each with its queue entry. */
  readonly #running = new Map<Promise<void>, Queued>();

  constructor(options: RefreshWorkerOptions) {
    this.#options = options;
  }

  /** Starts to process the queue, whose entries survive restarts. Can be called again after {@link stop}. */
  start(): void {
    if (this.#stop.signal.aborted) this.#stop = new AbortController();
    resume(this.#options.db);
    this.#wake();
  }

  /** Queues instances. If the caller is in a transaction, the entries are part of it. */
  request(instanceIds: readonly string[]): void {
    const { db, clock } = this.#options;
    db.durably(() => {
      for (const id of instanceIds) enqueue(db, id, clock.now());
    });
    // `setImmediate` runs the callback after the caller's transaction has committed.
    setImmediate(() => this.#wake());
  }

  /** Queues every instance that is due for a refresh, and stores when it's due next. */
  requestDue(): void {
    const { db, clock } = this.#options;
    const now = clock.now();
    const due = dueInstances(db, now);
    if (due.length === 0) return;
    db.durably(() => {
      planNext(db, due, now);
      this.request(due);
    });
  }

  /**
   * Moves due times so that no refresh waits longer than its interval. Call this method after the clock was set back.
   */
  rewind(): void {
    const { db, clock } = this.#options;
    db.durably(() => planWithinInterval(db, clock.now()));
  }

  /** Stops processing the queue. Running refreshes are aborted and stay in the queue. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running.keys());
  }

  #wake(): void {
    try {
      while (!this.#stop.signal.aborted && this.#running.size < maxConcurrent) {
        const next = takeNext(this.#options.db, this.#busy());
        if (next === undefined) return;
        this.#run(next);
      }
    } catch (thrown) {
      this.#tellStopped(thrown);
    }
  }

  #run(next: Queued): void {
    const running = this.#refresh(next)
      .catch((thrown: unknown) => this.#tellStopped(thrown))
      .finally(() => {
        this.#running.delete(running);
        this.#wake();
      });
    this.#running.set(running, next);
  }

  #busy(): Busy {
    const all = [...this.#running.values()];
    const companies = Map.groupBy(all, ({ companyId }) => companyId ?? '');
    const full = [...companies].filter(([id, own]) => id !== '' && own.length >= maxPerCompany);
    return { accounts: all.flatMap(({ accountId }) => accountId ?? []), companies: full.map(([id]) => id) };
  }

  /**
   * Logs that the database failed, such as because the disk is full. The entries stay queued, and the next request
   * starts the queue again.
   */
  #tellStopped(thrown: unknown): void {
    this.#options.log.error('refresh queue stopped', { error: redact(readable(thrown)) });
  }

  async #refresh({ position, instanceId }: Queued): Promise<void> {
    const { db, log } = this.#options;
    try {
      await this.#pullInto(instanceId);
      log.info('refreshed', { instance: instanceId });
    } catch (thrown) {
      if (this.#stop.signal.aborted) return;
      const message = redact(readable(thrown));
      db.durably(() => noteFailure(db, instanceId, message));
      log.warn('refresh failed', { instance: instanceId, error: message });
    }
    db.durably(() => settle(db, position));
  }

  async #pullInto(instanceId: string): Promise<void> {
    const { db, blobs, clock, pull, reach, uploadLimitBytes } = this.#options;
    const instance = instanceById(db, instanceId);
    const source = instance && datasourceById(db, instance.datasourceId);
    if (source === undefined || source.disabled === 1) return;
    if (pull === undefined) throw noConnector(source.connector);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(tooLate()), maxPullMs);
    const signal = AbortSignal.any([this.#stop.signal, late.signal]);
    const { connector, format } = source;
    const properties = propertiesOf(db, instanceId);
    registerSecretsOf(properties);
    try {
      const chunks = untilAborted(pull({ connector, format, properties, reach, signal }), signal);
      const received = await receive(blobs, { chunks, format, limitBytes: uploadLimitBytes });
      await publish({ db, blobs, now: clock.now() }, instanceId, received);
    } finally {
      clearTimeout(timer);
    }
  }
}

function noConnector(connector: string): Problem {
  return new Problem({
    code: 'SERVICE_NO_CONNECTOR',
    family: 'config',
    message: `connector not available in this service: ${connector}`,
    next: 'push the data with PUT /datasource-instances/{id}/data',
  });
}

function tooLate(): Problem {
  return new Problem({
    code: 'REFRESH_TIME',
    family: 'try_later',
    message: `the refresh took longer than ${maxPullMs / 60_000} minutes`,
    next: 'request less data per refresh, or find out why the source is slow',
  });
}

/**
 * Formats an error as one line for the instance's `last_error`, with everything that a user needs to fix the problem.
 */
function readable(thrown: unknown): string {
  if (!(thrown instanceof Problem)) return thrown instanceof Error ? thrown.message : String(thrown);
  const { message, seen, allowed, next } = thrown;
  const parts = [message, seen && `seen: ${seen}`, allowed && `allowed: ${allowed}`, next];
  return parts.filter(Boolean).join('; ');
}

/**
 * Passes on a connector's chunks until the signal aborts. This ends the iteration even if the connector ignores its
 * signal, so a connector can't block shutdown.
 */
async function* untilAborted(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
  let reject: (reason: unknown) => void = () => undefined;
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const reader = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      signal.throwIfAborted();
      // Create a new promise for each chunk. A promise that lives longer would keep a reference to every chunk that
      // raced with it.
      const aborted = Promise.withResolvers<never>();
      reject = aborted.reject;
      const next = await Promise.race([reader.next(), aborted.promise]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', abort);
    if (!signal.aborted) await reader.return?.();
    else void reader.return?.()?.catch?.(() => undefined);
  }
}
