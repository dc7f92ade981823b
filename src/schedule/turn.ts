import { firingsBetween, nextFiring, type Schedule } from './schedule.ts';

/** Firings that come to nothing. */
export interface Passed {
  /** Planned instants of the first and the last, epoch milliseconds. */
  readonly first: number;
  readonly last: number;
  /** How many; counting ends at {@link mostCounted}. */
  readonly firings: number;
}

/** What is to be done when the planned instant of a job has come. */
export interface Turn {
  /** Planned instant of the run to begin now; absent: none begins. */
  readonly fire?: number;
  /** What no run stands for. */
  readonly passed?: Passed;
  /** The firing that is due next, which with `isBehind` is in the past; null when there is none, ever. */
  readonly nextAt: number | null;
  /** More of what was missed has to be made good, once this run has ended. */
  readonly isBehind: boolean;
  /** The run makes good what was missed, on its own. */
  readonly isMadeGood: boolean;
}

/** A firing that is acted on within this time was not missed: the daemon was restarted, or busy for a moment. */
export const graceMs = 5 * 60_000;
/** Nobody needs the exact figure of a minute schedule that slept for a year. */
export const mostCounted = 1000;

/** A run that was cut off longer ago is nothing to go on with. */
const furthestBackMs = 400 * 86_400_000;

export interface Standing {
  /** The firing that is due: epoch milliseconds, not after `now`. */
  readonly nextAt: number;
  readonly now: number;
  /** Since when what was missed is being made good, where that has begun: the window is reckoned from then. */
  readonly behindSince?: number | undefined;
}

/** Acts on the firings up to now as the schedule's misfire policy says. */
export function takeTurn(schedule: Schedule, standing: Standing): Turn {
  const { policy } = schedule.misfire ?? { policy: 'run_once' };
  if (policy === 'run_all') return takeNext(schedule, standing);
  return policy === 'skip' ? takeFresh(schedule, standing) : takeOnce(schedule, standing);
}

/**
 * The last firing before `nextAt`, for a run that was cut off. Undefined where the misfire policy
 * makes nothing good that is so old by now.
 */
export function firingBefore(
  schedule: Schedule,
  { nextAt, now }: Pick<Standing, 'nextAt' | 'now'>,
): number | undefined {
  const window = schedule.misfire?.policy === 'skip' ? graceMs : Math.min(windowOf(schedule), furthestBackMs);
  return newest(schedule, { from: now - window, now: Math.min(now, nextAt - 1), most: 1 })[0];
}

/** How many runs make good what is due: those that would begin one after the other, from `now` on. At most {@link mostCounted}. */
export function runsDue(schedule: Schedule, { nextAt, now }: { nextAt: number | null; now: number }): number {
  let runs = 0;
  let [next, behindSince]: [number | null, number | undefined] = [nextAt, undefined];
  while (next !== null && next <= now && runs < mostCounted) {
    const turn = takeTurn(schedule, { nextAt: next, now, behindSince });
    if (turn.fire !== undefined) runs++;
    [next, behindSince] = [turn.nextAt, now];
  }
  return runs;
}

/** One run, for the first of them. */
function takeOnce(schedule: Schedule, { nextAt, now }: Standing): Turn {
  const since = now - windowOf(schedule);
  const rest = { nextAt: nextFiring(schedule, now), isBehind: false, isMadeGood: false };
  if (nextAt >= since || firstFrom(schedule, since) <= now) return { fire: nextAt, ...rest };
  return { passed: passedBefore(schedule, nextAt, now + 1)!, ...rest };
}

/** The last of them, where it is fresh. */
function takeFresh(schedule: Schedule, { nextAt, now }: Standing): Turn {
  const fire = newest(schedule, { from: Math.max(nextAt, now - graceMs), now, most: 1 })[0];
  const fresh = fire ?? (nextAt >= now - graceMs ? nextAt : undefined);
  const passed = passedBefore(schedule, nextAt, fresh ?? now + 1);
  return {
    fire: fresh,
    passed,
    nextAt: nextFiring(schedule, now),
    isBehind: false,
    isMadeGood: false,
  };
}

/** The oldest of those that the window and the bound leave. */
function takeNext(schedule: Schedule, { nextAt, now, behindSince }: Standing): Turn {
  const most = schedule.misfire?.atMost ?? mostCounted;
  const from = Math.max(nextAt, (behindSince ?? now) - windowOf(schedule));
  const wanted = newest(schedule, { from, now, most });
  // A run that was given up before the schedule was edited stands at an instant that the schedule does not have.
  const fire = nextAt >= from && wanted.length < most ? nextAt : wanted[0];
  const passed = passedBefore(schedule, nextAt, fire ?? now + 1);
  const after = nextFiring(schedule, fire ?? now);
  const isBehind = after !== null && after <= now;
  return {
    fire,
    passed,
    nextAt: after,
    isBehind,
    isMadeGood: fire !== undefined && (isBehind || behindSince !== undefined || fire < now - graceMs),
  };
}

function windowOf({ misfire }: Schedule): number {
  return Math.max(graceMs, misfire?.within ?? Number.POSITIVE_INFINITY);
}

function firstFrom(schedule: Schedule, from: number): number {
  return nextFiring(schedule, from - 1) ?? Number.POSITIVE_INFINITY;
}

/** The newest firings from `from` to `now`, at most `most`, oldest first. Looks back in growing steps, not through all. */
function newest(schedule: Schedule, { from, now, most }: { from: number; now: number; most: number }): number[] {
  for (let back = 60 * 60_000; ; back *= 4) {
    const start = Math.max(from, now - back);
    const found = [...firingsBetween(schedule, start - 1, now)];
    if (found.length >= most || start === from) return found.slice(-most);
  }
}

/** The firings from `first` on that are before `end`; undefined where there are none. */
function passedBefore(schedule: Schedule, first: number, end: number): Passed | undefined {
  if (first >= end) return undefined;
  let [last, firings] = [first, 1];
  for (const at of firingsBetween(schedule, first, end - 1)) {
    last = at;
    if (++firings === mostCounted) break;
  }
  return { first, last, firings };
}
