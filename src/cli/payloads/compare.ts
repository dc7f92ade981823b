import { open } from 'node:fs/promises';
import type { Finding } from '../../guards/finding.ts';
import type { Quarantined } from '../../state/quarantine.ts';
import { bytesText, countText } from '../figures.ts';
import { printable, renderTable } from '../table.ts';

/** Enough for the first rows of anything, and nothing beside a payload. */
const headBytes = 64 * 1024;
const linesShown = 5;

/** What a person needs in order to decide: what guards found, figures then and now, the first rows that differ. */
export interface Difference {
  readonly findings: readonly Finding[];
  readonly now: { readonly rows: number; readonly bytes: number };
  readonly last: { readonly run: string; readonly rows: number; readonly bytes: number } | null;
  /** The first lines that differ; empty where the last good payload is not kept any more. */
  readonly lines: readonly { readonly line: number; readonly last: string | null; readonly now: string | null }[];
}

export async function differenceOf(row: Quarantined): Promise<Difference> {
  const { last_run: run, last_rows: rows, last_bytes: bytes, last_path } = row;
  const [now, last] = await Promise.all([headOf(row.path), last_path === null ? undefined : headOf(last_path)]);
  return {
    findings: JSON.parse(row.findings) as Finding[],
    now: { rows: row.row_count, bytes: row.bytes },
    last: run === null || rows === null || bytes === null ? null : { run, rows, bytes },
    lines: now === undefined || last === undefined ? [] : differing(last, now),
  };
}

export function differenceText({ findings, now, last, lines }: Difference): string {
  const columns = [{ title: 'guard' }, { title: 'what is wrong' }, { title: 'seen' }, { title: 'allowed' }];
  const found = findings.map(({ guard, message, seen, allowed }) => [guard, message, seen, allowed]);
  const figures = [
    ['rows', last === null ? '–' : countText(last.rows), countText(now.rows)],
    ['bytes', last === null ? '–' : bytesText(last.bytes), bytesText(now.bytes)],
  ];
  const right = { align: 'right' as const };
  return [
    renderTable(columns, found, { widest: 90, paper: process.stdout }),
    '',
    renderTable([{ title: '' }, { title: 'last good', ...right }, { title: 'held back', ...right }], figures),
    ...(last === null ? ['', 'There is no last good payload to compare with.'] : []),
    ...(lines.length === 0
      ? []
      : ['', 'First lines that differ (- last good, + held back):', ...lines.flatMap(lineText)]),
  ].join('\n');
}

function lineText({ line, last, now }: Difference['lines'][number]): string[] {
  const shown = (mark: string, text: string | null) =>
    text === null ? [] : [`  ${mark} ${String(line).padStart(4)}  ${printable(text).slice(0, 160)}`];
  return [...shown('-', last), ...shown('+', now)];
}

function differing(last: readonly string[], now: readonly string[]): Difference['lines'] {
  const lines = [];
  for (let i = 0; i < Math.max(last.length, now.length) && lines.length < linesShown; i++) {
    if (last[i] !== now[i]) lines.push({ line: i + 1, last: last[i] ?? null, now: now[i] ?? null });
  }
  return lines;
}

/** The first lines of a file; undefined where it is gone. The last of them may be cut. */
async function headOf(path: string): Promise<string[] | undefined> {
  const handle = await open(path).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    const lines = buffer.toString('utf8', 0, bytesRead).split(/\r?\n/);
    return bytesRead === headBytes ? lines.slice(0, -1) : lines;
  } finally {
    await handle.close();
  }
}
