import type { AlertCondition } from '../../alerts/alert.ts';
import type { Alerts, Occasion } from '../../config/alerts.ts';
import type { Config, Job } from '../../config/config.ts';
import { countOf } from '../../lib/count-text.ts';
import type { Condition, ConditionKind } from '../conditions/condition.ts';
import { limitsOf, routeOf } from './route.ts';

/**
 * The occasion to report for each kind of condition. Other kinds don't cause alerts, because there's no channel for
 * them or because no process would notice that they ended.
 */
const occasionOf: Readonly<Partial<Record<ConditionKind, Occasion>>> = {
  failed: 'failed',
  blocked: 'failed',
  quarantined: 'quarantined',
  dead: 'dead',
  credentials: 'credentials',
  login: 'login',
  login_refused: 'login',
  unsent: 'unsent',
  quota: 'quota',
  source: 'source',
  stale: 'stale',
  scheduler: 'scheduler',
  disk: 'disk',
  files: 'files',
  clock: 'clock',
  failover: 'failover',
};

interface AlertContext {
  readonly config: Config;
  readonly alerts: Alerts;
  /** Whether this process knows if the daemon's schedules are running. */
  readonly hasBeat: boolean;
}

/** Decides when to alert and which channels to use. Only the conditions determine whether something is wrong. */
export function alertConditions(conditions: readonly Condition[], context: AlertContext): AlertCondition[] {
  const { config, hasBeat } = context;
  const conditionAlerts = conditions.flatMap((condition) => {
    const occasion = occasionOf[condition.kind];
    return occasion === undefined || isMuted(condition, config)
      ? []
      : alertOf(condition, { ...context, occasion, job: jobOf(condition, config) });
  });
  return hasBeat ? [...conditionAlerts, ...configAlert(conditions, context)] : conditionAlerts;
}

function alertOf(
  condition: Condition,
  { alerts, occasion, job }: AlertContext & { readonly occasion: Occasion; readonly job: Job | undefined },
): AlertCondition[] {
  const { subject, since, what, code } = condition;
  const level = levelOf(condition, limitsOf(job, alerts));
  if (level === undefined) return [];
  const to = routeOf({ occasion, job }, alerts);
  const { remindMs } = limitsOf(job, alerts);
  const cause = causeOf(condition, job);
  return [{ subject, occasion, level, cause, since, what, code, to, remindMs }];
}

/** Returns the alert's level, or undefined if the condition isn't reported yet. */
function levelOf(
  { kind, level, failures }: Condition,
  { firstFailure, afterFailures }: Pick<Alerts, 'firstFailure' | 'afterFailures'>,
): 1 | 2 | undefined {
  if (kind === 'blocked') return 2;
  if (failures !== undefined) {
    if (afterFailures > 0 && failures >= afterFailures) return 2;
    return firstFailure ? 1 : undefined;
  }
  if ((kind === 'unsent' || kind === 'files') && level === 'warning') return undefined;
  return ['quota', 'login', 'login_refused', 'disk'].includes(kind) && level === 'error' ? 2 : 1;
}

/** Groups failures with the same cause, so that they're reported together. */
function causeOf({ kind, code = '' }: Condition, job: Job | undefined): string {
  if (kind === 'failed' || kind === 'blocked') {
    return `${code} ${job?.extract?.source.name ?? job?.destination.name ?? ''}`;
  }
  return kind === 'dead' ? `${code} ${job?.destination.name ?? ''}` : '';
}

/** Returns the only affected job, whose own channels and limits then apply. */
function jobOf({ subject, jobs }: Condition, config: Config): Job | undefined {
  const isOfJob = subject.startsWith('job:') || (subject.startsWith('source:') && jobs.length === 1);
  return isOfJob ? config.jobs.get(jobs[0] ?? '') : undefined;
}

/** Whether a condition affects only muted jobs, or concerns a login or source that only muted jobs use. */
function isMuted({ subject, jobs }: Condition, config: Config): boolean {
  if (!/^(job|source|login):/.test(subject)) return false;
  return jobs.every((name) => config.jobs.get(name)?.alerts === false);
}

/** A single alert about the whole config file. */
function configAlert(conditions: readonly Condition[], { alerts }: AlertContext): AlertCondition[] {
  const refused = conditions.find(({ kind }) => kind === 'reload_refused');
  const left = conditions.filter(({ kind }) => kind === 'left_out' || kind === 'config');
  const [first] = refused === undefined ? left : [refused];
  if (first === undefined) return [];
  const { since, what, code, subject } = first;
  const more = refused !== undefined || left.length === 1 ? '' : `; ${countOf(left.length - 1, 'more part')} left out`;
  const occasion = 'config';
  return [
    {
      subject: 'config',
      occasion,
      level: 1,
      cause: '',
      since,
      what: `${subject.startsWith('job:') ? `${subject.slice('job:'.length)} was ` : ''}${what}${more}`,
      code,
      to: routeOf({ occasion }, alerts),
      remindMs: alerts.remindMs,
    },
  ];
}
