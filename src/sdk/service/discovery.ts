import { type ApiClient, answerOf } from './api-client.ts';
import type { ColumnData, Discovery } from './column-data.ts';
import type { Fields, StreamData } from './description.ts';
import { textOf } from './exact-json.ts';
import { valueAt } from './path.ts';
import { isWanted, listed } from './records.ts';
import { noSuchField } from './service-problems.ts';
import { render, type Scope } from './template.ts';

interface Found {
  readonly columns: Readonly<Record<string, ColumnData>>;
  /** The field names to request. */
  readonly fields: readonly string[];
}

/**
 * Discovers the service's columns.
 * @throws Problem `SERVICE_NO_FIELD` if the user selected a column that doesn't exist.
 */
export async function discoverColumns(
  api: ApiClient,
  discovery: Discovery,
  { scope, stream, title }: { scope: Scope; stream: StreamData; title: string },
): Promise<Found> {
  const { request, records, name, only, within, always = {} } = discovery;
  const answer = await answerOf(api, { request, scope, errors: stream.errors });
  const known = new Map<string, Fields>();
  for (const field of listed(answer, { records }, scope)) {
    const called = textOf(valueAt(field, name));
    if (called !== undefined && isWanted(field, only)) known.set(called, field);
  }
  const fields = wantedOf(discovery, scope) ?? [...known.keys()];
  const columns = Object.entries(always).map(([one, data]) => [one, dataOf(data)] as const);
  for (const field of fields) {
    const found = known.get(field);
    if (found === undefined) throw noSuchField(title, field, known.keys());
    const data = typed(discovery, found);
    columns.push([field, within === undefined ? data : { ...data, at: [within, field] }]);
  }
  return { columns: Object.fromEntries(columns), fields };
}

/** The column names that the user selected, without duplicates. */
function wantedOf({ wanted }: Discovery, scope: Scope): string[] | undefined {
  const names = wanted === undefined ? undefined : render(wanted, scope);
  return Array.isArray(names) && names.length > 0 ? [...new Set(names.map(String))] : undefined;
}

function typed({ type, types }: Discovery, field: Fields): ColumnData {
  return dataOf(types[textOf(valueAt(field, type)) ?? ''] ?? 'text');
}

function dataOf(data: ColumnData | ColumnData['type']): ColumnData {
  return typeof data === 'string' ? { type: data } : data;
}
