import { bytesText } from '../../lib/bytes-text.ts';
import { countOf } from '../../lib/count-text.ts';
import { Problem } from '../../lib/problem.ts';
import type { DiskUsage, DiskUsageKind } from '../disk-usage.ts';

/** For each kind of file, its label and advice on how to free its space. */
const kinds: Readonly<Record<DiskUsageKind, { readonly name: string; readonly fix?: string }>> = {
  owed: {
    name: 'owed',
    fix: 'send the unsent payloads with "sluice sync"; "sluice status" shows why they are waiting',
  },
  quarantined: { name: 'quarantined', fix: 'approve or discard quarantined payloads: "sluice quarantine"' },
  dead: { name: 'dead', fix: 'fix the cause that the service reported, then run "sluice dead send JOB"' },
  kept: { name: 'kept for a rollback', fix: 'lower "keep" in the config to keep fewer delivered payloads' },
  rows: {
    name: 'kept rows',
    fix: 'keep fewer rows: set "retain" in the job\'s "write", or start over with "sluice state clear JOB"',
  },
  spooling: {
    name: 'running or interrupted runs',
    fix: 'wait for the current runs to end; the next start deletes the files of interrupted runs',
  },
  history: { name: 'history' },
  former: {
    name: 'previous states',
    fix: 'delete the states that a restore moved aside: rm -r before-… in the state folder',
  },
  other: { name: 'other files' },
};

/** Describes disk usage as text, such as `owed 3.2 GB in 12 files, kept for a rollback 1.1 GB in 40 files`. */
export function diskUsageText(holdings: readonly DiskUsage[]): string {
  return holdings
    .map(({ kind, bytes, files }) => `${kinds[kind].name} ${bytesText(bytes)} in ${countOf(files, 'file')}`)
    .join(', ');
}

/** Returns advice on how to free the most space, or undefined if no space can be freed. */
export function roomAdvice(holdings: readonly DiskUsage[]): string | undefined {
  return holdings.map(({ kind }) => kinds[kind].fix).find((fix) => fix !== undefined);
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
    message: `Disk limit reached: state folder ${folder}`,
    where: { stage: 'spool' },
    seen: `${bytesText(used)} used, ${bytesText(wanted)} requested: ${diskUsageText(holdings)}`,
    allowed: `${bytesText(limitBytes)} (disk.limit_megabytes)`,
    next: adviceOr(holdings, 'raise disk.limit_megabytes and restart the daemon'),
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
    message: `Disk full: no space for the payload in ${folder}`,
    where: { stage: 'spool' },
    seen: `${bytesText(free)} free on the disk; contents of the folder: ${diskUsageText(holdings)}`,
    allowed: `at least ${bytesText(keptFree)} must stay free (disk.free_megabytes)`,
    next: `free some space, or move the state folder to a larger disk; ${adviceOr(holdings, 'sluice doctor')}`,
  });
}

/**
 * Returns advice on how to free space. Ignores files of current runs: a run whose request for space is rejected deletes
 * its own files, so waiting for current runs doesn't help.
 */
function adviceOr(holdings: readonly DiskUsage[], other: string): string {
  const advice = roomAdvice(holdings.filter(({ kind }) => kind !== 'spooling'));
  return advice === undefined ? other : `${advice}; or ${other}`;
}
