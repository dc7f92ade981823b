import type { OutboxRow } from '../../state/tables.ts';
import type { Found, Ground } from './look.ts';

/** What guards hold back, what the service will not take, and destinations that refuse our credentials. */
export function refusals({ overview, jobs, config }: Ground): Found[] {
  const found = jobs.flatMap((job): Found[] => {
    const waiting = overview.waitingOf(job.name);
    const held = waiting.findLast(({ state }) => state === 'quarantined');
    const dead = waiting.findLast(({ state }) => state === 'dead');
    const subject = `job:${job.name}`;
    return [
      ...(held === undefined ? [] : [{ job, subject, ...heldBack(held) }]),
      ...(dead === undefined ? [] : [{ job, subject, ...died(dead) }]),
    ];
  });
  const refused = overview.waiting.filter(({ state, code }) => state === 'owed' && code === 'LOGIN_NEEDED');
  const byDestination = Map.groupBy(refused, ({ destination }) => destination);
  const known = [...byDestination].filter(([name]) => config.destinations.has(name));
  return [...found, ...known.map(([name, rows]) => refusedBy(name, rows))];
}

function heldBack({ message, code, owed_at }: OutboxRow) {
  const what = message ?? 'a guard held the result back; the dashboard keeps what it shows';
  return { occasion: 'quarantined' as const, level: 1 as const, cause: '', since: owed_at, what, ...codeOf(code) };
}

function died({ message, code, destination, settled_at, owed_at }: OutboxRow) {
  const what = message ?? 'the service will not take the payload';
  const since = settled_at ?? owed_at;
  return {
    occasion: 'dead' as const,
    level: 1 as const,
    cause: `${code ?? ''} ${destination}`,
    since,
    what,
    ...codeOf(code),
  };
}

function refusedBy(name: string, rows: readonly OutboxRow[]): Found {
  const since = Math.min(...rows.map(({ last_attempt_at, owed_at }) => last_attempt_at ?? owed_at));
  const jobs = new Set(rows.map(({ job }) => job)).size;
  const waits = `${jobs} ${jobs === 1 ? 'job waits' : 'jobs wait'} with what it owes, nothing is lost`;
  const what = `${rows[0]!.message ?? 'it refuses the key'}; ${jobs === 1 ? waits : waits.replace('it owes', 'they owe')}`;
  return {
    subject: `destination:${name}`,
    occasion: 'credentials',
    level: 1,
    cause: '',
    since,
    what,
    code: 'LOGIN_NEEDED',
  };
}

const codeOf = (code: string | null) => (code === null ? {} : { code });
