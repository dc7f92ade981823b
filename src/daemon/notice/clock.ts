import type { Store } from '../../state/store.ts';
import { clockSetText, readClockSet } from '../clock-note.ts';
import type { Found } from './look.ts';

/** For so long it is wrong that the clock was set. */
const openMs = 60 * 60_000;

/** A clock that was set by minutes or more, not long ago. */
export async function clockOf(store: Store, now: number): Promise<Found[]> {
  const set = await readClockSet(store);
  if (set === undefined || Math.abs(now - set.at) >= openMs) return [];
  const what = `the clock of the machine was ${clockSetText(set.by)}; jobs may have fired twice, or late`;
  return [{ subject: 'clock', occasion: 'clock', level: 1, cause: '', since: set.at, what }];
}
