import type { ColumnData } from './column-data.ts';
import type { ServiceDescription, StreamData } from './description.ts';
import { stepsOf } from './path.ts';

/**
 * A stream's key columns: the declared ones or, by default, the column of `incremental.key`. Undefined if they're
 * unknown; empty if there are none.
 */
export function rowKeyOf(
  { streams }: ServiceDescription,
  { stream: name }: Readonly<Record<string, unknown>>,
): readonly string[] | undefined {
  const stream = streams[String(name)];
  if (stream?.key !== undefined) return stream.key;
  const { incremental } = stream ?? {};
  if (stream === undefined || incremental === undefined || !('column' in incremental)) return undefined;
  const path = incremental.key === undefined ? undefined : stepsOf(incremental.key).join('.');
  if (path === undefined) return undefined;
  const column = declaredColumns(stream).find(([id, data]) => placeOf(id, data) === path);
  return [column?.[0] ?? path];
}

/** The columns that a stream declares, by name; empty if the columns depend on options or records. */
export function declaredColumns({ columns }: StreamData): [string, string | ColumnData][] {
  if (typeof columns !== 'object') return [];
  const isFound = 'request' in columns && typeof columns.request === 'object';
  return Object.entries((isFound ? (columns.always ?? {}) : columns) as Readonly<Record<string, string | ColumnData>>);
}

function placeOf(name: string, data: string | ColumnData): string | undefined {
  if (typeof data === 'string') return name;
  return data.scope === undefined ? stepsOf(data.at ?? name).join('.') : undefined;
}
