import { countText } from '../../lib/count-text.ts';
import { blockedHolder } from '../../state/runs/blocked-runs.ts';
import { isFailedRun } from '../../state/runs/failed-run.ts';
import type { OutboxRow, RunRow } from '../../state/tables.ts';
import type { Condition, ConditionKind } from '../conditions/condition.ts';
import { triedAgain } from '../retry/explain-attempt.ts';
import { deadFix } from './dead-fix.ts';
import type { Facts, RuleResult } from './explain-facts.ts';
import { checkedAt, ended, extracted, hinderedBy, type Link, owedAt, troubleOf, waitText } from './explain-links.ts';

/**
 * Applies the first rule that matches. Rules for problems that a user must solve come before rules for problems that
 * resolve by themselves.
 */
export function applyRules(facts: Facts): RuleResult {
  const rules = [
    unwritable,
    notThere,
    held,
    heldBack,
    loginRefused,
    triedAgain,
    refused,
    running,
    owed,
    dead,
    neverRan,
    failed,
    late,
  ];
  for (const rule of rules) {
    const judgement = rule(facts);
    if (judgement !== undefined) return judgement;
  }
  return settled(facts);
}

function unwritable({ conditions, waiting, daemonSince }: Facts): RuleResult | undefined {
  const found = conditions.find(({ kind }) => kind === 'state');
  if (found === undefined) return undefined;
  const { since, what, code = '', fix = '' } = found;
  const owed = waiting.filter(({ state }) => state === 'owed').slice(0, 1);
  const because = [{ at: since, message: what, code }, ...owed.flatMap((row) => [owedAt(row), extracted(row)])];
  const next = { message: 'the daemon continues once the state is writable again' };
  return { verdict: conditionVerdicts.state!, because, ...(daemonSince === undefined ? {} : { next }), fix };
}

function notThere({ missing, ...facts }: Facts): RuleResult | undefined {
  if (missing === undefined) return undefined;
  const message = 'the data source that the job declares has not been created yet';
  return { verdict: 'the data source does not exist yet', because: [{ message }], ...upcoming(facts), fix: missing };
}

function held({ hold, job }: Facts): RuleResult | undefined {
  if (hold === undefined) return undefined;
  const message = `${hold.who} put the job on hold${hold.why === '' ? '' : `: ${hold.why}`}`;
  const verdict = hold.who === blockedHolder ? 'on hold' : 'held by a person';
  return { verdict, because: [{ at: hold.since, message }], fix: `sluice resume ${job.name}` };
}

function heldBack({ waiting, ...facts }: Facts): RuleResult | undefined {
  const row = waiting.find(({ state }) => state === 'quarantined');
  if (row === undefined) return undefined;
  const because = [troubleOf(row, 'a guard quarantined the payload'), extracted(row)];
  return { verdict: 'quarantined', because, ...upcoming(facts), fix: `sluice quarantine show ${row.run}` };
}

function loginRefused(facts: Facts): RuleResult | undefined {
  const { conditions, waiting } = facts;
  const refusal = conditions.find(({ kind }) => kind === 'login_refused');
  if (refusal === undefined || waiting.some(({ state }) => state === 'owed')) return undefined;
  const { since, what, code = '', fix = '', until } = refusal;
  return { verdict: 'login refused', because: [{ at: since, message: what, code }], ...resuming(facts, until), fix };
}

/** Returns when a job whose login is on hold will run next; empty if the login isn't retried automatically. */
function resuming(facts: Facts, until: number | undefined): Pick<RuleResult, 'next'> {
  const { job, nextAt, now } = facts;
  if (!job.enabled || job.schedule === undefined) return upcoming(facts);
  if (until === undefined || nextAt === undefined)
    return { next: { message: 'nothing until a person resumes the login' } };
  const isTrial = nextAt <= Math.max(until, now);
  const message = isTrial
    ? 'the login is retried; if it succeeds, the job runs'
    : 'runs on schedule if the login works by then';
  return { next: { at: nextAt, message } };
}

function refused({ waiting, runs, ...facts }: Facts): RuleResult | undefined {
  const row = waiting.find(({ state, code }) => state === 'owed' && code === 'LOGIN_NEEDED');
  if (row !== undefined) {
    const because = [troubleOf(row, 'the destination refuses the credentials'), extracted(row)];
    const fix = `fix the credentials of destination ${row.destination}, or grant the missing permission to its user; then sluice sync ${facts.job.name}`;
    return { verdict: 'credentials refused', because, ...upcoming(facts), fix };
  }
  const [last] = runs;
  if (last?.code?.startsWith('LOGIN_') !== true) return undefined;
  const fix = `sluice login ${facts.job.extract?.source.name ?? '<source>'}`;
  return { verdict: 'needs a login', because: [ended(last)], ...upcoming(facts), fix };
}

function running({ runningSince, runs }: Facts): RuleResult | undefined {
  if (runningSince === undefined) return undefined;
  const former = runs.filter(({ state }) => state !== 'running');
  const before = former.slice(0, 1).map(ended);
  const because = [{ at: runningSince, message: 'a run is in progress' }, ...before];
  const next = { message: 'the result is sent when the run ends' };
  const whole = former.findIndex(({ code }) => code !== 'RUN_CANCELLED');
  const cancelled = whole === -1 ? former.length : whole;
  if (cancelled < 2) return { verdict: 'running', because, next };
  const message = `each of the last ${countText(cancelled)} runs was canceled by a newer one before it could finish`;
  const fix = former[0]?.next ?? 'set another overlap policy for the schedule';
  return { verdict: 'running, but runs never finish', because: [...because, { message }], next, fix };
}

function owed({ waiting, daemonSince, now, quotaUntil, ...facts }: Facts): RuleResult | undefined {
  const row = waiting.find(({ state }) => state === 'owed');
  if (row === undefined) return undefined;
  const spent = row.code === 'QUOTA_SPENT' ? quotaUntil : undefined;
  const trouble = row.code === null ? [] : [troubleOf(row, hinderedBy(row))];
  const because = [...trouble, owedAt(row), extracted(row)];
  const at = Math.max(spent ?? row.next_attempt_at ?? now, now);
  const verdict = waitText(row, { spent, now });
  if (daemonSince === undefined) {
    const later =
      '"sluice run" sends the payload when the allowance resets; "sluice plan" shows how many requests each job needs';
    const now = `sluice run, or sluice sync ${facts.job.name}`;
    const fix = `no daemon is running for this state: ${spent === undefined ? now : later}`;
    return { verdict: `${verdict}, but no daemon is running`, because, fix };
  }
  const fix =
    spent === undefined
      ? awaited(row)
      : '"sluice plan" shows how many requests each job needs and how to stay within the allowance';
  return { verdict, because, next: { at, message: 'the daemon sends it' }, ...(row.code === null ? {} : { fix }) };
}

/** Returns what a user can do about a payload that is retried automatically. */
function awaited({ code }: OutboxRow): string {
  return code === 'RATE_LIMITED' || code === 'ACCOUNT_PAUSED' || code === 'SEND_SLOTS_BUSY'
    ? 'no action needed: Sluice sends the payload after the wait; "sluice status" shows the requests made by other programs'
    : 'if the service is down, no action is needed; to see the cause, run "sluice check --connect"';
}

function dead({ waiting, ...facts }: Facts): RuleResult | undefined {
  const row = waiting.findLast(({ state }) => state === 'dead');
  const [last] = facts.runs;
  if (row === undefined || (last !== undefined && last.id !== row.run)) return undefined;
  const because = [troubleOf(row, 'the service rejected the payload'), extracted(row)];
  return {
    verdict: 'dead',
    because,
    ...upcoming(facts),
    fix: deadFix(row, facts.job),
  };
}

function neverRan(facts: Facts): RuleResult | undefined {
  if (facts.runs.length > 0) return undefined;
  const because = [
    ...checkedAt(facts.silence),
    { message: facts.job.enabled ? 'the job has never run here' : 'the job is disabled and has never run' },
  ];
  return {
    verdict: 'never ran',
    because,
    ...upcoming(facts),
    fix: facts.silence?.next ?? `sluice sync ${facts.job.name}`,
  };
}

function failed(facts: Facts): RuleResult | undefined {
  const [last] = facts.runs;
  if (last === undefined || !isLost(last)) return undefined;
  const since = facts.runs.findIndex((run) => !isLost(run));
  const streak = since === -1 ? facts.runs.length : since;
  const first = facts.runs[streak - 1]!;
  const more = streak === 1 ? [] : [{ at: first.started_at, message: `${streak} consecutive failures since then` }];
  const good = facts.runs[streak];
  const because = [ended(last), ...more, ...(good === undefined ? [] : [ended(good)])];
  return {
    verdict: isFailing(facts) ? 'failing' : last.state,
    because,
    ...upcoming(facts),
    fix: `${last.next ?? 'sluice check --connect'}; then sluice sync ${facts.job.name}`,
  };
}

/** A quarantined run isn't lost: a user may still release its payload. */
const isLost = ({ state }: RunRow): boolean => isFailedRun(state) && state !== 'quarantined';

/** A stopped run isn't a failure. */
const isFailing = ({ conditions, job }: Facts): boolean =>
  !job.enabled ||
  conditions.some(({ kind }) => kind === 'failed' || kind === 'login' || kind === 'login_refused' || kind === 'dead');

/** Matches if the last run succeeded but the next run is overdue. */
function late(facts: Facts): RuleResult | undefined {
  const { job, runs, nextAt, now, daemonSince, stopped } = facts;
  const [last] = runs;
  if (!job.enabled || last === undefined || nextAt === undefined || nextAt > now) return undefined;
  // Without a daemon, a timer or a user may be running the jobs.
  if (daemonSince === undefined && last.started_at >= nextAt) return undefined;
  const due = { at: nextAt, message: 'a run was due' };
  if (daemonSince === undefined) {
    const because = [due, { message: 'no daemon is running for this state' }, ended(last)];
    return {
      verdict: 'late: no daemon is running',
      because,
      fix: `sluice run, or, for a single run, sluice sync ${job.name}`,
    };
  }
  if (stopped !== undefined) {
    const because = [due, { message: `the daemon's schedules have stopped: ${stopped}` }, ended(last)];
    return {
      verdict: 'late: the schedules have stopped',
      because,
      fix: 'run "sluice health", then restart the daemon',
    };
  }
  const because = [due, { message: 'other jobs are ahead in the queue' }, ended(last)];
  return { verdict: 'due, queued', because, next: { message: 'runs when one of them ends' } };
}

const verdicts: Partial<Record<RunRow['state'], string>> = {
  unchanged: 'up to date, nothing new in the source',
  discarded: 'showing older data: a person discarded the last result',
};

/** Verdicts for a job whose last run succeeded even though there is a problem. */
const conditionVerdicts: Readonly<Partial<Record<ConditionKind, string>>> = {
  left_out: 'left out because of an error in the config',
  failed: 'failing',
  blocked: 'on hold',
  dead: 'dead',
  login: 'needs a login',
  login_refused: 'login refused',
  quota: 'runs less often than scheduled',
  retrying: 'waiting for its source',
  source: 'the next run will fail',
  stale: 'late',
  daemon: 'late: no daemon is running',
  scheduler: 'late: the schedules have stopped',
  state: 'the state is not writable',
};

/**
 * Applies if no other rule matches: the job's target shows the last run's result, and is up to date unless a condition
 * says otherwise.
 */
function settled(facts: Facts): RuleResult {
  const [last] = facts.runs;
  if (!facts.job.enabled) return { verdict: 'showing the last result: the job is disabled', because: [ended(last!)] };
  const [worst] = facts.conditions;
  if (worst === undefined) {
    return { verdict: verdicts[last!.state] ?? 'up to date', because: [ended(last!)], ...upcoming(facts) };
  }
  return {
    verdict: conditionVerdicts[worst.kind] ?? 'needs attention',
    because: [...facts.conditions.flatMap((condition) => linksOf(condition, facts)), ended(last!)],
    ...upcoming(facts),
    fix: worst.fix,
  };
}

function linksOf({ kind, since, what, code }: Condition, { silence, throttle }: Facts): Link[] {
  if (kind === 'source' && silence !== undefined) return checkedAt(silence);
  if (kind === 'quota' && throttle !== undefined)
    return [{ at: throttle.since, message: `the job ${throttle.message}` }];
  return [{ at: since, message: what, code }];
}

function upcoming({
  job,
  nextAt,
  daemonSince,
  now,
  throttle,
}: Omit<Facts, 'waiting' | 'runs'>): Pick<RuleResult, 'next'> {
  if (!job.enabled) return { next: { message: 'nothing: the job is disabled' } };
  if (nextAt === undefined) return { next: { message: 'nothing: the job has no schedule' } };
  if (daemonSince === undefined) return { next: { at: nextAt, message: 'would run, but no daemon is running' } };
  const message = throttle === undefined ? 'runs on schedule' : 'runs, throttled';
  return { next: { at: Math.max(nextAt, now), message } };
}
