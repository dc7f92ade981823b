import { clockSetText, readClockSet } from '../process/clock-note.ts';
import type { Condition, Snapshot } from './condition.ts';

/** How long the condition lasts after a clock change. */
const openMs = 60 * 60_000;

export const clockAdvice = 'synchronize the clock with a time server: timedatectl set-ntp true; then sluice doctor';

/** Reports that the clock was recently changed by five minutes or more. */
export async function findClockSet({ store, overview }: Pick<Snapshot, 'store' | 'overview'>): Promise<Condition[]> {
  const set = await readClockSet(store);
  if (set === undefined || Math.abs(overview.now - set.at) >= openMs) return [];
  const what = `the machine's clock was ${clockSetText(set.by)}; jobs may have run twice or late`;
  return [{ subject: 'clock', kind: 'clock', level: 'warning', since: set.at, what, jobs: [], fix: clockAdvice }];
}
