import type { ColumnFigures } from '../../compare/column-profile.ts';
import type { ColumnDifference, NamedRow, TableDifference } from '../../compare/compare-tables.ts';
import { countOf, countText } from '../output/format.ts';
import { printable, renderTable } from '../output/table.ts';
import type { Compared } from './compare-payloads.ts';

const right = { align: 'right' as const };
/** Maximum number of characters to show for a cell and for a row. */
const [maxCell, maxLine] = [40, 160];

/**
 * Formats a difference as text: counts, the first rows of each kind, and each column's previous and current statistics.
 */
export function comparedText(compared: Compared): string {
  if ('note' in compared) return compared.note;
  const { difference } = compared;
  return [
    `${countsText(difference)} ${byText(difference)}`,
    ...samplesText(difference),
    '',
    columnsText(difference),
  ].join('\n');
}

function countsText({ removed, added, changed, by }: TableDifference): string {
  const parts = [`${countOf(removed, 'row')} removed`, `${countText(added)} added`];
  if (by.kind !== 'row') parts.push(`${countText(changed)} changed`);
  return `${parts.join(', ')}.`;
}

function byText({ by }: TableDifference): string {
  if (by.kind === 'declared') return `Compared by the job's key: ${by.columns.join(', ')}.`;
  if (by.kind === 'found') return `Compared by ${by.columns.join(', ')}, which is unique in both.`;
  return 'Compared as whole rows, because no column is unique in both: a changed row counts as removed and added.';
}

function samplesText({ removed, added, changed, samples, by }: TableDifference): string[] {
  const block = (title: string, count: number, lines: readonly string[]): string[] => {
    const shown = lines.length < count ? `first ${lines.length}` : 'all';
    return lines.length === 0 ? [] : ['', `${title} (${shown}):`, ...lines];
  };
  return [
    ...block(
      'Removed',
      removed,
      samples.removed.map((row) => `  - ${rowText(row)}`),
    ),
    ...block(
      'Added',
      added,
      samples.added.map((row) => `  + ${rowText(row)}`),
    ),
    ...block(
      'Changed',
      changed,
      samples.changed.map((pair) => `  ~ ${changeText(pair, by.columns)}`),
    ),
  ];
}

function rowText(row: NamedRow): string {
  const cells = Object.entries(row).map(([name, text]) => `${name}=${cellText(text)}`);
  return cut(cells.join('  '), maxLine);
}

function changeText(
  { last, now }: { readonly last: NamedRow; readonly now: NamedRow },
  key: readonly string[],
): string {
  const which = key.map((name) => `${name}=${cellText(last[name]!)}`);
  const cells = Object.keys(last).filter((name) => Object.hasOwn(now, name) && last[name] !== now[name]);
  return cut(
    `${which.join('  ')}:  ${cells.map((name) => `${name} ${cellText(last[name]!)} → ${cellText(now[name]!)}`).join('  ')}`,
    maxLine,
  );
}

function columnsText({ columns, by }: TableDifference): string {
  const titles = [
    { title: 'column' },
    ...(by.kind === 'row' ? [] : [{ title: 'changed', ...right }]),
    { title: 'nulls', ...right },
    { title: 'min' },
    { title: 'max' },
    { title: 'distinct', ...right },
  ];
  const cells = columns.map((column) => [
    presence(column),
    ...(by.kind === 'row' ? [] : [countText(column.changed)]),
    pairText(column, ({ nulls }) => countText(nulls)),
    pairText(column, ({ min }) => cellText(min)),
    pairText(column, ({ max }) => cellText(max)),
    pairText(column, ({ distinct }) => `${distinct.exact ? '' : '~'}${countText(distinct.count)}`),
  ]);
  return renderTable(titles, cells, { widest: 2 * maxCell, paper: process.stdout });
}

function presence({ column, last, now }: ColumnDifference): string {
  return last === null ? `${column} (new)` : now === null ? `${column} (gone)` : column;
}

/** Shows one figure if it's unchanged; otherwise, both figures. */
function pairText({ last, now }: ColumnDifference, figure: (figures: ColumnFigures) => string): string {
  const [former, latter] = [last, now].map((figures) => (figures === null ? undefined : figure(figures)));
  if (former === undefined || latter === undefined || former === latter) return former ?? latter ?? '';
  return `${former} → ${latter}`;
}

const cellText = (text: string | null): string => (text === null ? '∅' : cut(printable(text), maxCell));

function cut(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : `${text.slice(0, maxCharacters - 1)}…`;
}
