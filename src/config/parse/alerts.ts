import { isMap } from '../../lib/is-map.ts';
import { nearest } from '../../lib/nearest.ts';
import { spanOf } from '../../lib/span.ts';
import { type OptionSet, option, schemaOf, withDefaults } from '../../sdk/option.ts';
import type { AlertChannel, AlertLimits, Alerts, Occasion, OwnAlerts } from '../alerts.ts';
import { fitsJob } from '../job-pattern.ts';
import { alertDefaults, alertOptions, type ChannelType, channelOptions, channelTypes } from '../options/alerts.ts';
import { below, type Path } from '../text/document.ts';
import type { Faults } from '../text/faults.ts';
import { type Part, partAt } from '../text/variables.ts';
import { validatePart } from './validate.ts';

const mostJobsNamed = 20;

type Written = Readonly<Record<string, unknown>>;

/**
 * `alerts` of the top level, whose schema has been checked; undefined where there is none. What the schema cannot know
 * becomes a fault: a command where none may be run, a rule for a channel that is not there.
 */
export function loadAlerts(
  top: Part,
  { allowCommands, faults }: { allowCommands: boolean; faults: Faults },
): Alerts | undefined {
  const { path, value: written } = partAt(top, 'alerts');
  if (!isMap(written) || !isMap(written.channels)) return undefined;
  const channels = new Map<string, AlertChannel>();
  for (const name of Object.keys(written.channels)) {
    const part = partAt(top, 'alerts', 'channels', name);
    const loaded = channelOf(name, { part, faults });
    if (loaded === undefined) continue;
    channels.set(name, loaded);
    if (loaded.type === 'heartbeat') checkJobs(loaded.jobs, { top, path: below(part.path, 'jobs'), faults });
    if (loaded.type === 'command' && !allowCommands) refuseCommand(part.path, faults);
  }
  const rules = (Array.isArray(written.rules) ? written.rules : []).filter(isMap);
  for (const [i, { to, jobs }] of rules.entries()) {
    const rule = below(below(path, 'rules'), i);
    checkChannels(to, { channels, path: below(rule, 'to'), faults });
    checkJobs(jobs, { top, path: below(rule, 'jobs'), faults });
  }
  const values = withDefaults(alertOptions, written);
  return {
    channels,
    rules: rules.map(({ on, jobs, to }) => ({
      ...(isFilled(on) ? { on: new Set(on as Occasion[]) } : {}),
      ...(isFilled(jobs) ? { jobs: jobs as string[] } : {}),
      to: to as string[],
    })),
    ...limitDefaults,
    ...limitsOf(written),
    recovery: values.recovery,
    settleMs: spanOf(values.settle),
    unsentAfterMs: spanOf(values.unsent_after),
    quotaLeft: Number.parseFloat(values.quota_left) / 100,
  };
}

/** `alerts` of a job: what it says differently, or `false`; undefined where nothing is said. */
export function loadOwnAlerts(
  written: unknown,
  { alerts, path, faults }: { alerts: Alerts | undefined; path: Path; faults: Faults },
): OwnAlerts | false | undefined {
  if (written === false) return false;
  if (!isMap(written)) return undefined;
  if (alerts === undefined) {
    faults.add({
      code: 'CONFIG_ALERTS',
      message: 'This job has alerts, but the config has no alert channels',
      path,
      on: 'key',
      next: 'Add a channel under "alerts" at the top level, or delete this',
    });
    return undefined;
  }
  checkChannels(written.to, { channels: alerts.channels, path: below(path, 'to'), faults });
  return { ...limitsOf(written), ...(Array.isArray(written.to) ? { to: written.to as string[] } : {}) };
}

const limitDefaults: AlertLimits = {
  firstFailure: true,
  afterFailures: alertDefaults.afterFailures,
  remindMs: spanOf(alertDefaults.remind),
};

/** What is written; members that are not are absent, because these go over those of the section or the defaults. */
function limitsOf({ first_failure, after_failures, stale_after, remind }: Written): Partial<AlertLimits> {
  return {
    ...(typeof first_failure === 'boolean' ? { firstFailure: first_failure } : {}),
    ...(typeof after_failures === 'number' ? { afterFailures: after_failures } : {}),
    ...(stale_after === undefined ? {} : { staleAfterMs: stale_after === false ? false : spanOf(String(stale_after)) }),
    ...(typeof remind === 'string' ? { remindMs: spanOf(remind) } : {}),
  };
}

/** One of an unknown type is left out: that fault has been told. */
function channelOf(name: string, { part, faults }: { part: Part; faults: Faults }): AlertChannel | undefined {
  const { type } = isMap(part.value) ? (part.value as { type?: ChannelType }) : {};
  if (type === undefined || !channelTypes.includes(type)) return undefined;
  const options: OptionSet = channelOptions[type];
  validatePart(part, {
    schema: schemaOf({ type: option.choice([type], { about: '' }), ...options }),
    noun: `${type} channel`,
    faults,
  });
  return { name, type, ...withDefaults(options, part.value as Written) } as AlertChannel;
}

function refuseCommand(path: Path, faults: Faults): void {
  faults.add({
    code: 'CONFIG_COMMANDS_REFUSED',
    message: 'Commands are not allowed in this config',
    path,
    on: 'key',
    next: 'Write "allow_commands: true" at the top level if everyone who can edit this file is allowed to run programs here',
  });
}

function checkChannels(
  to: unknown,
  { channels, path, faults }: { channels: ReadonlyMap<string, AlertChannel>; path: Path; faults: Faults },
): void {
  const known = [...channels.values()].filter(({ type }) => type !== 'heartbeat').map(({ name }) => name);
  for (const [i, name] of (Array.isArray(to) ? to : []).entries()) {
    // The schema has reported what is not a name.
    if (typeof name !== 'string' || known.includes(name)) continue;
    const meant = nearest(name, known);
    const isHeartbeat = channels.get(name)?.type === 'heartbeat';
    faults.add({
      code: 'CONFIG_UNKNOWN_CHANNEL',
      message: isHeartbeat
        ? `"${name}" is a heartbeat channel and does not accept alerts`
        : `Unknown alert channel "${name}"`,
      path: below(path, i),
      allowed: known.join(', ') || 'none: "alerts" has no channels',
      ...(meant === undefined || isHeartbeat ? {} : { next: `Did you mean "${meant}"?` }),
    });
  }
}

/** A name that fits no job is no fault, since the job may be taken out for a while; but it is a slip more often. */
function checkJobs(jobs: unknown, { top, path, faults }: { top: Part; path: Path; faults: Faults }): void {
  const { jobs: written } = top.value as { jobs?: unknown };
  const known = isMap(written) ? Object.keys(written) : [];
  for (const [i, name] of (Array.isArray(jobs) ? jobs : []).entries()) {
    if (typeof name !== 'string' || known.some((job) => fitsJob(name, job))) continue;
    const meant = nearest(name, known);
    faults.warn({
      code: 'CONFIG_NO_SUCH_JOB',
      message: 'No job matches this name',
      path: below(path, i),
      seen: name,
      allowed: known.slice(0, mostJobsNamed).join(', ') + (known.length > mostJobsNamed ? ' …' : ''),
      next: meant === undefined ? undefined : `Did you mean "${meant}"?`,
    });
  }
}

function isFilled(list: unknown): list is unknown[] {
  return Array.isArray(list) && list.length > 0;
}
