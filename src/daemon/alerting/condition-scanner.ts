import type { Seen } from '../../alerts/book.ts';
import type { Alerts, Occasion } from '../../config/alerts.ts';
import type { Config, Job } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Store } from '../../state/store.ts';
import type { Condition } from '../conditions/condition.ts';
import { ConditionCache, readConditions } from '../conditions/read-conditions.ts';
import type { Liveness } from '../process/heartbeat.ts';
import { readOverview } from '../report/overview.ts';
import { alertConditions } from './alert-conditions.ts';
import { limitsOf } from './route.ts';

export interface ScanOptions {
  readonly config: Config;
  readonly alerts: Alerts;
  readonly store: Store;
  readonly clock: Clock;
  /** Whether the schedules are running; undefined if unknown. */
  readonly liveness: Liveness | undefined;
}

/**
 * Finds all conditions that cause alerts. Reads the store instead of collecting events, so a scan also finds conditions
 * that began earlier or in another process.
 */
export class ConditionScanner {
  readonly cache = new ConditionCache();

  async scan({ config, alerts, store, clock, liveness }: ScanOptions): Promise<Seen> {
    const overview = await readOverview(config, store, clock);
    const watched = [...config.jobs.values()].filter((job) => job.enabled && job.alerts !== false);
    const blank = watched.filter((job) => job.extract === undefined || overview.publishedAsOf(job) === undefined);
    await store.alerts.watch(blank.map(({ name }) => name));
    const conditions = await readConditions(config, store, { clock, overview, liveness, cache: this.cache });
    const given = { config, alerts, hasBeat: liveness !== undefined };
    return { conditions: alertConditions(conditions, given), standing: standingIn(conditions, given) };
  }
}

/** For each alert whose condition this scan no longer found: what the scan with this config says about the alert. */
function standingIn(
  conditions: readonly Condition[],
  {
    config,
    alerts,
    hasBeat,
  }: {
    readonly config: Config;
    readonly alerts: Alerts;
    readonly hasBeat: boolean;
  },
): Seen['standing'] {
  const retried = new Set(conditions.flatMap(({ kind, subject }) => (kind === 'retrying' ? [subject] : [])));
  const logins = new Set([...config.sources.values()].map(({ login }) => login?.name));
  return ({ subject, occasion }) => {
    const [kind = '', name = ''] = split(subject);
    if (kind === 'scheduler') return hasBeat ? 'judged' : 'unknown';
    if (kind === 'clock' || kind === 'database') return 'judged';
    if (kind === 'config') return hasBeat ? 'judged' : 'unknown';
    if (kind === 'source') return config.sources.has(name) ? 'judged' : 'unknown';
    if (kind === 'disk') return config.disk === undefined ? 'unknown' : 'judged';
    if (kind === 'login') return logins.has(name) ? 'judged' : 'unknown';
    // The retried run's end will show whether the failure is over.
    if (occasion === 'failed' && retried.has(subject)) return 'unknown';
    if (kind !== 'job') return config.destinations.has(name) ? 'judged' : 'unknown';
    const job = config.jobs.get(name);
    if (job === undefined) return 'unknown';
    return isMuted(job, occasion as Occasion, alerts) ? 'muted' : 'judged';
  };
}

function split(subject: string): string[] {
  const at = subject.indexOf(':');
  return at === -1 ? [subject] : [subject.slice(0, at), subject.slice(at + 1)];
}

function isMuted(job: Job, occasion: Occasion, alerts: Alerts): boolean {
  if (!job.enabled || job.alerts === false) return true;
  return occasion === 'stale' && limitsOf(job, alerts).staleAfterMs === false;
}
