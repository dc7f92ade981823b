import type { Condition } from '../../alerts/alert.ts';
import type { Seen } from '../../alerts/book.ts';
import type { Alerts, Occasion } from '../../config/alerts.ts';
import type { Config, Job } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { redact } from '../../lib/redact.ts';
import type { LoginReport } from '../../oauth/report.ts';
import { needsPerson, reportLogins } from '../../oauth/report.ts';
import type { Store } from '../../state/store.ts';
import type { Overview } from '../overview.ts';
import { readOverview } from '../overview.ts';
import type { Beat } from '../pulse.ts';
import { DiskWatch } from '../report-disk.ts';
import { clockOf } from './clock.ts';
import { differences } from './differences.ts';
import { failures } from './failures.ts';
import { fillingOf } from './filling.ts';
import { refusals } from './refusals.ts';
import { limitsOf, routeOf } from './route.ts';
import type { Shortages } from './shortages.ts';
import { silences } from './silences.ts';
import { Staleness } from './staleness.ts';

/** What a condition is, before it is known who hears of it. */
export type Found = Omit<Condition, 'to' | 'remindMs'> & { readonly job?: Job };

/** All that conditions are read from. */
export interface Ground {
  readonly config: Config;
  readonly alerts: Alerts;
  readonly store: Store;
  readonly overview: Overview;
  /** Enabled jobs that somebody wants to hear of. */
  readonly jobs: readonly Job[];
  /** Logins that only a person can mend. */
  readonly needy: readonly LoginReport[];
}

export interface LookGiven {
  readonly config: Config;
  readonly alerts: Alerts;
  readonly store: Store;
  readonly clock: Clock;
  /** How the schedules are; undefined: nobody can tell. */
  readonly beat: Beat | undefined;
}

/**
 * Looks once at everything that people want to hear of. All of it is read from the store, never remembered from events:
 * what happened while nobody looked, or in another process, is found by the next look.
 */
export class Lookout {
  readonly #staleness = new Staleness();
  readonly #shortages: Shortages;
  readonly #disk = new DiskWatch();

  constructor(shortages: Shortages) {
    this.#shortages = shortages;
  }

  async look({ config, alerts, store, clock, beat }: LookGiven): Promise<Seen> {
    const overview = await readOverview(config, store, clock);
    const jobs = [...config.jobs.values()].filter((job) => job.enabled && job.alerts !== false);
    const needy = (await reportLogins(sourcesOf(jobs), store, clock.now())).filter(needsPerson);
    const ground: Ground = { config, alerts, store, overview, jobs, needy };
    const found: Found[] = [
      ...(await failures(ground)),
      ...(await this.#staleness.find(ground)),
      ...refusals(ground),
      ...(await this.#shortages.find(ground)),
      ...silences(ground),
      ...(await differences(ground)),
      ...loginsOf(ground),
      ...silenceOf(beat, overview.now),
      ...(await clockOf(store, overview.now)),
      ...fillingOf(await this.#disk.look(config, { store, clock }), overview.now),
    ];
    return { conditions: found.map((one) => routed(one, alerts)), standing: standingIn(ground, beat !== undefined) };
  }
}

function routed({ job, ...found }: Found, alerts: Alerts): Condition {
  const to = routeOf({ occasion: found.occasion, ...(job === undefined ? {} : { job }) }, alerts);
  return { ...found, what: redact(found.what), to, remindMs: limitsOf(job, alerts).remindMs };
}

function* sourcesOf(jobs: readonly Job[]) {
  for (const { extract } of jobs) if (extract !== undefined) yield extract.source;
}

function loginsOf({ needy, overview }: Ground): Found[] {
  return needy.map(({ login, sources, state, expires_at, message }) => {
    const using = [...new Set(sources)].join(', ');
    const ends = expires_at === undefined ? '' : ` at ${new Date(expires_at).toISOString()}`;
    const why =
      state === 'ends soon' ? `its token ends${ends}, and nothing renews it` : (message ?? 'nobody has logged in');
    return {
      subject: `login:${login}`,
      occasion: 'login',
      level: state === 'ends soon' ? 1 : 2,
      cause: '',
      since: overview.now,
      what: using === '' ? why : `${why}; used by ${using}`,
    };
  });
}

function silenceOf(beat: Beat | undefined, now: number): Found[] {
  if (beat === undefined || beat.ticking) return [];
  return [{ subject: 'scheduler', occasion: 'scheduler', level: 1, cause: '', since: now, what: beat.said }];
}

/** What a look over this config can say of what it has not found. */
function standingIn({ config, alerts }: Ground, hasBeat: boolean): Seen['standing'] {
  const logins = new Set([...config.sources.values()].map(({ login }) => login?.name));
  return ({ subject, occasion }) => {
    const [kind = '', name = ''] = split(subject);
    if (kind === 'scheduler') return hasBeat ? 'judged' : 'unknown';
    if (kind === 'clock') return 'judged';
    if (kind === 'config') return hasBeat ? 'judged' : 'unknown';
    if (kind === 'source') return config.sources.has(name) ? 'judged' : 'unknown';
    if (kind === 'disk') return config.disk === undefined ? 'unknown' : 'judged';
    if (kind === 'login') return logins.has(name) ? 'judged' : 'unknown';
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
