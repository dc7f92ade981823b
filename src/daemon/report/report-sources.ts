import type { Config, Job, Source } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { countOf } from '../../lib/count-text.ts';
import { instantText } from '../../lib/time-text.ts';
import type { Store } from '../../state/store.ts';
import type { Condition } from '../conditions/condition.ts';
import { readConditions } from '../conditions/read-conditions.ts';
import { loginOf, loginText } from '../login-holds/account.ts';
import { retryText } from '../login-holds/problem.ts';
import { type Overview, readOverview } from './overview.ts';

/** A source in the config, and whether it can be read. All times are in epoch milliseconds. */
export interface SourceReport {
  readonly source: string;
  readonly connector: string;
  /** The login's server and user, such as `db:5432 as etl`. Null if the source has no login. */
  readonly login: string | null;
  readonly jobs: readonly string[];
  /**
   * A description of the source's state: `usable`, or the problem, when it began, and when the source will be tried
   * again.
   */
  readonly state: string;
  /** Set if the source is known to be unreadable at present. */
  readonly trouble?: SourceTrouble;
}

/** The reason why a source can't be read: the most severe of the source's conditions. */
export interface SourceTrouble {
  readonly kind: 'login_refused' | 'login' | 'unavailable' | 'failing';
  readonly since: number;
  /** Names of the jobs that are waiting for the source. */
  readonly waiting: readonly string[];
  /** The time when the source will be tried again, if known. */
  readonly next_at?: number;
  readonly code?: string;
  readonly message: string;
  readonly fix?: string;
}

/** Reports the state of each source according to the stored conditions. Doesn't open any connections. */
export async function reportSources(config: Config, store: Store | undefined, clock: Clock): Promise<SourceReport[]> {
  const overview = await readOverview(config, store, clock);
  const conditions = await readConditions(config, store, { clock, overview });
  return [...config.sources.values()].map((source) => {
    const login = loginOf(source);
    const jobs = [...config.jobs.values()].filter(({ extract }) => extract?.source.name === source.name);
    const readers = jobs.filter(({ enabled }) => enabled);
    const trouble = troubleOf(source, { readers, conditions, overview });
    return {
      source: source.name,
      connector: source.connector.id,
      login: login === undefined ? null : loginText(login),
      jobs: jobs.map(({ name: job }) => job),
      state: trouble === undefined ? 'usable' : stateText(trouble, overview),
      trouble,
    };
  });
}

interface TroubleContext {
  /** The enabled jobs that read the source. */
  readonly readers: readonly Job[];
  readonly conditions: readonly Condition[];
  readonly overview: Overview;
}

function troubleOf(
  { name, login }: Source,
  { readers, conditions, overview }: TroubleContext,
): SourceTrouble | undefined {
  const of = (kind: Condition['kind'], subject: string): Condition | undefined =>
    conditions.find((one) => one.kind === kind && one.subject === subject);
  const refused = of('login_refused', `source:${name}`);
  if (refused !== undefined) return { kind: 'login_refused', ...basis(refused), waiting: refused.jobs };
  const needed = login === undefined ? undefined : of('login', `login:${login.name}`);
  if (needed?.level === 'error') {
    return {
      kind: 'login',
      ...basis(needed),
      waiting: needed.jobs.filter((job) => readers.some((reader) => reader.name === job)),
    };
  }
  const jobsOf = { readers, conditions, overview };
  return waitingFor(jobsOf) ?? silent(of('source', `source:${name}`)) ?? failing(jobsOf);
}

/** Returns the problem according to the conditions of the source's jobs, if those jobs' runs are being retried. */
function waitingFor({ readers, conditions, overview }: TroubleContext): SourceTrouble | undefined {
  const waiting = readers.flatMap(({ name: job }) => {
    const attempt = overview.nextAttempt(job);
    const found = conditions.find(
      ({ kind, subject }) => subject === `job:${job}` && (kind === 'retrying' || kind === 'failed'),
    );
    return attempt === undefined || found === undefined ? [] : [{ job, attempt, found }];
  });
  const [first] = waiting.toSorted((a, b) => a.attempt.at - b.attempt.at);
  if (first === undefined) return undefined;
  return {
    kind: 'unavailable',
    ...basis(first.found),
    since: Math.min(...waiting.map(({ attempt }) => attempt.since)),
    waiting: waiting.map(({ job }) => job),
    next_at: first.attempt.at,
    message: overview.lastRun(first.job)?.message ?? first.found.what,
  };
}

function silent(found: Condition | undefined): SourceTrouble | undefined {
  return found && { kind: 'unavailable', ...basis(found), waiting: [] };
}

function basis({ since, code, what, fix, until }: Condition): Omit<SourceTrouble, 'kind' | 'waiting'> {
  return { since, code, message: what, fix, next_at: until };
}

/**
 * Returns the problem if no job's last run could read the source. Whatever the cause is, the source isn't known to be
 * usable.
 */
function failing({ readers, conditions, overview }: TroubleContext): SourceTrouble | undefined {
  const found = readers.flatMap(({ name }) =>
    conditions.filter(({ kind, subject }) => kind === 'failed' && subject === `job:${name}`),
  );
  const [first] = found.toSorted((a, b) => a.since - b.since);
  if (first === undefined || found.length < readers.length) return undefined;
  const nexts = readers.flatMap((job) => overview.nextRun(job) ?? []);
  return {
    kind: 'failing',
    ...basis(first),
    waiting: [],
    next_at: nexts.length === 0 ? undefined : Math.min(...nexts),
  };
}

function stateText({ kind, since, waiting, next_at, message }: SourceTrouble, { now }: Overview): string {
  if (kind === 'login_refused') return `login on hold; ${retryText({ retry_at: next_at ?? null })}`;
  if (kind === 'login') return `needs a login: ${message}`;
  const wait = waiting.length === 1 ? 'is waiting' : 'are waiting';
  const jobs = waiting.length === 0 ? '' : `; ${countOf(waiting.length, 'job')} ${wait}`;
  const what = kind === 'failing' ? 'next run' : 'next attempt';
  const soon = next_at !== undefined && next_at <= now;
  const next = next_at === undefined ? '' : `; ${what} ${soon ? 'now' : `at ${instantText(next_at)}`}`;
  return `${kind} since ${instantText(since)}${jobs}${next}: ${message}`;
}
