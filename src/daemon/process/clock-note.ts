import { durationText } from '../../lib/time-text.ts';
import type { Store } from '../../state/store.ts';

/** A clock that was set, as it is kept for those who tell people. Milliseconds. */
export interface ClockSet {
  /** When, by the clock as it was set to. */
  readonly at: number;
  /** By how much; below zero: back. */
  readonly by: number;
}

const settingName = 'clock.set';
/** From this on people are told. */
const alertedMs = 5 * 60_000;

/** Keeps that the clock was set, where it is worth an alert. */
export async function noteClockSet(store: Store, set: ClockSet): Promise<void> {
  if (Math.abs(set.by) >= alertedMs) await store.settings.set(settingName, JSON.stringify(set));
}

/** The last time that the clock was set by so much that people are told; undefined where it never was. */
export async function readClockSet(store: Store): Promise<ClockSet | undefined> {
  const text = await store.settings.find(settingName);
  return text === undefined ? undefined : (JSON.parse(text) as ClockSet);
}

/** `set back by 30 min`. */
export function clockSetText(by: number): string {
  return `set ${by < 0 ? 'back' : 'forward'} by ${durationText(1000 * Math.round(Math.abs(by) / 1000))}`;
}
