import { renderProblem } from '../../lib/problem.ts';
import type { Dataset } from '../../sdk/dataset.ts';
import { countOf } from '../output/format.ts';
import { problemJson } from '../output/json-output.ts';
import { cellsOf, printable } from '../output/table.ts';

/** What was found in a source. */
export interface Discovered {
  /** The source's name in the config; undefined if the source was given as a path or URL. */
  readonly source?: string;
  readonly connector: string;
  readonly datasets: readonly Dataset[];
  /** A config that has one job per dataset. */
  readonly config?: string;
}

/** One paragraph per dataset, with its name, the columns that identify a row, and all columns. */
export function discoveredText({ connector, datasets, config }: Discovered): string {
  if (datasets.length === 0) return 'The source offers no datasets, or none that this login may read.';
  const count = countOf(
    datasets.length,
    connector === 'db' ? 'table' : 'entry',
    connector === 'db' ? 'tables' : 'entries',
  );
  const job =
    config === undefined ? [] : [`To read ${datasets.length === 1 ? 'it' : 'them'}, in sluice.yaml:`, config.trimEnd()];
  return [...datasets.map(textOf), count, ...job].join('\n\n');
}

function textOf({ name, kind, columns, key, cursors = [], notes = [], problem }: Dataset): string {
  const facts = [
    kind,
    ...(key === undefined ? [] : [`key: ${key.join(', ')}`]),
    ...(cursors.length === 0 ? [] : [`cursor: ${cursors.join(' or ')}`]),
  ];
  const head = printable(`${name} (${facts.join('; ')})`);
  if (problem !== undefined) return `${head}\n${renderProblem(problem)}`;
  if (columns === undefined) return `${head}\n  columns: known only after reading`;
  const remarks = notes.map((note) => `  note: ${printable(note)}`);
  return [head, ...columnLines(columns), ...remarks].join('\n');
}

/** One line per column, with its name and type. */
export function columnLines(columns: NonNullable<Dataset['columns']>): string[] {
  const names = columns.map((column) => printable(column.name));
  const width = Math.max(...names.map(cellsOf));
  return columns.map(({ type, format }, c) => {
    const written = format === undefined ? '' : `  ${format}`;
    return `  ${names[c]}${' '.repeat(width - cellsOf(names[c]!))}  ${printable(`${type}${written}`)}`.trimEnd();
  });
}

/** The document that `discover --json` prints. */
export function discoveredJson({ source, connector, datasets, config }: Discovered): object {
  return {
    source,
    connector,
    datasets: datasets.map(({ name, kind, columns, key, cursors = [], query, notes, problem }) => ({
      name,
      kind,
      columns,
      key,
      cursors,
      query,
      notes,
      problem: problem === undefined ? undefined : problemJson(problem),
    })),
    config,
  };
}
