import { statSync } from 'node:fs';
import { join } from 'node:path';
import { refuseLinksIn } from '../../lib/foreign-links.ts';
import { Problem } from '../../lib/problem.ts';
import { SqliteDatabase } from '../../lib/sqlite.ts';
import { type SchemaEntry, schemaHash, schemaQuery } from '../../lib/sqlite-shape.ts';
import { hasDatabase } from '../engine/has-database.ts';
import { stateProblem } from '../engine/state-problem.ts';
import { absolutePath } from '../engine/stored-paths.ts';
import { migrations } from '../migrations/index.ts';
import { newestHash } from '../migrations/newest-hash.ts';
import type { OutboxState } from '../tables.ts';

/**
 * The result of inspecting the database of a state folder. The inspection doesn't write, migrate or repair anything.
 */
export interface Inspection {
  /** `ok`, or the first error that SQLite's `quick_check` reports. */
  readonly integrity: string;
  /**
   * The error if the database can't be read for a reason other than damage, such as a full disk or a folder that
   * belongs to another user.
   */
  readonly unread?: Problem;
  readonly schema: number;
  /** The newest schema version that this version of Sluice supports. */
  readonly newest: number;
  /**
   * True if the database has the newest schema version but different tables, because another build of Sluice created
   * it.
   */
  readonly isOther?: boolean;
  /** Total size of the owed payloads, in bytes. */
  readonly owed: number;
  /** Size of the largest payload in the database, in bytes. */
  readonly largest: number;
  /** Paths of the owed payloads whose files are missing or have the wrong size. */
  readonly missing: readonly string[];
  /** The path and state of every payload in the database. */
  readonly payloads: readonly { readonly path: string; readonly state: OutboxState }[];
}

/**
 * Inspects the database of a state folder. Returns undefined if the folder has no database. If the database can't be
 * read, `integrity` is the error message.
 */
export function inspectState(folder: string): Inspection | undefined {
  const file = join(folder, 'sluice.db');
  const newest = Math.max(...migrations.map(({ number }) => number));
  let database: SqliteDatabase | undefined;
  try {
    if (!hasDatabase(folder)) return undefined;
    refuseLinksIn(folder);
    database = new SqliteDatabase(file, { readOnly: true, busyTimeoutMs: 15_000 });
    const integrity = String(database.pragma('quick_check(1)'));
    const one = (text: string): number => Number(database!.prepare(text).value() ?? 0);
    const schema = one('select max(number) from migrations');
    const isOther = schema === newest && schemaHash(database.prepare(schemaQuery).all<SchemaEntry>()) !== newestHash;
    const owed = database.prepare("select path, bytes from outbox where state = 'owed'");
    const lost = owed
      .all<{ path: string; bytes: number }>()
      .filter(({ path, bytes }) => statSync(absolutePath(folder, path), { throwIfNoEntry: false })?.size !== bytes);
    return {
      integrity,
      missing: lost.map(({ path }) => absolutePath(folder, path)),
      payloads: database
        .prepare('select path, state from outbox')
        .all<Inspection['payloads'][number]>()
        .map(({ path, state }) => ({ path: absolutePath(folder, path), state })),
      newest,
      schema,
      isOther,
      owed: one("select sum(bytes) from outbox where state = 'owed'"),
      largest: one('select max(bytes) from outbox'),
    };
  } catch (thrown) {
    const integrity = (thrown as Error).message;
    const problem = stateProblem(thrown, file);
    const unread = problem instanceof Problem && problem.code !== 'STATE_DAMAGED' ? { unread: problem } : {};
    return { integrity, ...unread, newest, schema: 0, owed: 0, largest: 0, missing: [], payloads: [] };
  } finally {
    database?.close();
  }
}
