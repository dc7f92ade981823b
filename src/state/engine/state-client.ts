import pg, { type PoolClient, type QueryResult } from 'pg';
import { lockPatienceMs } from './patient-driver.ts';
import { isUnwritable } from './state-problem.ts';
import { isWrite } from './transaction-guard.ts';
import type { WriteHealth } from './write-health.ts';

/**
 * How long a transaction may wait for this process between two statements, in milliseconds. After that, the server ends
 * it. Otherwise, a process that was stopped in a transaction would keep the lock.
 */
const maxIdleMs = 10_000;

/** What a client reports to its engine, and how it describes errors. */
export interface StateClientOptions {
  /** The text that identifies the state's lock. If absent, transactions and writes take no lock. */
  readonly lock?: string;
  readonly health: WriteHealth;
  /** Converts an error of the driver to a Problem if the server or the network caused the error. */
  readonly problemOf: (error: unknown) => unknown;
  readonly onSample: (sample: ServerSample) => void;
}

/** What each transaction learns about the server. */
export interface ServerSample {
  /** The server's time, in epoch milliseconds. */
  readonly now: number;
  /** A text that changes when the server restarts or another takes over. */
  readonly boot: string;
  /** Whether a commit waits until a standby has the transaction. */
  readonly is_synchronous: boolean;
}

/** SQL expression: whether a commit waits until a standby has the transaction. */
const isSynchronous =
  "current_setting('synchronous_standby_names') <> '' and current_setting('synchronous_commit') not in ('local', 'off')";

/** Selects a {@link ServerSample}. */
export const sampleQuery = `select (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
  extract(epoch from pg_postmaster_start_time())::text as boot, ${isSynchronous} as is_synchronous`;

/**
 * Not SQL: names the keys that a transaction locks, as its first statement with one value. All transactions that name
 * keys share the state's lock.
 */
export const lockStatement = 'lock keys';

/**
 * A connection to PostgreSQL that gives statements the meaning that they have in SQLite. A transaction takes the
 * state's lock when it begins (as `begin immediate` does), so only one runs at a time, unless it names the keys that it
 * locks. A write outside of a transaction is wrapped in one. If the server rolls a transaction back, the following
 * statements throw the error that caused it.
 */
export class StateClient {
  readonly #client: PoolClient;
  readonly #options: StateClientOptions;
  /** Whether a transaction is to begin with the next statement, which may name its keys. */
  #isBeginning = false;
  #isBegun = false;
  #isChanged = false;
  /** The error that ended the current transaction. */
  #failure: unknown;
  /** Whether the connection can't be used for another transaction. */
  #isBroken = false;

  constructor(client: PoolClient, options: StateClientOptions) {
    this.#client = client;
    this.#options = options;
    // Without a listener, the loss of a connection that is in use would end the process.
    client.on('error', () => {
      this.#isBroken = true;
    });
  }

  /** Reports the server's time, so that the clock knows it before the first transaction. */
  async sample(): Promise<void> {
    this.#note(await this.#send(sampleQuery));
  }

  /** Runs one statement. kysely's driver calls this method. */
  async query(text: string, parameters: readonly unknown[] = []): Promise<QueryResult> {
    if (text === 'begin') return this.#prepare();
    if (text === lockStatement) return this.#begin(parameters[0] as readonly string[] | undefined);
    if (text === 'rollback') return this.#rollBack();
    if (text === 'commit') return this.#commit();
    if (this.#isBeginning) await this.#begin();
    if (this.#isBegun || !isWrite(text)) return this.#send(text, parameters);
    // A write that waits for no lock doesn't show that others are possible, so it isn't reported to the health.
    return this.#options.lock === undefined ? this.#send(text, parameters) : this.#writeLocked(text, parameters);
  }

  release(destroy = false): void {
    this.#client.release(destroy || this.#isBroken);
  }

  /** Runs a write in a transaction that holds the state's lock. */
  async #writeLocked(text: string, parameters: readonly unknown[]): Promise<QueryResult> {
    await this.#begin();
    try {
      const result = await this.#send(text, parameters);
      await this.#commit();
      return result;
    } catch (error) {
      await this.#rollBack();
      throw error;
    }
  }

  /** Begins a transaction with the next statement. */
  #prepare(): QueryResult {
    this.#isBeginning = true;
    return nothing('BEGIN');
  }

  /**
   * Begins a transaction and takes its locks in two statements of one request. The locks have a statement of their own,
   * because a statement's snapshot is taken before it waits: a read in the same statement would see old rows.
   */
  async #begin(keys?: readonly string[]): Promise<QueryResult> {
    this.#isBeginning = false;
    this.#failure = undefined;
    this.#isChanged = false;
    try {
      const [begun, sampled] = (await this.#send(beginText(this.#options.lock, keys))) as unknown as QueryResult[];
      this.#note(sampled!);
      this.#isBegun = true;
      return begun!;
    } catch (error) {
      this.#isBroken = true;
      throw error;
    }
  }

  async #commit(): Promise<QueryResult> {
    if (this.#isBeginning) return this.#endUnbegun();
    const result = await this.#send('commit');
    this.#isBegun = false;
    if (this.#isChanged && this.#options.lock !== undefined) this.#options.health.written();
    return result;
  }

  /** Ends the transaction. Never throws, because that would hide the error that is being handled. */
  async #rollBack(): Promise<QueryResult> {
    if (this.#isBeginning) return this.#endUnbegun();
    this.#failure = undefined;
    this.#isBegun = false;
    try {
      if (!this.#isBroken) return await this.#client.query('rollback');
    } catch {
      this.#isBroken = true;
    }
    return nothing('ROLLBACK');
  }

  /** Ends a transaction without a statement. */
  #endUnbegun(): QueryResult {
    this.#isBeginning = false;
    return nothing('COMMIT');
  }

  async #send(text: string, parameters: readonly unknown[] = []): Promise<QueryResult> {
    if (this.#failure !== undefined) throw this.#failure;
    const begunAt = performance.now();
    try {
      const result = await this.#client.query(text, parameters.map(storable));
      if (isWrite(text) && (result.rowCount ?? 0) > 0) this.#isChanged = true;
      return result;
    } catch (error) {
      throw this.#failed(error, begunAt);
    }
  }

  #failed(error: unknown, begunAt: number): unknown {
    // An error without a code is the driver's: the connection is lost, or an old statement may still be running on it.
    if ((error as { code?: unknown }).code === undefined) this.#isBroken = true;
    const problem = this.#options.problemOf(error);
    if (isUnwritable(problem)) this.#options.health.refused(problem, begunAt);
    if (this.#isBegun) this.#failure = problem;
    return problem;
  }

  #note({ rows: [sample] }: QueryResult): void {
    this.#options.onSample(sample as ServerSample);
  }
}

/**
 * The settings hold until the transaction ends, so a pooler that shares connections can't pass them on. The columns are
 * evaluated from left to right: the timeouts apply to the wait for the lock, and the time is read after it.
 */
function beginText(lock: string | undefined, keys: readonly string[] | undefined): string {
  const timeouts = `set_config('lock_timeout', '${lockPatienceMs}', true), set_config('idle_in_transaction_session_timeout', '${maxIdleMs}', true)`;
  const locks = lock === undefined ? [] : locksOf(lock, keys);
  return `begin; select ${[timeouts, ...locks, sampleQuery.slice('select '.length)].join(', ')}`;
}

/** The keys are sorted, so that two transactions can't wait for each other. */
function locksOf(lock: string, keys: readonly string[] | undefined): string[] {
  if (keys === undefined) return [`pg_advisory_xact_lock(${hashOf(lock)})`];
  const sorted = [...new Set(keys)].sort();
  return [
    `pg_advisory_xact_lock_shared(${hashOf(lock)})`,
    ...sorted.map((key) => `pg_advisory_xact_lock(${hashOf(`${lock}:${key}`)})`),
  ];
}

const hashOf = (lock: string): string => `hashtextextended(${pg.escapeLiteral(lock)}, 0)`;

const nothing = (command: string): QueryResult => ({ command, rowCount: null, oid: 0, fields: [], rows: [] });

/** PostgreSQL can't store the character NUL, which an error message of a source may contain. */
function storable(parameter: unknown): unknown {
  return typeof parameter === 'string' ? parameter.replaceAll('\0', '\ufffd') : parameter;
}
