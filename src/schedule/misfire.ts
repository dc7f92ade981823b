import { firingsBetween, nextFiring, type Schedule } from './schedule.ts';

/** Consecutive firings for which no run starts. */
export interface SkippedFirings {
  /** Due times of the first and last firing, epoch milliseconds. */
  readonly first: number;
  readonly last: number;
  /** Number of firings, counted up to {@link maxCounted}. */
  readonly firings: number;
}

/** What to do about a job's due firings. */
export interface MisfireDecision {
  /** Due time of the firing to run now. Absent if no run starts. */
  readonly fire?: number;
  /** Firings that no run makes up for. */
  readonly skipped?: SkippedFirings;
  /** The next firing, which is in the past if `hasBacklog`; null if the schedule has no more firings. */
  readonly nextAt: number | null;
  /** Whether more missed firings follow once this run has ended. */
  readonly hasBacklog: boolean;
  /** Whether the run makes up for a missed firing. */
  readonly isCatchUp: boolean;
}

/**
 * Maximum delay of a firing that doesn't count as missed. Such delays occur while the daemon restarts or is briefly
 * busy.
 */
export const graceMs = 5 * 60_000;
/**
 * Maximum number of firings to count. A schedule that fires every minute doesn't need an exact count after a year of
 * downtime.
 */
export const maxCounted = 1000;

/** A run that was interrupted longer ago than this isn't repeated. */
const maxLookBackMs = 400 * 86_400_000;

export interface DueState {
  /** The due firing's time in epoch milliseconds; not after `now`. */
  readonly nextAt: number;
  readonly now: number;
  /**
   * When the job began to catch up; absent if it isn't catching up. The policy's `within` is measured from this time.
   */
  readonly behindSince?: number | undefined;
}

/** Applies the schedule's misfire policy to the firings up to now. */
export function decideMisfire(schedule: Schedule, state: DueState): MisfireDecision {
  const { policy } = schedule.misfire ?? { policy: 'run_once' };
  if (policy === 'run_all') return runNext(schedule, state);
  return policy === 'skip' ? runLatest(schedule, state) : runOnce(schedule, state);
}

/**
 * The firing to repeat because its run was interrupted: the last one before `nextAt`. Undefined if the misfire policy
 * skips it because it's too old.
 */
export function firingBefore(
  schedule: Schedule,
  { nextAt, now }: Pick<DueState, 'nextAt' | 'now'>,
): number | undefined {
  const window = schedule.misfire?.policy === 'skip' ? graceMs : Math.min(windowOf(schedule), maxLookBackMs);
  return newestFirings(schedule, { from: now - window, now: Math.min(now, nextAt - 1), max: 1 })[0];
}

/**
 * Number of runs that start for the due firings if they run one at a time from `now` on; at most {@link maxCounted}.
 */
export function runsDue(schedule: Schedule, { nextAt, now }: { nextAt: number | null; now: number }): number {
  let runs = 0;
  let [next, behindSince]: [number | null, number | undefined] = [nextAt, undefined];
  while (next !== null && next <= now && runs < maxCounted) {
    const decision = decideMisfire(schedule, { nextAt: next, now, behindSince });
    if (decision.fire !== undefined) runs++;
    [next, behindSince] = [decision.nextAt, now];
  }
  return runs;
}

/** `run_once`: one run, for the first due firing. */
function runOnce(schedule: Schedule, { nextAt, now }: DueState): MisfireDecision {
  const since = now - windowOf(schedule);
  const rest = { nextAt: nextFiring(schedule, now), hasBacklog: false, isCatchUp: false };
  if (nextAt >= since || firstFrom(schedule, since) <= now) return { fire: nextAt, ...rest };
  return { skipped: skippedBefore(schedule, nextAt, now + 1)!, ...rest };
}

/** `skip`: the last due firing, if it's within the grace period. */
function runLatest(schedule: Schedule, { nextAt, now }: DueState): MisfireDecision {
  const fire = newestFirings(schedule, { from: Math.max(nextAt, now - graceMs), now, max: 1 })[0];
  const fresh = fire ?? (nextAt >= now - graceMs ? nextAt : undefined);
  const skipped = skippedBefore(schedule, nextAt, fresh ?? now + 1);
  return {
    fire: fresh,
    skipped,
    nextAt: nextFiring(schedule, now),
    hasBacklog: false,
    isCatchUp: false,
  };
}

/** `run_all`: the oldest due firing that `within` and `at_most` allow. */
function runNext(schedule: Schedule, { nextAt, now, behindSince }: DueState): MisfireDecision {
  const max = schedule.misfire?.atMost ?? maxCounted;
  const from = Math.max(nextAt, (behindSince ?? now) - windowOf(schedule));
  const wanted = newestFirings(schedule, { from, now, max });
  // After an edit of the schedule, `nextAt` may be a due time of the old schedule.
  const fire = nextAt >= from && wanted.length < max ? nextAt : wanted[0];
  const skipped = skippedBefore(schedule, nextAt, fire ?? now + 1);
  const after = nextFiring(schedule, fire ?? now);
  const hasBacklog = after !== null && after <= now;
  return {
    fire,
    skipped,
    nextAt: after,
    hasBacklog,
    isCatchUp: fire !== undefined && (hasBacklog || behindSince !== undefined || fire < now - graceMs),
  };
}

function windowOf({ misfire }: Schedule): number {
  return Math.max(graceMs, misfire?.withinMs ?? Number.POSITIVE_INFINITY);
}

function firstFrom(schedule: Schedule, from: number): number {
  return nextFiring(schedule, from - 1) ?? Number.POSITIVE_INFINITY;
}

/**
 * The newest firings from `from` to `now`, at most `max`, oldest first. Looks back in growing steps instead of reading
 * all firings.
 */
function newestFirings(schedule: Schedule, { from, now, max }: { from: number; now: number; max: number }): number[] {
  for (let back = 60 * 60_000; ; back *= 4) {
    const start = Math.max(from, now - back);
    const found = [...firingsBetween(schedule, start - 1, now)];
    if (found.length >= max || start === from) return found.slice(-max);
  }
}

/** The firings from `first` (inclusive) to `end` (exclusive); undefined if there are none. */
function skippedBefore(schedule: Schedule, first: number, end: number): SkippedFirings | undefined {
  if (first >= end) return undefined;
  let [last, firings] = [first, 1];
  for (const at of firingsBetween(schedule, first, end - 1)) {
    last = at;
    if (++firings === maxCounted) break;
  }
  return { first, last, firings };
}
