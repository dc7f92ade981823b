import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { redact } from '../../lib/redact.ts';
import { needsPerson, reportLogins } from '../../oauth/report.ts';
import type { Store } from '../../state/store.ts';
import { readNote } from '../config-note.ts';
import { type Overview, readOverview } from '../overview.ts';
import type { Beat } from '../pulse.ts';
import { DiskWatch } from '../report-disk.ts';
import { findFailingChannels } from './channels.ts';
import { findClockSet } from './clock.ts';
import { type Condition, conditionKinds, conditionLevels, type Snapshot } from './condition.ts';
import { findConfigFaults } from './config-faults.ts';
import { diskCondition } from './disk.ts';
import { findFailures } from './failures.ts';
import { loginConditions } from './logins.ts';
import { findRefusals } from './refusals.ts';
import { findRefusedLogins, readLoginHolds } from './refused-logins.ts';
import { findStopped } from './scheduling.ts';
import { Shortages } from './shortages.ts';
import { findSilentSources } from './silences.ts';
import { Staleness } from './staleness.ts';
import { findUnwritable } from './state.ts';
import { findStranded } from './stranded.ts';

/** What a process that reads again and again need not compute each time: calendars, the plan of the day, a walk over the folder. */
export class ConditionCache {
  readonly staleness = new Staleness();
  readonly shortages = new Shortages();
  readonly disk = new DiskWatch();
}

export interface ReadConditionsOptions {
  readonly clock: Clock;
  /** The store as it was read already. */
  readonly overview?: Overview;
  /** How the schedules are, in the process that runs them. Absent: as the daemon wrote it down. */
  readonly beat?: Beat | undefined;
  readonly cache?: ConditionCache;
}

/**
 * Reads everything that is wrong: the one place that judges it. Reads the store and connects to nothing.
 *
 * @param store absent if nothing has run here yet.
 * @returns conditions, errors first, at most one for each subject and kind; empty if everything is as it should be.
 */
export async function readConditions(
  config: Config,
  store: Store | undefined,
  { clock, beat, cache = new ConditionCache(), ...known }: ReadConditionsOptions,
): Promise<Condition[]> {
  const overview = known.overview ?? (await readOverview(config, store, clock));
  const needy = (await reportLogins(config.sources.values(), store, overview.now)).filter(needsPerson);
  const jobs = [...config.jobs.values()].filter(({ enabled }) => enabled);
  const unstored = { config, overview, jobs, needy };
  if (store === undefined) {
    return sorted([...findConfigFaults({ ...unstored, taken: undefined }), ...loginConditions(unstored)]);
  }
  const { daemon } = overview;
  const note = daemon === undefined ? undefined : await readNote(store, daemon.owner);
  const loginHolds = await readLoginHolds(config, store, clock);
  const taken = note?.file === config.file ? note : undefined;
  const snapshot: Snapshot = { ...unstored, store, loginHolds, taken };
  const stale = await cache.staleness.find(snapshot);
  return sorted([
    ...findConfigFaults(snapshot),
    ...(await findFailures(snapshot, new Set(stale.flatMap(({ jobs }) => jobs)))),
    ...stale,
    ...findRefusals(snapshot),
    ...(await cache.shortages.find(snapshot)),
    ...findSilentSources(snapshot),
    ...loginConditions(snapshot),
    ...findRefusedLogins(snapshot),
    ...findStopped(snapshot, beat),
    ...(await findUnwritable(snapshot)),
    ...diskCondition(await cache.disk.look(config, { store, clock }), overview.now),
    ...findStranded(snapshot),
    ...(await findFailingChannels(snapshot)),
    ...(await findClockSet(snapshot)),
  ]);
}

/** Errors first, then by kind; within a kind as found, which is the order of the config. */
function sorted(conditions: readonly Condition[]): Condition[] {
  const ranked = conditions.map((condition) => ({ ...condition, what: redact(condition.what) }));
  const rank = ({ level, kind }: Condition): number =>
    conditionLevels.indexOf(level) * conditionKinds.length + conditionKinds.indexOf(kind);
  return ranked.sort((a, b) => rank(a) - rank(b));
}
