import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { redact } from '../../lib/redact.ts';
import { needsPerson, reportLogins } from '../../oauth/report.ts';
import type { Store } from '../../state/store.ts';
import { readRecord } from '../config/config-record.ts';
import type { Liveness } from '../process/heartbeat.ts';
import { type Overview, readOverview } from '../report/overview.ts';
import { DiskWatch } from '../report/report-disk.ts';
import { findFailingChannels } from './channels.ts';
import { findClockSet } from './clock.ts';
import { type Condition, conditionKinds, conditionLevels, type Snapshot } from './condition.ts';
import { findConfigFaults } from './config-faults.ts';
import { diskCondition } from './disk.ts';
import { findFailover } from './failover.ts';
import { findFailures } from './failures.ts';
import { findUnfinishedFiles } from './files.ts';
import { loginConditions } from './logins.ts';
import { QuotaShortages } from './quota-short.ts';
import { findRefusedLogins } from './refused-logins.ts';
import { findRejected } from './rejected.ts';
import { findStopped } from './scheduling.ts';
import { findSilentSources } from './source-down.ts';
import { Staleness } from './staleness.ts';
import { findUnwritable } from './state.ts';
import { findStranded } from './stranded.ts';

/**
 * A cache for processes that read conditions repeatedly. It contains calendars, the day's plan and the folder's size.
 */
export class ConditionCache {
  readonly staleness = new Staleness();
  readonly shortages = new QuotaShortages();
  readonly disk = new DiskWatch();
}

export interface ReadConditionsOptions {
  readonly clock: Clock;
  /** The overview, if the caller has already read it. */
  readonly overview?: Overview;
  /**
   * Whether the schedules are running, according to the process that runs them. If absent, the daemon's stored value is
   * used.
   */
  readonly liveness?: Liveness | undefined;
  readonly cache?: ConditionCache;
}

/**
 * Finds all conditions. No other code decides what is wrong. Reads only the store and doesn't open any connections.
 *
 * @param store absent if nothing has run here yet
 * @returns conditions, errors first, at most one per subject and kind; empty if everything is fine
 */
export async function readConditions(
  config: Config,
  store: Store | undefined,
  { clock, liveness, cache = new ConditionCache(), ...known }: ReadConditionsOptions,
): Promise<Condition[]> {
  const overview = known.overview ?? (await readOverview(config, store, clock));
  const needy = (await reportLogins(config.sources.values(), store, overview.now)).filter(needsPerson);
  const jobs = [...config.jobs.values()].filter(({ enabled }) => enabled);
  const unstored = { config, overview, jobs, needy };
  if (store === undefined) {
    return sorted([...findConfigFaults({ ...unstored, taken: undefined }), ...loginConditions(unstored)]);
  }
  const { daemon } = overview;
  const note = daemon === undefined ? undefined : await readRecord(store, daemon.owner);
  const taken = note?.file === config.file ? note : undefined;
  const snapshot: Snapshot = { ...unstored, store, taken };
  const stale = await cache.staleness.find(snapshot);
  return sorted([
    ...findConfigFaults(snapshot),
    ...(await findFailures(snapshot, new Set(stale.flatMap(({ jobs }) => jobs)))),
    ...stale,
    ...findRejected(snapshot),
    ...(await cache.shortages.find(snapshot)),
    ...findSilentSources(snapshot),
    ...loginConditions(snapshot),
    ...findRefusedLogins(snapshot),
    ...findStopped(snapshot, liveness),
    ...(await findUnwritable(snapshot)),
    ...diskCondition(await cache.disk.look(config, { store, clock }), overview.now),
    ...(await findUnfinishedFiles(snapshot)),
    ...findStranded(snapshot),
    ...(await findFailingChannels(snapshot)),
    ...(await findClockSet(snapshot)),
    ...(await findFailover(snapshot)),
  ]);
}

/** Sorts errors first, then by kind. Conditions of the same kind keep the config's order. */
function sorted(conditions: readonly Condition[]): Condition[] {
  const ranked = conditions.map((condition) => ({ ...condition, what: redact(condition.what) }));
  const rank = ({ level, kind }: Condition): number =>
    conditionLevels.indexOf(level) * conditionKinds.length + conditionKinds.indexOf(kind);
  return ranked.sort((a, b) => rank(a) - rank(b));
}
