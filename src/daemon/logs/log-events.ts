import type { Events } from '../../lib/events.ts';
import { type Level, type Log, quietLog } from '../../lib/log.ts';
import { isFailedRun } from '../../state/runs/failed-run.ts';
import type { SluiceEvents } from '../events.ts';

/** Log levels of all events above the debug level. Events that occur often in a healthy system are logged at debug. */
export const levelOf: Partial<Record<keyof SluiceEvents & string, Exclude<Level, 'silent' | 'debug'>>> = {
  'run.started': 'info',
  'run.finished': 'info',
  'run.retrying': 'warn',
  'run.warning': 'warn',
  'extract.failed': 'warn',
  'extract.unchanged': 'info',
  'payload.delivered': 'info',
  'payload.repeated': 'info',
  'payload.unchanged': 'info',
  'payload.superseded': 'info',
  'payload.refused': 'warn',
  'payload.quarantined': 'error',
  'payload.approved': 'info',
  'payload.discarded': 'info',
  'payload.restored': 'warn',
  'payload.revived': 'info',
  'payload.waiting': 'warn',
  'config.stranded': 'warn',
  'payloads.forgotten': 'warn',
  'payload.dead': 'error',
  'quota.spent': 'warn',
  'quota.reset': 'info',
  'account.paused': 'warn',
  'account.slowed': 'info',
  'usage.reported': 'info',
  'usage.refused': 'warn',
  'login.refused': 'error',
  'token.refused': 'error',
  'token.failed': 'warn',
  'refresh.queued': 'info',
  'refresh.failed': 'warn',
  'firing.skipped': 'warn',
  'firing.waiting': 'info',
  'firing.deferred': 'warn',
  'job.throttled': 'info',
  'job.unthrottled': 'info',
  'quota.short': 'warn',
  'alert.raised': 'warn',
  'alert.sent': 'info',
  'alert.unsent': 'warn',
  'alert.given_up': 'error',
  'heartbeat.failed': 'warn',
  'config.reloaded': 'info',
  'config.refused': 'error',
  'source.failed': 'warn',
  'source.updated': 'info',
  'source.on_hold': 'error',
  'source.resumed': 'info',
  'schedules.stopped': 'error',
  'schedules.resumed': 'info',
  'clock.set': 'warn',
  'state.unwritable': 'error',
  'state.writable': 'info',
  'daemon.started': 'info',
  'daemon.outdated': 'warn',
  'fleet.planning': 'info',
  'fleet.resigned': 'info',
  'fleet.config_differs': 'warn',
  'fleet.run_recovered': 'warn',
  'daemon.stopping': 'info',
};

/** Logs one line per event. The event's name is the message, and the event's facts are the fields. */
export function logEvents(events: Events<SluiceEvents>, log: Log): void {
  if (log === quietLog) return;
  events.listen((name, facts) => {
    const isFailed = name === 'run.finished' && isFailedRun(facts.outcome);
    log[isFailed ? 'error' : (levelOf[name] ?? 'debug')](name, readable(facts));
  });
}

/** Formats times as on the command line, and rounds durations. */
function readable(facts: object): object {
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'number' ? readableNumber(name, value) : value,
    ]),
  );
}

function readableNumber(name: string, value: number): string | number {
  if (/^(at|until|since)$/.test(name) && Number.isFinite(value)) return new Date(value).toISOString();
  return name === 'milliseconds' ? Math.round(value) : value;
}
