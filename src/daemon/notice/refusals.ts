import type { OutboxRow } from '../../state/tables.ts';
import type { Found, Ground } from './look.ts';

/** What guards hold back, what the service will not take, and destinations that refuse our credentials or do not answer. */
export function refusals({ overview, jobs, config, alerts }: Ground): Found[] {
  const found = jobs.flatMap((job): Found[] => {
    const waiting = overview.waitingOf(job.name);
    const held = waiting.findLast(({ state }) => state === 'quarantined');
    const dead = waiting.findLast(({ state }) => state === 'dead');
    const subject = `job:${job.name}`;
    return [
      ...(held === undefined ? [] : [{ job, subject, ...heldBack(held) }]),
      ...(dead === undefined ? [] : [{ job, subject, ...died(dead) }]),
    ];
  });
  const owed = overview.waiting.filter(
    ({ state, destination }) => state === 'owed' && config.destinations.has(destination),
  );
  const refused = owed.filter(({ code }) => code === 'LOGIN_NEEDED');
  const stuck = owed.filter(({ code }) => code !== null && code !== 'LOGIN_NEEDED' && code !== 'QUOTA_SPENT');
  const away = [...Map.groupBy(stuck, ({ destination }) => destination)].flatMap(([name, rows]) => {
    const found = unsentTo(name, { rows, takenAt: overview.lastTakenAt(rows[0]!.url) });
    return overview.now - found.since >= alerts.unsentAfterMs ? [found] : [];
  });
  return [
    ...found,
    ...[...Map.groupBy(refused, ({ destination }) => destination)].map(([name, rows]) => refusedBy(name, rows)),
    ...away,
  ];
}

function heldBack({ message, code, owed_at }: OutboxRow) {
  const what = message ?? 'a guard held the result back; the dashboard keeps what it shows';
  return { occasion: 'quarantined' as const, level: 1 as const, cause: '', since: owed_at, what, ...codeOf(code) };
}

function died({ message, code, destination, settled_at, owed_at }: OutboxRow) {
  const what = message ?? 'the service will not take the payload';
  const since = settled_at ?? owed_at;
  return {
    occasion: 'dead' as const,
    level: 1 as const,
    cause: `${code ?? ''} ${destination}`,
    since,
    what,
    ...codeOf(code),
  };
}

function refusedBy(name: string, rows: readonly OutboxRow[]): Found {
  const since = Math.min(...rows.map(({ last_attempt_at, owed_at }) => last_attempt_at ?? owed_at));
  const what = `${rows[0]!.message ?? 'it refuses the key'}; ${waitText(rows)}`;
  return {
    subject: `destination:${name}`,
    occasion: 'credentials',
    level: 1,
    cause: '',
    since,
    what,
    code: 'LOGIN_NEEDED',
  };
}

/** One that took something a minute ago is there, whatever else waits. */
function unsentTo(
  name: string,
  { rows, takenAt = 0 }: { rows: readonly OutboxRow[]; takenAt: number | undefined },
): Found {
  const since = Math.max(takenAt, Math.min(...rows.map(({ waiting_since }) => waiting_since)));
  const { message, code } = rows.at(-1)!;
  const what = `${message ?? 'it does not take what is owed'}; ${waitText(rows)}`;
  return { subject: `destination:${name}`, occasion: 'unsent', level: 1, cause: '', since, what, ...codeOf(code) };
}

function waitText(rows: readonly OutboxRow[]): string {
  const jobs = new Set(rows.map(({ job }) => job)).size;
  return jobs === 1
    ? '1 job waits with what it owes, nothing is lost'
    : `${jobs} jobs wait with what they owe, nothing is lost`;
}

const codeOf = (code: string | null) => (code === null ? {} : { code });
