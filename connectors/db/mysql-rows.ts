import type { Duplex } from 'node:stream';
import type { Connection, QueryOptions } from 'mysql2';
import { guardStream } from '#sdk';
import { unreadable } from './broken-protocol.ts';
import { MysqlTap } from './mysql-tap.ts';
import type { Field } from './mysql-types.ts';
import { manyResults, noRows } from './result-problems.ts';
import type { SpanBlock } from './span-block.ts';
import { wireOf } from './tap.ts';

/**
 * What of mysql2 is not in its documented interface stands in this file: a connection has `stream`, its socket (TLS or
 * not), whose only 'data' listener is the packet parser; a query command that nobody gave a callback says `fields` when the
 * last column is known and before the packet behind it is read, and `end` at the end, however it went.
 */
interface Command {
  on(event: 'fields', listener: (fields: Field[] | undefined) => void): Command;
  on(event: 'error', listener: (reason: unknown) => void): Command;
  on(event: 'end', listener: () => void): Command;
}

/** The socket of a connection, TLS or not. */
export function streamOf(connection: Connection): Duplex {
  const { stream } = connection as unknown as { stream?: Duplex };
  return stream ?? wireOf(stream, 'mysql2').stream;
}

/** Guards the socket of a connection, which is made now, and the one with TLS, which mysql2 makes of it later. */
export function guardConnection(connection: Connection): void {
  const guarded = connection as unknown as { startTLS(then: (failure?: Error) => void): void };
  guardStream(streamOf(connection), unreadable);
  const startTls = guarded.startTLS.bind(guarded);
  guarded.startTLS = (then) => {
    startTls(then);
    guardStream(streamOf(connection), unreadable);
  };
}

export interface RowsSettings {
  readonly sql: string;
  /** The columns are known; what is returned takes the rows. */
  readonly begin: (fields: readonly Field[]) => SpanBlock;
  /** All rows are here, and the server has so many warnings about them. */
  readonly end: (warnings: number) => void;
  readonly fail: (reason: unknown) => void;
}

/** Runs one statement; its rows become spans over bytes. After `fail` the connection is of no use. */
export function readRows(connection: Connection, { sql, begin, end, fail }: RowsSettings): void {
  let hasColumns = false;
  let failed = false;
  const stop = (reason: unknown) => {
    failed = true;
    tap.drop();
    fail(reason);
  };
  const guard = (act: () => void) => {
    try {
      if (!failed) act();
    } catch (thrown) {
      stop(thrown);
    }
  };
  // mysql2 compiles a parser for rows, which never come to it, and refuses a column named __proto__ while doing so; the
  // one that it takes where compiling is forbidden does not look at names.
  const command = connection.query({ sql, disableEval: true } as QueryOptions) as unknown as Command;
  const tap = new MysqlTap({ wire: wireOf(streamOf(connection), 'mysql2'), onFault: stop });
  command.on('fields', (fields) =>
    guard(() => {
      if (fields === undefined) return;
      if (hasColumns) throw manyResults();
      hasColumns = true;
      tap.begin(begin(fields), fields.length);
    }),
  );
  command.on('error', stop);
  command.on('end', () =>
    guard(() => {
      if (!hasColumns) throw noRows();
      tap.release();
      end(tap.warnings);
    }),
  );
}
