import { nearest } from '../../lib/nearest.ts';
import { cronFault } from '../../schedule/cron.ts';
import type { Faults } from '../text/faults.ts';
import { isBroken, type Part } from '../text/variables.ts';

/** The fields, separated by one space. */
export function readCron(at: Part, faults: Faults): string | undefined {
  const cron = String(at.value);
  const fault = isBroken(at) ? undefined : cronFault(cron);
  if (fault === undefined) return cron.trim().replace(/\s+/g, ' ');
  const meant = /\s/.test(cron.trim())
    ? undefined
    : nearest(cron.trim(), ['manual', '@hourly', '@daily', '@weekly', '@monthly', '@yearly']);
  faults.add({
    code: 'CONFIG_CRON',
    message: `Invalid schedule: ${fault}`,
    path: at.path,
    seen: JSON.stringify(cron),
    allowed: 'minute (0-59), hour (0-23), day of month (1-31), month (1-12 or JAN-DEC), day of week (0-7 or SUN-SAT)',
    next:
      meant === undefined
        ? 'write, for example, "*/15 * * * *" for every 15 minutes, or "30 6 * * MON-FRI" for 6:30 on weekdays'
        : `did you mean "${meant}"?`,
  });
  return undefined;
}
