import { type Problem, renderProblem } from '../../lib/problem.ts';
import type { RunWarning } from '../../lib/run-warnings.ts';
import type { Preview } from '../../pipeline/preview-pipeline.ts';
import { bytesText, countOf, countText } from '../output/format.ts';
import { problemJson } from '../output/json-output.ts';
import { renderRows } from '../output/table.ts';
import { warningText } from '../output/warning-text.ts';
import type { Compared } from '../payloads/compare-payloads.ts';
import { comparedText } from '../payloads/difference-text.ts';

/** What a dry run shows about a job. */
export interface ShownPreview {
  readonly job: string;
  readonly target: string;
  readonly preview?: Preview;
  readonly problem?: Problem;
  readonly warnings?: readonly RunWarning[];
  readonly compared?: Compared;
  /** What a real run would do with the result, in words. */
  readonly would: string;
}

/** For people: the first rows as a table, and what a real run would do. */
export function shownText({ job, target, preview, problem, warnings = [], would, compared }: ShownPreview): string {
  const lines = [`${job} → ${target}`];
  if (preview !== undefined) {
    if (preview.columns.length > 0) lines.push(renderRows(preview.columns, preview.firstRows));
    const rest = preview.rows - preview.firstRows.length;
    if (rest > 0) lines.push(`… and ${countText(rest)} more`);
    lines.push(`${countOf(preview.rows, 'row')}, ${bytesText(preview.bytes)} of ${preview.format}; ${would}`);
  } else lines.push(would);
  if (compared !== undefined)
    lines.push('', 'Compared with the last payload of the instance:', comparedText(compared), '');
  for (const warning of warnings) lines.push(warningText(warning));
  if (problem !== undefined) lines.push(renderProblem(problem));
  return `${lines.join('\n')}\n`;
}

/** For `--json`. */
export function shownJson({ job, target, preview, problem, warnings, would, compared }: ShownPreview): object {
  return {
    job,
    target,
    would,
    warnings,
    ...(preview === undefined
      ? {}
      : {
          rows: preview.rows,
          bytes: preview.bytes,
          format: preview.format,
          sha256: preview.sha256,
          columns: preview.columns,
          first_rows: preview.firstRows,
        }),
    ...(compared === undefined ? {} : { difference: null, ...compared }),
    problem: problem === undefined ? undefined : problemJson(problem),
  };
}
