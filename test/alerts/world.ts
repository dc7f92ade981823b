import { advance } from '../../src/alerts/advance.ts';
import type { AlertCondition, Bulletin } from '../../src/alerts/alert.ts';
import type { AlertGroupRow, AlertRow } from '../../src/state/tables.ts';

export const minute = 60_000;
export const hour = 60 * minute;
export const settleMs = 30_000;
export const remindMs = 24 * hour;

export function failing(job: string, more: Partial<AlertCondition> = {}): AlertCondition {
  return {
    subject: `job:${job}`,
    occasion: 'failed',
    level: 1,
    cause: 'DB_UNREACHABLE shop',
    since: 0,
    what: 'connection refused',
    to: ['ops'],
    remindMs,
    ...more,
  };
}

/** The state machine, with rows in memory, and what a reader of its messages knows. */
export class Told {
  now = Date.UTC(2026, 5, 15);
  rows: AlertRow[] = [];
  groups: AlertGroupRow[] = [];
  recovery = true;
  standing: (row: Pick<AlertRow, 'subject' | 'occasion'>) => 'judged' | 'unknown' | 'muted' = () => 'judged';
  /** All messages, with their times. */
  readonly log: { readonly at: number; readonly bulletin: Bulletin }[] = [];
  dueAt: number | undefined;

  /** Runs one check that finds these conditions. Returns the resulting messages. */
  look(...conditions: readonly AlertCondition[]): readonly Bulletin[] {
    const { now, rows, groups, recovery, standing } = this;
    const next = advance({ now, settleMs, recovery, conditions, standing, rows, groups });
    const changed = new Set([...next.put, ...next.drop].map(({ subject, occasion }) => `${occasion} ${subject}`));
    this.rows = [...rows.filter(({ subject, occasion }) => !changed.has(`${occasion} ${subject}`)), ...next.put];
    const told = new Set([...next.groups.map((group) => group.group_key), ...next.dropGroups]);
    this.groups = [...groups.filter(({ group_key }) => !told.has(group_key)), ...next.groups];
    this.dueAt = next.dueAt;
    for (const bulletin of next.bulletins) this.log.push({ at: now, bulletin });
    return next.bulletins;
  }

  /** The check after some time. */
  after(milliseconds: number, ...conditions: readonly AlertCondition[]): readonly Bulletin[] {
    this.now += milliseconds;
    return this.look(...conditions);
  }
}
