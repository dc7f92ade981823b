import type { Occasion } from '../config/alerts.ts';
import type { AlertCondition } from './alert.ts';

/** What a group's alerts have in common: occasion, cause, channels and reminder interval. */
export interface Group {
  readonly occasion: Occasion;
  readonly cause: string;
  readonly remindMs: number;
  readonly to: readonly string[];
}

type Grouped = Pick<AlertCondition, 'occasion' | 'remindMs' | 'to'>;

/** The string that identifies a group in the state. */
export function keyOfGroup({ occasion, remindMs, to }: Grouped, cause: string): string {
  return JSON.stringify([occasion, cause, remindMs, to]);
}

/** Parses a string from {@link keyOfGroup}. */
export function groupOfKey(key: string): Group {
  const [occasion, cause, remindMs, to] = JSON.parse(key) as [Occasion, string, number, string[]];
  return { occasion, cause, remindMs, to };
}
