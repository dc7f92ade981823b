import type { Occasion } from '../config/alerts.ts';
import { exponentialMs } from '../lib/backoff.ts';
import type { AlertGroupRow, AlertRow } from '../state/tables.ts';
import type { AlertCondition, Bulletin, Mention } from './alert.ts';

/** The current conditions and the stored state of alerts. Times are in epoch milliseconds. */
export interface Look {
  readonly now: number;
  /** How long a change is held back so that other changes in its group can be reported with it. */
  readonly settleMs: number;
  /** Whether to report recoveries. */
  readonly recovery: boolean;
  readonly conditions: readonly AlertCondition[];
  /**
   * The status of a stored row without a current condition. `judged`: the condition is over. `unknown`: this scan
   * doesn't know the subject or didn't check it. `muted`: alerts about the subject are disabled.
   */
  readonly standing: (row: Pick<AlertRow, 'subject' | 'occasion'>) => 'judged' | 'unknown' | 'muted';
  readonly rows: readonly AlertRow[];
  readonly groups: readonly AlertGroupRow[];
}

/** The state changes and messages that result from one scan. */
export interface Advance {
  readonly put: readonly AlertRow[];
  readonly drop: readonly AlertRow[];
  readonly groups: readonly AlertGroupRow[];
  readonly dropGroups: readonly string[];
  readonly bulletins: readonly Bulletin[];
  /** When a pending change must be reported; undefined if no change is pending. */
  readonly dueAt: number | undefined;
}

/**
 * Backoff between messages about a group: 10, 30 and 90 minutes, then four hours. The backoff starts over after a
 * period without messages that is as long as the reminder interval, but at least four hours.
 */
const pauses = { firstMs: 600_000, maxMs: 4 * 3_600_000, factor: 3 };
/** A row belongs to a removed job if no scan has known its subject for this long. */
const forgetMs = 30 * 86_400_000;
/** How often an unchanged row is saved again, so that it isn't deleted while its subject still exists. */
const seenMs = 86_400_000;

/**
 * The alert state machine. For each subject and occasion, an alert opens once, escalates at most once and recovers
 * once. A group's alerts are sent as one message after a settling time, during which other alerts with the same cause
 * can join the group. The pauses between later messages increase. Only a few messages are therefore sent, even if one
 * cause makes a thousand jobs fail or flaps all day. Changes that are reverted between two messages aren't reported.
 * This function is pure: the same input gives the same output in every process.
 */
export function advance(look: Look): Advance {
  const rows = new Map(look.rows.map((row) => [keyOf(row), sane(row, look.now)]));
  const before = new Map(look.rows.map((row) => [keyOf(row), row]));
  for (const condition of look.conditions) {
    const key = keyOf(condition);
    rows.set(key, noticed(rows.get(key), condition, look.now));
  }
  const isTrue = new Set(look.conditions.map(keyOf));
  for (const [key, row] of rows) {
    if (isTrue.has(key)) continue;
    const next = missed(row, look);
    if (next === undefined) rows.delete(key);
    else rows.set(key, next);
  }
  const reported = reportGroups(look, rows);
  const put = [...rows].flatMap(([key, row]) => (isSame(before.get(key), row) ? [] : [row]));
  const drop = look.rows.filter((row) => !rows.has(keyOf(row)));
  return { put, drop, ...reported };
}

function keyOf({ subject, occasion }: Pick<AlertRow, 'subject' | 'occasion'>): string {
  return JSON.stringify([subject, occasion]);
}

/** Replaces future times with the current time, so that no alert waits longer after the clock was set back. */
function sane(row: AlertRow, now: number): AlertRow {
  if (row.changed_at <= now && row.seen_at <= now && (row.cleared_at ?? 0) <= now) return row;
  const cleared = row.cleared_at === null ? null : Math.min(row.cleared_at, now);
  return {
    ...row,
    changed_at: Math.min(row.changed_at, now),
    seen_at: Math.min(row.seen_at, now),
    cleared_at: cleared,
  };
}

function noticed(row: AlertRow | undefined, condition: AlertCondition, now: number): AlertRow {
  const { subject, occasion, level, since, what, code = null } = condition;
  const cause = row?.cause ?? condition.cause;
  const facts = { subject, occasion, level, what, code, cause, group_key: keyOfGroup(condition, cause) };
  if (row === undefined) {
    return { ...facts, since, reported_level: 0, opened_at: now, changed_at: now, cleared_at: null, seen_at: now };
  }
  return {
    ...row,
    ...facts,
    since: Math.min(since, row.since),
    changed_at: level > row.level ? now : row.changed_at,
    cleared_at: null,
    seen_at: now - row.seen_at > seenMs ? now : row.seen_at,
  };
}

/** The next state of a row that has no current condition; undefined if the row must be deleted. */
function missed(row: AlertRow, { now, standing, recovery }: Look): AlertRow | undefined {
  const stands = standing(row);
  if (stands === 'unknown') return now - row.seen_at > forgetMs ? undefined : row;
  if (stands === 'muted' || row.reported_level === 0 || !recovery) return undefined;
  return row.cleared_at === null ? { ...row, cleared_at: now } : row;
}

function reportGroups(look: Look, rows: Map<string, AlertRow>): Omit<Advance, 'put' | 'drop'> {
  const { now } = look;
  // A time in the future was recorded before the clock was set back.
  const groups = look.groups
    .filter(({ reported_at }) => reported_at > now)
    .map((group) => ({ ...group, reported_at: now }));
  const known = new Map([...look.groups, ...groups].map((group) => [group.group_key, group]));
  const ours = [...rows.values()].filter((row) => look.standing(row) !== 'unknown');
  const bulletins: Bulletin[] = [];
  let dueAt: number | undefined;
  for (const [key, members] of Map.groupBy(ours, (row) => row.group_key)) {
    const group = known.get(key);
    const due = dueOf(members, { group, key, look });
    if (due.at > now) {
      dueAt = Math.min(dueAt ?? due.at, due.at);
      continue;
    }
    if (due.why === 'reminder' && group === undefined) {
      // The alert was already reported in another group, because its recipients or its reminder interval have changed
      // since then.
      groups.push({ group_key: key, reported_at: now, step: 1, recurred: 0 });
      continue;
    }
    bulletins.push(bulletinOf(key, members, due.why));
    groups.push({ group_key: key, reported_at: now, step: due.nextStep, recurred: due.recurred ? 1 : 0 });
    for (const row of members) {
      if (row.cleared_at !== null) rows.delete(keyOf(row));
      else if (row.level > row.reported_level) rows.set(keyOf(row), { ...row, reported_level: row.level });
    }
  }
  const used = new Set([...rows.values()].map((row) => row.group_key));
  const dropGroups = look.groups.filter((group) => !used.has(group.group_key) && isCalm(group, now));
  return { bulletins, groups, dropGroups: dropGroups.map(({ group_key }) => group_key), dueAt };
}

interface Due {
  readonly at: number;
  readonly why: 'change' | 'reminder';
  /** The number of messages about the group, including this one. This number determines the next pause. */
  readonly nextStep: number;
  /** Whether the cause returned or affected more subjects after the group's first message. */
  readonly recurred: boolean;
}

function dueOf(
  members: readonly AlertRow[],
  { group, key, look }: { group: AlertGroupRow | undefined; key: string; look: Look },
): Due {
  const { now, settleMs } = look;
  const reportedAt = group?.reported_at ?? 0;
  const changes = members.flatMap((row) => {
    if (row.cleared_at !== null) return [row.cleared_at];
    return row.level > row.reported_level ? [row.changed_at] : [];
  });
  if (changes.length === 0) {
    const at = group === undefined ? now : reportedAt + groupOfKey(key).remindMs;
    return { at, why: 'reminder', nextStep: 1, recurred: false };
  }
  const known = group === undefined || isCalm(group, now) ? undefined : group;
  const step = known?.step ?? 0;
  const settledAt = Math.min(...changes) + settleMs;
  const open = members.filter(({ cleared_at }) => cleared_at === null);
  const isNew = open.some(({ reported_level }) => reported_level === 0);
  const recurred = known !== undefined && (known.recurred === 1 || isNew);
  // If no alert was added since the first message, this isn't a storm. The first recovery and the end are then reported
  // immediately, and the end doesn't lengthen the next pause. The recoveries in between wait, because a thousand jobs
  // may recover one by one.
  const isRecovery = open.every(({ level, reported_level }) => level <= reported_level);
  if (isRecovery && !recurred && (open.length === 0 || step === 1)) {
    return { at: settledAt, why: 'change', nextStep: open.length === 0 ? Math.max(step, 1) : 2, recurred };
  }
  const rested = step === 0 ? 0 : reportedAt + exponentialMs(step - 1, pauses);
  return { at: Math.max(settledAt, rested), why: 'change', nextStep: step + 1, recurred };
}

/** If no alert was reported for a whole reminder interval, a new alert is sent without a pause. */
function isCalm({ group_key, reported_at }: AlertGroupRow, now: number): boolean {
  return now - reported_at >= Math.max(groupOfKey(group_key).remindMs, pauses.maxMs);
}

function bulletinOf(key: string, members: readonly AlertRow[], why: Due['why']): Bulletin {
  const { occasion, to } = groupOfKey(key);
  const open = members.filter(({ cleared_at }) => cleared_at === null);
  const fresh = open.filter(({ level, reported_level }) => level > reported_level);
  const recovered = members.filter(({ cleared_at }) => cleared_at !== null);
  return {
    occasion,
    to,
    kind: kindOf(fresh, why),
    fresh: fresh.map(mentionOf),
    open: open.map(mentionOf),
    recovered: recovered.map(mentionOf),
  };
}

function kindOf(fresh: readonly AlertRow[], why: Due['why']): Bulletin['kind'] {
  if (why === 'reminder') return 'reminder';
  if (fresh.length === 0) return 'recovered';
  return fresh.every(({ reported_level }) => reported_level > 0) ? 'worse' : 'opened';
}

function mentionOf({ subject, level, since, what, code }: AlertRow): Mention {
  return { subject, level, since, what, code };
}

function isSame(before: AlertRow | undefined, row: AlertRow): boolean {
  if (before === undefined) return false;
  return (Object.keys(row) as (keyof AlertRow)[]).every((name) => before[name] === row[name]);
}

/** What the alerts in a group have in common: occasion, cause, channels and reminder interval. */
type Group = Pick<AlertCondition, 'occasion' | 'cause' | 'remindMs' | 'to'>;

type Grouped = Pick<AlertCondition, 'occasion' | 'remindMs' | 'to'>;

/** The string that identifies a group in the stored state. */
function keyOfGroup({ occasion, remindMs, to }: Grouped, cause: string): string {
  return JSON.stringify([occasion, cause, remindMs, to]);
}

/** Parses a string that {@link keyOfGroup} returned. */
function groupOfKey(key: string): Group {
  const [occasion, cause, remindMs, to] = JSON.parse(key) as [Occasion, string, number, string[]];
  return { occasion, cause, remindMs, to };
}
