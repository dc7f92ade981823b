import { countOf, countText } from '../output/format.ts';
import { renderTable, type TableColumn } from '../output/table.ts';
import type { ConfigDifference } from './compare-configs.ts';
import type { AccountPeak } from './week-plan.ts';

interface Table {
  readonly title: string;
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly string[])[];
}

/** Maximum length of the Markdown text, because GitHub and GitLab limit the length of comments. */
const maxRows = 100;
const right = { align: 'right' as const };

/** The differences as plain text for a terminal. */
export function differenceText(difference: ConfigDifference): string {
  const tables = tablesOf(difference).map(
    ({ title, columns, rows }) => `${title}\n${renderTable(columns, rows, { paper: process.stdout })}`,
  );
  return [verdictOf(difference), ...tables].join('\n\n');
}

/** The differences as Markdown for a merge request. The list of changed values is collapsed, because it may be long. */
export function differenceMarkdown(difference: ConfigDifference): string {
  const tables = tablesOf(difference).map((table) =>
    table.title === changesTitle
      ? `<details><summary>${table.title}</summary>\n\n${markdownTable(table)}\n\n</details>`
      : `#### ${table.title}\n\n${markdownTable(table)}`,
  );
  return [`**${verdictOf(difference)}**`, ...tables].join('\n\n');
}

function verdictOf({ jobs, changes, accounts, fits }: ConfigDifference): string {
  if (changes.length === 0) return 'The configs have the same options.';
  const counts = (['added', 'removed', 'changed'] as const).flatMap((kind) => {
    const count = jobs.filter(({ change }) => change === kind).length;
    return count === 0 ? [] : [`${countOf(count, 'job')} ${kind}`];
  });
  const what = counts.length === 0 ? 'No job changed' : counts.join(', ');
  if (!fits) return `${what}. A day's requests no longer fit the allowance.`;
  return accounts.every(({ after }) => after?.fits !== false)
    ? `${what}. Each day's requests fit the allowance.`
    : `${what}. A day's requests still don't fit the allowance.`;
}

const changesTitle = 'Changed options';

function tablesOf({ jobs, firings_per_day: sum, accounts, changes }: ConfigDifference): Table[] {
  const columns = (...first: string[]): TableColumn[] => [
    ...first.map((title) => ({ title })),
    ...['before', 'after'].map((title) => ({ title, ...right })),
  ];
  const changed = jobs.filter(({ change }) => change !== 'unchanged');
  const jobRows = changed.map(({ job, change, schedule, firings_per_day: firings }) => [
    ...[job, change, between(schedule.before, schedule.after)],
    ...[firings.before, firings.after].map(countOrNone),
  ]);
  const total = ['all jobs', '', '', ...[sum.before, sum.after].map(countOrNone)];
  const accountRows = accounts.map(({ destinations, before, after }) => [
    destinations,
    peakText(before),
    peakText(after),
  ]);
  const changeRows = changes.map(({ path, before = '–', after = '–' }) => [path.slice(1), before, after]);
  return [
    { title: 'Firings per day', columns: columns('job', 'change', 'schedule'), rows: shortened([...jobRows, total]) },
    {
      title: 'Requests on the busiest day of the week, worst case',
      columns: columns('destination'),
      rows: accountRows,
    },
    ...(changes.length === 0
      ? []
      : [
          {
            title: changesTitle,
            columns: ['option', 'before', 'after'].map((title) => ({ title })),
            rows: shortened(changeRows),
          },
        ]),
  ];
}

function shortened(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  if (rows.length <= maxRows) return rows;
  return [...rows.slice(0, maxRows - 1), [`and ${countText(rows.length - maxRows + 1)} more`]];
}

function between(before: string | null, after: string | null): string {
  if (before === after || before === null) return after ?? '';
  return after === null ? before : `${before} → ${after}`;
}

const countOrNone = (count: number | null): string =>
  count === null ? '–' : count < 100 ? String(count) : countText(count);

function peakText(peak: AccountPeak | null): string {
  if (peak === null) return '–';
  return `${countText(peak.requests)} of ${countText(peak.limit)}${peak.fits ? '' : ': over the allowance'}`;
}

function markdownTable({ columns, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = columns.map(({ align }) => (align === 'right' ? '---:' : '---'));
  const cells = (row: readonly string[]): string[] => columns.map((_, i) => markdownCell(row[i] ?? ''));
  return [line(columns.map(({ title }) => title)), line(rule), ...rows.map((row) => line(cells(row)))].join('\n');
}

/** Maximum length of a value. Longer values, such as queries, are truncated. */
const maxCell = 200;

/** A table cell. Escapes the text, so that the text can't contain markup or a mention and can't end the cell. */
function markdownCell(text: string): string {
  if (/^[\w ,.–→]*$/.test(text)) return text;
  const short = text.length > maxCell ? `${text.slice(0, maxCell)}…` : text;
  const plain = short.replaceAll(/\s+/g, ' ').replaceAll(/[&<>|`\\*_~[\]@#:!]/g, (mark) => `&#${mark.codePointAt(0)};`);
  return `<code>${plain}</code>`;
}
