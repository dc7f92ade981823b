import { rm } from 'node:fs/promises';
import type { Source } from '../../config/config.ts';
import { quietLog } from '../../lib/log.ts';
import { toProblem } from '../../lib/problem.ts';
import { makeTempFolder } from '../../lib/temp-folder.ts';
import { batchText } from '../../sdk/batch.ts';
import { withDefaults } from '../../sdk/option.ts';
import { renderRows } from '../output/table.ts';

const rowsShown = 5;

interface HeadOptions {
  readonly query: Readonly<Record<string, unknown>>;
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** Shows a query's first rows as a table. Stops reading after those rows or the first page, even if the source is large. */
export async function headText(
  { name, connector, options: source }: Pick<Source, 'name' | 'connector' | 'options'>,
  { query: given, folder, signal }: HeadOptions,
): Promise<string> {
  const scratch = await makeTempFolder(`head-${process.pid}`);
  const query = withDefaults(connector.query, given);
  try {
    const preview = { allowsAnyMethod: false };
    const context = { source, query, folder, scratch, signal, log: quietLog, warn: () => undefined, preview };
    const { columns, batches } = await connector.extract(context);
    const rows: (string | null)[][] = [];
    for await (const batch of batches) {
      rows.push(...batchText(batch).slice(0, rowsShown - rows.length));
      if (rows.length >= rowsShown) break;
    }
    return renderRows(columns, rows);
  } catch (thrown) {
    signal.throwIfAborted();
    throw toProblem(thrown, { code: 'CONNECTOR_THREW', family: 'bug' }).at({ source: name });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
