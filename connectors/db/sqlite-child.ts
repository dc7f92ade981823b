import { flushCompileCache } from 'node:module';
import { SqliteFile, type SqliteOrder } from './sqlite-file.ts';
import type { SqliteAnswer, SqliteRequest } from './sqlite-process.ts';
import { FileOverwritten } from './sqlite-snapshot.ts';

/**
 * The child process that reads one SQLite file. It handles requests in order, and exits when its parent exits. To stop
 * a query, the parent kills this process, because a running query can't be interrupted.
 */
let file: SqliteFile | undefined;

process.on('message', (request: SqliteRequest) => process.send?.(answerTo(request)));
// Writes the cache now, because Node doesn't write it if the process is killed.
setImmediate(flushCompileCache);

function answerTo(request: SqliteRequest): SqliteAnswer {
  try {
    if (request.kind === 'open') return { kind: 'opened', columns: opened(request.order).columns() };
    return { kind: 'rows', rows: file!.take() };
  } catch (thrown) {
    if (thrown instanceof FileOverwritten) return { kind: 'overwritten' };
    const { errcode, message } = thrown as { errcode?: number; message: string };
    return { kind: 'failed', errcode, message };
  }
}

function opened(order: SqliteOrder): SqliteFile {
  file = new SqliteFile(order);
  return file;
}
