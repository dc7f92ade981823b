import type { ConnectorLog, Extraction, LogIn, RunWarning, TokenSource, Tunnel } from '#sdk';
import type { Server, ServerAddress } from './address.ts';
import type { Catalogue } from './catalogue-queries.ts';
import type { Dialect } from './dialect.ts';
import type { SourceValues, SqlQuery } from './options.ts';

/** The connector's context for a source with validated options. */
export interface ReadOptions {
  readonly source: SourceValues;
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly log: ConnectorLog;
  /** Wraps each login attempt. */
  readonly logIn?: LogIn;
  /** The tokens of an API whose login is OAuth. */
  readonly login?: TokenSource;
  /** Resets the run's stall timer. */
  readonly alive?: () => void;
  /** Adds a warning to the run; undefined if there is no run. */
  readonly warn?: (warning: RunWarning) => void;
  /** Whether to fail if the rows may not be from one snapshot, instead of adding a warning. */
  readonly needsSnapshot?: boolean;
}

/** A driver's input. */
export interface ConnectOptions extends ReadOptions {
  readonly address: ServerAddress;
  /** SSH tunnel to the server. If present, the driver connects through it instead of to the host and port. */
  readonly tunnel?: Pick<Tunnel, 'folder' | 'path'>;
}

/** The input for one login attempt, which is to one of the source's servers. */
export interface LoginOptions extends ConnectOptions {
  readonly server: Server;
}

/** A database driver: checks the connection and reads a query. */
export interface Driver {
  readonly dialect: Dialect;
  readonly catalogue: Catalogue;
  check(options: ConnectOptions): Promise<string>;
  extract(options: ConnectOptions, query: SqlQuery): Promise<Extraction>;
}
