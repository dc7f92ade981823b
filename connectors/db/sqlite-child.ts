import { answerRequests } from './query-child.ts';
import { SqliteFile, type SqliteOrder } from './sqlite-file.ts';

/** The child process that reads one SQLite file, because a running query can't be interrupted. */
answerRequests((order: SqliteOrder) => new SqliteFile(order));
