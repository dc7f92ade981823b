import type { Occasion } from '../config/alerts.ts';
import type { AlertCondition } from './alert.ts';

/** What is told together: one occasion, one cause, the same people, equally often. */
export interface Group {
  readonly occasion: Occasion;
  readonly cause: string;
  readonly remindMs: number;
  readonly to: readonly string[];
}

type Grouped = Pick<AlertCondition, 'occasion' | 'remindMs' | 'to'>;

/** The text under which the state knows a group of alerts that are told together. */
export function keyOfGroup({ occasion, remindMs, to }: Grouped, cause: string): string {
  return JSON.stringify([occasion, cause, remindMs, to]);
}

/** The group that {@link keyOfGroup} made the text of. */
export function groupOfKey(key: string): Group {
  const [occasion, cause, remindMs, to] = JSON.parse(key) as [Occasion, string, number, string[]];
  return { occasion, cause, remindMs, to };
}
