import { setImmediate as breathe } from 'node:timers/promises';
import type { Job } from '../../config/config.ts';
import { durationText, instantText } from '../../lib/time-text.ts';
import { nextFiring } from '../../schedule/schedule.ts';
import type { Condition, Snapshot } from './condition.ts';
import { staleAfterOf } from './limits.ts';

/** A job is stale after it has missed this many firings since its last good result. */
const missedFirings = 3;
const minStaleMs = 3_600_000;
const atOnce = 100;

interface Known {
  readonly published: number;
  readonly schedule: Job['schedule'];
  readonly words: string;
  readonly staleAt: number | undefined;
}

/**
 * Finds jobs whose instances show stale data. The data's age is measured from the last publication, or from when the
 * job was first seen if nothing was published. The age grows even if nothing runs. Calendars are recomputed only after
 * a new publication.
 */
export class Staleness {
  readonly #known = new Map<string, Known>();

  async find(ground: Snapshot): Promise<Condition[]> {
    const { overview, config, jobs, store } = ground;
    const looked = jobs.filter((job) => isWatched(job, staleAfterOf(job, config)));
    const published = await publishedOf(looked, ground);
    const seen = await store.alerts.watched();
    const pace = await this.#paceOf(ground);
    const found: Condition[] = [];
    for (const [i, job] of looked.entries()) {
      // Computing calendars is slow, so let other events be handled in between.
      if (i % atOnce === atOnce - 1) await breathe();
      const at = published.get(job.name);
      const from = at ?? seen.get(job.name) ?? overview.now;
      const staleAt = this.#staleAt(job, from, { ground, pace: pace(job.name) });
      if (staleAt !== undefined && staleAt <= overview.now) found.push(conditionOf(job, { at, from, staleAt }));
    }
    return found;
  }

  #staleAt(job: Job, published: number, { ground, pace }: { ground: Snapshot; pace: Pace }): number | undefined {
    const staleAfterMs = staleAfterOf(job, ground.config);
    if (typeof staleAfterMs === 'number') return published + staleAfterMs;
    // No job is stale within an hour of its publication. Skipping the calendar in this case keeps the first scan of
    // thousands of jobs from taking seconds.
    if (ground.overview.now < published + minStaleMs) return undefined;
    const { name, schedule } = job;
    const known = this.#known.get(name);
    const words = `${pace.every} ${pace.from}`;
    if (known?.published === published && known.schedule === schedule && known.words === words) return known.staleAt;
    const staleAt = bySchedule(job, published, pace);
    this.#known.set(name, { published, schedule, words, staleAt });
    return staleAt;
  }

  /** A throttled job isn't stale because of the firings that it skips. */
  async #paceOf({ store, overview }: Snapshot): Promise<(job: string) => Pace> {
    const ends = await store.throttledJobs.ends();
    return (job) => {
      const throttle = overview.throttle(job);
      if (throttle === undefined) return { every: 1, from: ends.get(job) ?? Number.NEGATIVE_INFINITY };
      const { every, until } = throttle;
      return every === 0 ? { every: 1, from: until } : { every, from: Number.NEGATIVE_INFINITY };
    };
  }
}

/** How often a job fires at present. */
interface Pace {
  /** Only every nth firing runs; this is n. */
  readonly every: number;
  /** Firings before this time don't count as missed. In epoch milliseconds. */
  readonly from: number;
}

/** A job without its own age limit can be stale only if it has a schedule. */
function isWatched({ schedule }: Job, staleAfterMs: number | false | undefined): boolean {
  return staleAfterMs === undefined ? schedule !== undefined : staleAfterMs !== false;
}

/**
 * Returns the time of the third firing after the last publication, or one hour after the publication, whichever is
 * later. Undefined for a job that is never due.
 */
function bySchedule({ schedule }: Job, published: number, { every, from }: Pace): number | undefined {
  if (schedule === undefined) return undefined;
  let at: number | null = Math.max(published, from);
  for (let n = 0; n < missedFirings * every && at !== null; n++) at = nextFiring(schedule, at);
  return at === null ? undefined : Math.max(at, published + minStaleMs);
}

/**
 * Returns when each job's data was last known to be good. A bulk refresh has no data of its own, so the time of its
 * last run counts.
 */
async function publishedOf(jobs: readonly Job[], { overview, store }: Snapshot): Promise<Map<string, number>> {
  const published = new Map<string, number>();
  const refreshed = jobs.some(({ extract }) => extract === undefined) ? await store.runs.lasts(['refreshed']) : [];
  const runs = new Map(refreshed.map(({ job, started_at }) => [job, started_at]));
  for (const job of jobs) {
    const at = job.extract === undefined ? runs.get(job.name) : overview.publishedAsOf(job);
    if (at !== undefined) published.set(job.name, at);
  }
  return published;
}

function conditionOf(
  { name }: Job,
  { at, from, staleAt }: { at: number | undefined; from: number; staleAt: number },
): Condition {
  const limit = durationText(staleAt - from);
  const what =
    at === undefined
      ? `no data has been delivered since the job was added at ${instantText(from)}`
      : `the newest data is from ${instantText(at)}, but may be at most ${limit} old`;
  const fix = `"sluice history ${name}" shows the job's runs; fix the cause of the failures; then sluice sync ${name}`;
  return { subject: `job:${name}`, kind: 'stale', level: 'error', since: staleAt, what, jobs: [name], fix };
}
