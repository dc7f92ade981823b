import type { Config } from '../../config/config.ts';
import { bytesText } from '../../lib/bytes-text.ts';
import { diskUsageIn } from '../../state/disk-usage.ts';
import { diskUsageText } from '../../state/engine/disk-problems.ts';
import type { OutboxState } from '../../state/tables.ts';
import { diskCondition } from '../conditions/disk.ts';
import { diskStatusOf } from '../report/report-disk.ts';
import { bad, type Finding, good } from './finding.ts';

/**
 * Reports how full the state folder is and what it contains, by the same rules as the rest of Sluice. `payloads` are
 * the payloads in the folder's outbox.
 */
export function examineFullness(
  { state: folder, disk: limits }: Pick<Config, 'state' | 'disk'>,
  payloads: Iterable<{ readonly path: string; readonly state: OutboxState }>,
): Finding[] {
  if (limits === undefined) return [];
  const holds = diskUsageIn(folder, payloads);
  const status = diskStatusOf(limits, { folder, holds });
  return [
    ...diskCondition(status, 0).map(({ what, fix = '' }) => bad('state size', what, fix)),
    ...(status.level === 0
      ? [good('state size', `${bytesText(status.bytes)} of ${bytesText(status.limit_bytes)}: ${diskUsageText(holds)}`)]
      : []),
  ];
}
