import { flushCompileCache } from 'node:module';
import type { ProcessAnswer, ProcessRequest } from './query-process.ts';
import type { RunningQuery } from './query-reader.ts';

/**
 * What a child process does that runs one query. It handles requests in order, and exits when its parent exits. To stop a
 * query, the parent kills the process.
 */
export function answerRequests<Order, Column, Rows>(
  open: (order: Order) => RunningQuery<Column, Rows> | Promise<RunningQuery<Column, Rows>>,
): void {
  let query: RunningQuery<Column, Rows> | undefined;
  process.on('message', async (request: ProcessRequest<Order>) => process.send?.(await answerTo(request)));
  // Writes the cache now, because Node doesn't write it if the process is killed.
  setImmediate(flushCompileCache);

  async function answerTo(request: ProcessRequest<Order>): Promise<ProcessAnswer<Column, Rows>> {
    try {
      if (request.kind === 'rows') return { kind: 'rows', rows: await query!.take() };
      query = await open(request.order);
      return { kind: 'opened', columns: query.columns() };
    } catch (thrown) {
      const { name, message, errcode } = thrown as Error & { readonly errcode?: number };
      return { kind: 'failed', name, message, errcode };
    }
  }
}
