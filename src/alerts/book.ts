import type { AlertChannel, Alerts, Occasion } from '../config/alerts.ts';
import { acceptsAlerts } from '../config/options/alerts.ts';
import type { NewAlertMessage } from '../state/alerts.ts';
import type { Repositories, Store } from '../state/store.ts';
import { type Advance, advance, type Look } from './advance.ts';
import type { Bulletin, Detail } from './alert.ts';
import { composeBulletin, toDescribe } from './compose.ts';

export interface RecordAlertsOptions {
  readonly store: Store;
  /** The effective alert settings. */
  readonly alerts: Alerts;
  /** Path of the config. */
  readonly file: string;
  readonly now: number;
  /** Returns details about a subject to report. Called outside the transaction. */
  readonly describe: (subject: string, occasion: Occasion) => Promise<Detail | undefined>;
}

/** The result of one scan. */
export type Seen = Pick<Look, 'conditions' | 'standing'>;

/** The messages that the scan queued. */
export interface Booked {
  readonly bulletins: readonly Bulletin[];
  /** When there will be more to report even if no condition changes (epoch ms); undefined if never. */
  readonly dueAt: number | undefined;
}

/**
 * Stores a scan's result and queues messages for the channels in one transaction. If two processes have the same
 * result, only one of them sends it. A crash neither loses nor repeats a message.
 */
export async function book(given: RecordAlertsOptions, seen: Seen): Promise<Booked> {
  const { store } = given;
  const first = await advanceOn(store, given, seen);
  if (isNothing(first)) return { bulletins: [], dueAt: first.dueAt };
  const details = await describeAll(given, first.bulletins);
  return store.transaction(async (parts) => {
    const next = await advanceOn(parts, given, seen);
    await parts.alerts.change({ ...next, tell: next.bulletins.flatMap((one) => tellingsOf(one, { given, details })) });
    return { bulletins: next.bulletins, dueAt: next.dueAt };
  });
}

async function advanceOn(
  { alerts: kept }: Pick<Repositories, 'alerts'>,
  given: RecordAlertsOptions,
  seen: Seen,
): Promise<Advance> {
  const { now, alerts } = given;
  const { settleMs, recovery } = alerts;
  return advance({ now, settleMs, recovery, ...seen, rows: await kept.all(), groups: await kept.groups() });
}

function isNothing({ put, drop, groups, dropGroups }: Advance): boolean {
  return put.length + drop.length + groups.length + dropGroups.length === 0;
}

async function describeAll(
  { describe }: RecordAlertsOptions,
  bulletins: readonly Bulletin[],
): Promise<Map<string, Detail>> {
  const details = new Map<string, Detail>();
  for (const bulletin of bulletins) {
    const { occasion } = bulletin;
    for (const subject of toDescribe(bulletin)) {
      const detail = await describe(subject, occasion);
      if (detail !== undefined) details.set(`${occasion} ${subject}`, detail);
    }
  }
  return details;
}

function tellingsOf(
  bulletin: Bulletin,
  { given, details }: { given: RecordAlertsOptions; details: ReadonlyMap<string, Detail> },
): NewAlertMessage[] {
  const event = composeBulletin(bulletin, {
    ...given,
    detailOf: (subject) => details.get(`${bulletin.occasion} ${subject}`),
  });
  const channels = bulletin.to.filter((name) => isTold(given.alerts.channels.get(name)));
  const body = JSON.stringify(event);
  return channels.map((channel) => ({ id: event.data.id, channel, title: event.data.title, body }));
}

function isTold(channel: AlertChannel | undefined): boolean {
  return channel !== undefined && acceptsAlerts(channel);
}
