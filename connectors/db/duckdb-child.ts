import { writeFileSync } from 'node:fs';
import { type DuckdbOrder, openDuckdb } from './duckdb-query.ts';
import { answerRequests } from './query-child.ts';

/**
 * The child process that runs one DuckDB query. If the machine runs out of memory, the kernel ends this process before
 * the one that started it, because DuckDB's memory limit doesn't apply to all that a query needs.
 */
try {
  writeFileSync('/proc/self/oom_score_adj', '500');
} catch {}
answerRequests((order: DuckdbOrder) => openDuckdb(order));
