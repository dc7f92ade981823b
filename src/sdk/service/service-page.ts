import type { ColumnData, Discovery } from './column-data.ts';
import type { ServiceDescription, StreamData } from './description.ts';
import { isResumable } from './service-options.ts';

/** The columns of the streams, as Markdown for the reference page. */
export function columnsText({ streams }: ServiceDescription): string {
  return Object.entries(streams)
    .map(([name, stream]) => `**${name}** – ${stream.about}\n\n${columnsOf(stream)}`)
    .join('\n\n');
}

function columnsOf({ columns }: StreamData): string {
  if (columns === 'discovered') return 'The columns are the fields of the records.';
  if (typeof columns === 'function') return "The columns depend on the query's options.";
  if (!('request' in columns) || typeof columns.request !== 'object') return `${namesOf(columns as Named)}.`;
  const { always } = columns as Discovery;
  const asked = 'requested from the service before each run.';
  return always === undefined ? `Columns are ${asked}` : `${namesOf(always)}, followed by columns that are ${asked}`;
}

type Named = Readonly<Record<string, string | ColumnData>>;

function namesOf(columns: Named): string {
  const entries = Object.entries(columns);
  return entries.map(([name, data]) => `\`${name}\` ${typeof data === 'string' ? data : data.type}`).join(', ');
}

/** How the streams resume, in one sentence; undefined if no stream does. */
export function resumesText({ streams }: ServiceDescription): string | undefined {
  const names = Object.keys(streams).filter((name) => isResumable(streams[name]!));
  return names.length === 0 ? undefined : `With \`incremental: true\`, for these streams: ${names.join(', ')}.`;
}
