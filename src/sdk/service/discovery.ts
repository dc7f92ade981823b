import { answerOf, type Caller } from './caller.ts';
import type { ColumnData, Discovery, StreamData } from './description.ts';
import { textOf } from './exact-json.ts';
import { valueAt } from './path.ts';
import { isWanted, listed } from './records.ts';
import type { Scope } from './template.ts';

interface Found {
  readonly columns: Readonly<Record<string, ColumnData>>;
  /** Names of the fields, for the request. */
  readonly fields: readonly string[];
}

/** Asks the service which columns there are. */
export async function discoverColumns(
  caller: Caller,
  discovery: Discovery,
  { scope, stream }: { scope: Scope; stream: StreamData },
): Promise<Found> {
  const { request, records, name, type, types, only } = discovery;
  const answer = await answerOf(caller, { request, scope, errors: stream.errors });
  const columns: Record<string, ColumnData> = {};
  for (const field of listed(answer, records, scope)) {
    const known = textOf(valueAt(field, name));
    if (known === undefined || !isWanted(field, only)) continue;
    columns[known] = { type: types[textOf(valueAt(field, type)) ?? ''] ?? 'text' };
  }
  return { columns, fields: Object.keys(columns) };
}
