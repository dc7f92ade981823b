import { durationText } from '../../lib/time-text.ts';
import type { Store } from '../../state/store.ts';

/** A clock change that is stored for alerts. Times are in milliseconds. */
export interface ClockSet {
  /** The time of the change, according to the new clock. */
  readonly at: number;
  /** The size of the change. Negative if the clock was set back. */
  readonly by: number;
}

const settingName = 'clock.set';
/** Minimum size of a clock change that causes an alert. */
const alertedMs = 5 * 60_000;

/** Stores a clock change if it's large enough to cause an alert. */
export async function noteClockSet(store: Store, set: ClockSet): Promise<void> {
  if (Math.abs(set.by) >= alertedMs) await store.settings.set(settingName, JSON.stringify(set));
}

/** Returns the last clock change that was large enough to cause an alert, or undefined if there was none. */
export async function readClockSet(store: Store): Promise<ClockSet | undefined> {
  const text = await store.settings.find(settingName);
  return text === undefined ? undefined : (JSON.parse(text) as ClockSet);
}

/** `set back by 30 min`. */
export function clockSetText(by: number): string {
  return `set ${by < 0 ? 'back' : 'forward'} by ${durationText(1000 * Math.round(Math.abs(by) / 1000))}`;
}
