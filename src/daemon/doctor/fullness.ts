import type { Config } from '../../config/config.ts';
import { bytesText } from '../../lib/bytes-text.ts';
import { diskUsageIn, totalBytes } from '../../state/disk-usage.ts';
import { diskUsageText, roomAdvice } from '../../state/engine/disk-problems.ts';
import type { OutboxState } from '../../state/tables.ts';
import { bad, type Finding, good } from './finding.ts';

/** From this part of its limit on a folder is worth a look. */
const worthPart = 0.9;

/** How full the state folder is, and of what; `payloads` are those that its outbox knows. */
export function examineFullness(
  { state: folder, disk: limits }: Pick<Config, 'state' | 'disk'>,
  payloads: Iterable<{ readonly path: string; readonly state: OutboxState }>,
): Finding[] {
  if (limits === undefined) return [];
  const holdings = diskUsageIn(folder, payloads);
  const used = totalBytes(holdings);
  const says = `${bytesText(used)} of ${bytesText(limits.limitBytes)}: ${diskUsageText(holdings)}`;
  if (used < limits.limitBytes * worthPart) return [good('state size', says)];
  return [bad('state size', says, roomAdvice(holdings) ?? 'raise disk.limit_megabytes in the config')];
}
