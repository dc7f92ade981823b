import { stringify } from 'yaml';
import type { ShownConfig } from '../../config/show/show-config.ts';
import { below } from '../../config/text/document.ts';
import { cellsOf } from '../output/table.ts';

/** The column in which remarks start. If a line is longer, its remark follows after two spaces. */
const remarkColumn = 52;

/** Formats a config as YAML, with a remark about the origin of each value. */
export function yamlLines({ values, from }: ShownConfig): string[] {
  return Object.entries(values).flatMap(([key, value]) =>
    linesOf(key, value, { path: below('', key), from, depth: 0, isTold: false }),
  );
}

interface LineContext {
  readonly path: string;
  readonly from: ShownConfig['from'];
  readonly depth: number;
  /** True if the remark on the enclosing map already shows the origin. */
  readonly isTold: boolean;
}

function linesOf(key: string, value: unknown, { path, from, depth, isTold }: LineContext): string[] {
  const indent = '  '.repeat(depth);
  if (isFullMap(value)) {
    const remark = from[path];
    return [
      remarked(`${indent}${keyText(key)}:`, remark),
      ...Object.entries(value).flatMap(([name, member]) =>
        linesOf(name, member, {
          path: below(path, name),
          from,
          depth: depth + 1,
          isTold: isTold || remark !== undefined,
        }),
      ),
    ];
  }
  const [first = '', ...rest] = memberText(key, value)
    .split('\n')
    .map((line) => indent + line);
  return [remarked(first, from[path] ?? (isTold ? undefined : 'default')), ...rest];
}

function isFullMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}

const keyText = (key: string): string => stringify(key, { lineWidth: 0 }).trimEnd();

/** Writes each list on one line, and multi-line strings as blocks. */
function memberText(key: string, value: unknown): string {
  if (typeof value === 'object') return `${keyText(key)}: ${JSON.stringify(value)}`;
  return stringify({ [key]: value }, { lineWidth: 0, blockQuote: 'literal' }).trimEnd();
}

function remarked(line: string, remark: string | undefined): string {
  if (remark === undefined) return line;
  return `${line}${' '.repeat(Math.max(2, remarkColumn - cellsOf(line)))}# ${remark}`;
}
