import type { Dataset } from '../dataset.ts';
import type { ServiceDescription, StreamData } from './description.ts';
import { declaredColumns, rowKeyOf } from './row-key.ts';

/**
 * A service's streams according to its description, listed without a request. Omits columns that only the service
 * knows.
 */
export function streamsOf(service: ServiceDescription): Dataset[] {
  return Object.entries(service.streams).map(([name, stream]): Dataset => {
    const query = { stream: name };
    const key = rowKeyOf(service, query);
    return {
      name,
      kind: 'stream',
      ...(isFixed(stream) ? { columns: columnsOf(stream) } : {}),
      ...(key === undefined || key.length === 0 ? {} : { key }),
      cursors: cursorOf(stream),
      query,
    };
  });
}

/** Whether the columns are the same for every query and every account. */
function isFixed({ columns }: StreamData): boolean {
  return typeof columns === 'object' && !('request' in columns && typeof columns.request === 'object');
}

function columnsOf(stream: StreamData): Dataset['columns'] {
  return declaredColumns(stream).map(([name, data]) => ({ name, type: typeof data === 'string' ? data : data.type }));
}

/** The name of a column that contains a template isn't known until the query's options are. */
function cursorOf({ incremental }: StreamData): string[] {
  if (incremental === undefined || !('column' in incremental)) return [];
  return incremental.column.includes('{{') ? [] : [incremental.column];
}
