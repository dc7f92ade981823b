import type { TableDifference } from '../../compare/compare-tables.ts';
import type { Job } from '../../config/config.ts';
import { payloadFileOf } from '../../daemon/run/payload-file.ts';
import type { GuardFailure } from '../../guards/guard-finding.ts';
import type { Quarantined } from '../../state/outbox/quarantine.ts';
import type { Store } from '../../state/store.ts';
import { bytesText, countText } from '../output/format.ts';
import { renderTable } from '../output/table.ts';
import { comparePayloads } from './compare-payloads.ts';
import { comparedText } from './difference-text.ts';

/**
 * The information needed to decide about a payload: guard findings, the previous and current figures, and the row
 * differences.
 */
export interface Difference {
  readonly findings: readonly GuardFailure[];
  readonly now: { readonly rows: number; readonly bytes: number };
  readonly last: { readonly run: string; readonly rows: number; readonly bytes: number } | null;
  /** Null if the rows can't be compared; `note` then says why. */
  readonly difference: TableDifference | null;
  readonly note?: string;
}

/** `job` is the payload's job, if the config still contains it. */
export async function differenceOf(
  row: Quarantined,
  { job, store }: { readonly job: Job | undefined; readonly store: Store | undefined },
): Promise<Difference> {
  const { last_run: run, last_rows: rows, last_bytes: bytes, last_path } = row;
  const lastRow = run === null ? undefined : await store?.outbox.ofRun(run);
  const last = last_path === null ? undefined : payloadFileOf({ ...(lastRow ?? row), path: last_path });
  for (const path of [row.path, last_path]) if (path !== null) await store?.blobs.ensureHere(path);
  const compared = await comparePayloads({ last, now: payloadFileOf(row), job });
  return {
    findings: JSON.parse(row.findings) as GuardFailure[],
    now: { rows: row.row_count, bytes: row.bytes },
    last: run === null || rows === null || bytes === null ? null : { run, rows, bytes },
    difference: null,
    ...compared,
  };
}

export function differenceText({ findings, now, last, difference, note = '' }: Difference): string {
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
    '',
    comparedText(difference === null ? { note } : { difference }),
  ].join('\n');
}
