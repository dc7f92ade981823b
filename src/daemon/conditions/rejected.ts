import type { OutboxRow } from '../../state/tables.ts';
import { deadFix } from '../explain/dead-fix.ts';
import { reloadStep } from './after-edit.ts';
import type { Condition, Snapshot } from './condition.ts';
import { thresholdsOf } from './limits.ts';

/**
 * Finds quarantined results, payloads rejected by the service, and destinations that refuse Sluice's credentials or
 * don't respond.
 */
export function findRejected(snapshot: Snapshot): Condition[] {
  const { overview, config } = snapshot;
  const owed = overview.waiting.filter(
    ({ state, destination }) => state === 'owed' && config.destinations.has(destination),
  );
  const refused = owed.filter(({ code }) => code === 'LOGIN_NEEDED');
  const stuck = owed.filter(({ code }) => code !== null && code !== 'LOGIN_NEEDED' && code !== 'QUOTA_SPENT');
  return [
    ...settledBadly(snapshot),
    ...[...Map.groupBy(refused, ({ destination }) => destination)].map(([name, rows]) =>
      refusedBy(name, { rows, snapshot }),
    ),
    ...[...Map.groupBy(stuck, ({ destination }) => destination)].map(([name, rows]) =>
      unsentTo(name, { rows, snapshot }),
    ),
  ];
}

/** Finds payloads that a user must decide about. */
function settledBadly({ overview, jobs }: Snapshot): Condition[] {
  return jobs.flatMap((job): Condition[] => {
    const waiting = overview.waitingOf(job.name);
    const held = waiting.findLast(({ state }) => state === 'quarantined');
    const shown = overview.publishedAsOf(job) ?? 0;
    // A superseded dead payload needs no decision: its data source may have been created again, for example. A payload
    // from the same millisecond as the shown data isn't superseded.
    const dead = waiting.findLast(({ state, as_of }) => state === 'dead' && as_of >= shown);
    const basis = { subject: `job:${job.name}`, level: 'error', jobs: [job.name] } as const;
    return [
      ...(held === undefined ? [] : [{ ...basis, ...heldBack(held) }]),
      ...(dead === undefined ? [] : [{ ...basis, ...died(dead), fix: deadFix(dead, job) }]),
    ];
  });
}

function heldBack({ message, code, owed_at, run }: OutboxRow) {
  const what = message ?? 'a guard rejected the result, which is now quarantined; the dashboard keeps its current data';
  return { kind: 'quarantined' as const, since: owed_at, what, ...codeOf(code), fix: `sluice quarantine show ${run}` };
}

function died({ message, code, settled_at, owed_at }: OutboxRow) {
  const what = message ?? 'the service rejected the payload';
  return { kind: 'dead' as const, since: settled_at ?? owed_at, what, ...codeOf(code) };
}

interface Stuck {
  readonly rows: readonly OutboxRow[];
  readonly snapshot: Pick<Snapshot, 'overview' | 'config'>;
}

function refusedBy(name: string, { rows, snapshot: { overview, config } }: Stuck): Condition {
  return {
    subject: `destination:${name}`,
    kind: 'credentials',
    level: 'error',
    since: Math.min(...rows.map(({ last_attempt_at, owed_at }) => last_attempt_at ?? owed_at)),
    what: `${rows[0]!.message ?? 'the credentials were refused'}; ${waitText(rows)}`,
    jobs: jobsOf(rows, config),
    code: 'LOGIN_NEEDED',
    fix: `fix the credentials of the ${name} destination${reloadStep(overview)}; ${
      overview.daemon === undefined
        ? 'the next "sluice sync" sends the unsent payloads'
        : 'unsent payloads are then sent'
    }`,
  };
}

/**
 * A destination that accepted a payload within the last minute is reachable, even if other payloads are still waiting.
 * Sending is retried automatically, so the condition starts as a warning.
 */
function unsentTo(name: string, { rows, snapshot: { overview, config } }: Stuck): Condition {
  const takenAt = overview.lastTakenAt(rows[0]!.url) ?? 0;
  const since = Math.max(takenAt, Math.min(...rows.map(({ waiting_since }) => waiting_since)));
  const { message, code } = rows.at(-1)!;
  return {
    subject: `destination:${name}`,
    kind: 'unsent',
    level: overview.now - since >= thresholdsOf(config).unsentAfterMs ? 'error' : 'warning',
    since,
    what: `${message ?? 'uploads are failing'}; ${waitText(rows)}`,
    jobs: jobsOf(rows, config),
    ...codeOf(code),
    fix: 'to see the cause, run "sluice check --connect"; unsent payloads are sent as soon as the service accepts them again',
  };
}

const jobsOf = (rows: readonly OutboxRow[], { jobs }: Snapshot['config']): string[] =>
  [...new Set(rows.map(({ job }) => job))].filter((job) => jobs.has(job));

function waitText(rows: readonly OutboxRow[]): string {
  const jobs = new Set(rows.map(({ job }) => job)).size;
  return jobs === 1
    ? '1 job has an unsent payload; no data is lost'
    : `${jobs} jobs have unsent payloads; no data is lost`;
}

const codeOf = (code: string | null) => (code === null ? {} : { code });
