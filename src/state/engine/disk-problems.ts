import { bytesText } from '../../lib/bytes-text.ts';
import { countOf } from '../../lib/count-text.ts';
import { Problem } from '../../lib/problem.ts';
import type { DiskUsage, DiskUsageKind } from '../disk-usage.ts';

/** What a kind of files is called, and what makes room where it takes too much. */
const kinds: Readonly<Record<DiskUsageKind, { readonly name: string; readonly mend?: string }>> = {
  owed: { name: 'owed', mend: 'send what is owed: sluice sync; "sluice status" says what it waits for' },
  quarantined: { name: 'held back by guards', mend: 'decide on what guards hold back: sluice quarantine' },
  dead: { name: 'dead', mend: 'mend what the service has against it, then: sluice dead send JOB' },
  kept: { name: 'kept for a rollback', mend: 'keep fewer delivered payloads: "keep" in the config' },
  rows: {
    name: 'rows that jobs keep',
    mend: 'keep fewer rows: "retain" in "write" of the job, or begin anew with sluice state clear JOB',
  },
  spooling: {
    name: 'runs under way or cut off',
    mend: 'wait for the runs under way; what dead ones left goes with the next start',
  },
  history: { name: 'history' },
  former: { name: 'former states', mend: 'delete what a restore put aside: rm -r before-… in the state folder' },
  other: { name: 'other files' },
};

/** `owed 3.2 GB in 12 files, kept for a rollback 1.1 GB in 40 files`. */
export function diskUsageText(holdings: readonly DiskUsage[]): string {
  return holdings
    .map(({ kind, bytes, files }) => `${kinds[kind].name} ${bytesText(bytes)} in ${countOf(files, 'file')}`)
    .join(', ');
}

/** What a person can do to make room, the greatest gain first; undefined where nothing is to be gained. */
export function roomAdvice(holdings: readonly DiskUsage[]): string | undefined {
  return holdings.map(({ kind }) => kinds[kind].mend).find((mend) => mend !== undefined);
}

export function diskLimit(seen: {
  folder: string;
  used: number;
  wanted: number;
  limitBytes: number;
  holdings: readonly DiskUsage[];
}): Problem {
  const { folder, used, wanted, limitBytes, holdings } = seen;
  return new Problem({
    code: 'DISK_LIMIT',
    family: 'try_later',
    message: `The state folder ${folder} has no room for more`,
    where: { stage: 'spool' },
    seen: `${bytesText(used)}, and ${bytesText(wanted)} to come: ${diskUsageText(holdings)}`,
    allowed: `${bytesText(limitBytes)} (disk.limit_megabytes)`,
    next: adviceOr(holdings, 'raise disk.limit_megabytes and start anew'),
  });
}

export function diskFull(seen: {
  folder: string;
  free: number;
  keptFree: number;
  holdings: readonly DiskUsage[];
}): Problem {
  const { folder, free, keptFree, holdings } = seen;
  return new Problem({
    code: 'DISK_FULL',
    family: 'try_later',
    message: `There is no room for the payload in ${folder}`,
    where: { stage: 'spool' },
    seen: `${bytesText(free)} free on its disk; the folder holds: ${diskUsageText(holdings)}`,
    allowed: `${bytesText(keptFree)} of the disk stay free for others (disk.free_megabytes)`,
    next: `Free some space there, or move the state folder to a larger disk; ${adviceOr(holdings, 'sluice doctor')}`,
  });
}

/** The run that is refused takes its own files with it: to wait for it makes no room. */
function adviceOr(holdings: readonly DiskUsage[], other: string): string {
  const advice = roomAdvice(holdings.filter(({ kind }) => kind !== 'spooling'));
  return advice === undefined ? other : `${advice}; or ${other}`;
}
