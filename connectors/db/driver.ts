import type { ConnectorLog, Extraction, LogIn, RunWarning, Tunnel } from '#sdk';
import type { Dialect } from './dialect.ts';
import type { QueryValues, SourceValues } from './options.ts';

/** A driver's input: the source's validated options, and the connector's context. */
export interface ConnectOptions {
  readonly source: SourceValues;
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly log: ConnectorLog;
  /** Wraps each login attempt. */
  readonly logIn?: LogIn;
  /** Adds a warning to the run; undefined if there is no run. */
  readonly warn?: (warning: RunWarning) => void;
  /** SSH tunnel to the server. If present, the driver connects through it instead of to the host and port. */
  readonly tunnel?: Pick<Tunnel, 'folder' | 'path'>;
}

/** A database driver: checks the connection and reads a query. */
export interface Driver {
  readonly dialect: Dialect;
  /** Lists tables and their columns; see `catalogue.ts`. */
  readonly catalogue: string;
  check(door: ConnectOptions): Promise<string>;
  extract(door: ConnectOptions, query: QueryValues): Promise<Extraction>;
}
