import { setImmediate as breathe } from 'node:timers/promises';
import type { Job } from '../../config/config.ts';
import { durationText, instantText } from '../../lib/time-text.ts';
import { nextFiring } from '../../schedule/schedule.ts';
import type { Found, Ground } from './look.ts';
import { limitsOf } from './route.ts';

/** A job that should have fired so often since its last good result is late for a reason. */
const missedFirings = 3;
const leastMs = 3_600_000;
const atOnce = 100;

interface Known {
  readonly published: number;
  readonly schedule: Job['schedule'];
  readonly staleAt: number | undefined;
}

/**
 * Finds jobs whose instance shows data that is too old. Reckoned from the last good publication, or from when the job was
 * first seen where there is none, so it fires though nothing runs. The calendar is only asked when a publication is new.
 */
export class Staleness {
  readonly #known = new Map<string, Known>();

  async find(ground: Ground): Promise<Found[]> {
    const { overview, alerts, jobs } = ground;
    const looked = jobs.filter((job) => isWatched(job, limitsOf(job, alerts).staleAfterMs));
    const published = await publishedOf(looked, ground);
    const blank = looked.filter(({ name }) => !published.has(name)).map(({ name }) => name);
    const seen = await ground.store.alerts.watch(blank);
    const found: Found[] = [];
    for (const [i, job] of looked.entries()) {
      // A calendar takes its time: others have a turn in between.
      if (i % atOnce === atOnce - 1) await breathe();
      const at = published.get(job.name);
      const from = at ?? seen.get(job.name) ?? overview.now;
      const staleAt = this.#staleAt(job, from, ground);
      if (staleAt !== undefined && staleAt <= overview.now) found.push(foundOf(job, { at, from, staleAt }));
    }
    return found;
  }

  #staleAt(job: Job, published: number, { alerts }: Ground): number | undefined {
    const { staleAfterMs } = limitsOf(job, alerts);
    if (typeof staleAfterMs === 'number') return published + staleAfterMs;
    const { name, schedule } = job;
    const known = this.#known.get(name);
    if (known?.published === published && known.schedule === schedule) return known.staleAt;
    const staleAt = bySchedule(job, published);
    this.#known.set(name, { published, schedule, staleAt });
    return staleAt;
  }
}

/** Without a limit of its own only what has a schedule can be late. */
function isWatched({ schedule }: Job, staleAfterMs: number | false | undefined): boolean {
  return staleAfterMs === undefined ? schedule !== undefined : staleAfterMs !== false;
}

/** The third firing after the last publication, and not within an hour; undefined for a job that is never due. */
function bySchedule({ schedule }: Job, published: number): number | undefined {
  if (schedule === undefined) return undefined;
  let at: number | null = published;
  for (let n = 0; n < missedFirings && at !== null; n++) at = nextFiring(schedule, at);
  return at === null ? undefined : Math.max(at, published + leastMs);
}

/** When each job's data was last known to be good; a bulk refresh has no data of its own, there its run counts. */
async function publishedOf(jobs: readonly Job[], { overview, store }: Ground): Promise<Map<string, number>> {
  const published = new Map<string, number>();
  const refreshed = jobs.some(({ extract }) => extract === undefined) ? await store.runs.lastsIn(['refreshed']) : [];
  const runs = new Map(refreshed.map(({ job, started_at }) => [job, started_at]));
  for (const job of jobs) {
    const at = job.extract === undefined ? runs.get(job.name) : overview.publishedAsOf(job);
    if (at !== undefined) published.set(job.name, at);
  }
  return published;
}

function foundOf(job: Job, { at, from, staleAt }: { at: number | undefined; from: number; staleAt: number }): Found {
  const limit = durationText(staleAt - from);
  const what =
    at === undefined
      ? `nothing has been published since the job is known, ${instantText(from)}`
      : `the newest data is of ${instantText(at)}; it should not be older than ${limit}`;
  return { job, subject: `job:${job.name}`, occasion: 'stale', level: 1, cause: '', since: staleAt, what };
}
