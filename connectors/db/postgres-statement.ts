import type { Connection, FieldDef, Submittable } from 'pg';
import type { SqlParameter } from './options.ts';
import { noRows } from './result-problems.ts';

/**
 * The messages that pg passes to a Submittable, which is its documented interface to the extended protocol.
 * https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY
 */
abstract class Statement implements Submittable {
  abstract submit(connection: Connection): void;
  abstract handleReadyForQuery(connection: Connection): void;
  abstract handleError(error: unknown, connection: Connection): void;
  handleRowDescription(_message: { fields: FieldDef[] }): void {}
  handlePortalSuspended(_connection: Connection): void {}
  handleCommandComplete(_message: unknown, _connection: Connection): void {}
  handleEmptyQuery(_connection: Connection): void {}
  handleDataRow(_message: unknown): void {}
  handleCopyInResponse(_connection: Connection): void {}
  handleCopyData(_message: unknown): void {}
}

/** The methods that Sluice calls on pg's connection. pg's published types are out of date. */
interface Extended {
  parse(query: { name: string; text: string; types: number[] }): void;
  bind(config: { portal: string; statement: string; values: (string | null)[] }): void;
  describe(message: { type: 'S' | 'P'; name: string }): void;
  execute(config: { portal: string; rows: number }): void;
  flush(): void;
  sync(): void;
}

function extended(connection: Connection): Extended {
  return connection as unknown as Extended;
}

/** Parses and describes a statement without running it. */
export class Description extends Statement {
  readonly fields: Promise<readonly FieldDef[]>;
  readonly #sql: string;
  #resolve: (fields: readonly FieldDef[]) => void = () => {};
  #reject: (reason: unknown) => void = () => {};
  #found: readonly FieldDef[] | undefined;

  constructor(sql: string) {
    super();
    this.#sql = sql;
    this.fields = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  submit(connection: Connection): void {
    const wire = extended(connection);
    wire.parse({ name: '', text: this.#sql, types: [] });
    wire.describe({ type: 'S', name: '' });
    wire.sync();
  }

  override handleRowDescription({ fields }: { fields: FieldDef[] }): void {
    this.#found = fields;
  }

  handleReadyForQuery(): void {
    if (this.#found !== undefined) this.#resolve(this.#found);
    else this.#reject(noRows());
  }

  handleError(error: unknown): void {
    this.#reject(error);
  }
}

export interface PortalOptions {
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
  /** Number of rows to fetch per Execute message; 0 fetches all rows at once. */
  readonly rows: number;
  /** Called before the first rows can arrive. */
  readonly begin: (connection: Connection) => void;
  /** Called when a batch is complete and more rows follow. Call {@link Portal.proceed} when there is space for them. */
  readonly suspended: () => void;
  /** All rows have arrived. */
  readonly complete: () => void;
  /** The connection is free again. */
  readonly ready: () => void;
  readonly fail: (reason: unknown) => void;
}

/**
 * Number of batches to request ahead. The server prepares one batch while the reader processes the previous one;
 * otherwise, the server would be idle after each batch.
 */
const slicesAhead = 2;

/** Runs a statement with the unnamed portal and reads its rows batch by batch. */
export class Portal extends Statement {
  readonly #settings: PortalOptions;
  #connection: Connection | undefined;
  #asked = 0;
  #complete = false;

  constructor(settings: PortalOptions) {
    super();
    this.#settings = settings;
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    const { sql, parameters, begin } = this.#settings;
    const values = parameters.map((value) => (value === null ? null : String(value)));
    const wire = extended(connection);
    begin(connection);
    wire.parse({ name: '', text: sql, types: [] });
    wire.bind({ portal: '', statement: '', values });
    this.proceed();
  }

  /**
   * Requests the next batches. Doesn't request any after the last batch, because pg would treat the extra response as a
   * broken connection. If all rows are fetched in one batch, the Sync is sent with the request.
   */
  proceed(): void {
    if (this.#complete) return;
    const { rows } = this.#settings;
    const wire = extended(this.#connection!);
    const maxSlices = rows === 0 ? 1 : slicesAhead;
    for (; this.#asked < maxSlices; this.#asked++) wire.execute({ portal: '', rows });
    if (rows === 0) wire.sync();
    else wire.flush();
  }

  /** Whether a requested batch is still incomplete. */
  get isAsking(): boolean {
    return this.#asked > 0;
  }

  override handlePortalSuspended(): void {
    this.#asked--;
    this.#settings.suspended();
  }

  /** This also handles a batch that was requested after the last row and is therefore empty. */
  override handleCommandComplete(): void {
    if (this.#complete) return;
    this.#complete = true;
    this.#settings.complete();
    if (this.#settings.rows > 0) extended(this.#connection!).sync();
  }

  handleReadyForQuery(): void {
    this.#settings.ready();
  }

  handleError(error: unknown): void {
    this.#complete = true;
    this.#settings.fail(error);
    // After an error, the server ignores all messages until it receives a Sync. If all rows are fetched in one batch,
    // the Sync was already sent.
    if (this.#settings.rows > 0) extended(this.#connection!).sync();
  }
}
