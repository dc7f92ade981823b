/** Primary result codes by number. https://www.sqlite.org/rescode.html */
const primary: readonly string[] = [
  ...['OK', 'ERROR', 'INTERNAL', 'PERM', 'ABORT', 'BUSY', 'LOCKED', 'NOMEM', 'READONLY', 'INTERRUPT', 'IOERR'],
  ...['CORRUPT', 'NOTFOUND', 'FULL', 'CANTOPEN', 'PROTOCOL', 'EMPTY', 'SCHEMA', 'TOOBIG', 'CONSTRAINT', 'MISMATCH'],
  ...['MISUSE', 'NOLFS', 'AUTH', 'FORMAT', 'RANGE', 'NOTADB'],
];

/** Extended result codes: the nth name of a primary code has the number `primary + 256 * n`, where n starts at 1. */
const extended: Readonly<Record<string, readonly string[]>> = {
  BUSY: ['RECOVERY', 'SNAPSHOT', 'TIMEOUT'],
  CANTOPEN: ['NOTEMPDIR', 'ISDIR', 'FULLPATH', 'CONVPATH', 'DIRTYWAL', 'SYMLINK'],
  CONSTRAINT: [
    ...['CHECK', 'COMMITHOOK', 'FOREIGNKEY', 'FUNCTION', 'NOTNULL', 'PRIMARYKEY', 'TRIGGER', 'UNIQUE', 'VTAB'],
    ...['ROWID', 'PINNED', 'DATATYPE'],
  ],
  CORRUPT: ['VTAB', 'SEQUENCE', 'INDEX'],
  IOERR: [
    ...['READ', 'SHORT_READ', 'WRITE', 'FSYNC', 'DIR_FSYNC', 'TRUNCATE', 'FSTAT', 'UNLOCK', 'RDLOCK', 'DELETE'],
    ...['BLOCKED', 'NOMEM', 'ACCESS', 'CHECKRESERVEDLOCK', 'LOCK', 'CLOSE', 'DIR_CLOSE', 'SHMOPEN', 'SHMSIZE'],
    ...['SHMLOCK', 'SHMMAP', 'SEEK', 'DELETE_NOENT', 'MMAP', 'GETTEMPPATH', 'CONVPATH', 'VNODE', 'AUTH'],
    ...['BEGIN_ATOMIC', 'COMMIT_ATOMIC', 'ROLLBACK_ATOMIC', 'DATA', 'CORRUPTFS', 'IN_PAGE'],
  ],
  LOCKED: ['SHAREDCACHE', 'VTAB'],
  READONLY: ['RECOVERY', 'CANTLOCK', 'ROLLBACK', 'DBMOVED', 'CANTINIT', 'DIRECTORY'],
};

/**
 * SQLite's name for an error, such as `SQLITE_BUSY` or `SQLITE_CONSTRAINT_UNIQUE`; undefined for any other error. Use
 * this to distinguish SQLite errors, because Node gives all of them the same `code`, plus a number.
 */
export function sqliteErrorName(thrown: unknown): string | undefined {
  const { code, errcode } = (thrown ?? {}) as { code?: unknown; errcode?: unknown };
  if (code !== 'ERR_SQLITE_ERROR' || typeof errcode !== 'number') return undefined;
  const name = primary[errcode & 0xff] ?? String(errcode);
  const detail = extended[name]?.[(errcode >> 8) - 1];
  return detail === undefined ? `SQLITE_${name}` : `SQLITE_${name}_${detail}`;
}
