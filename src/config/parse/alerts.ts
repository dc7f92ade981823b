import { isMap } from '../../lib/is-map.ts';
import { didYouMean } from '../../lib/nearest.ts';
import { spanOf } from '../../lib/span.ts';
import { type OptionSet, option, schemaOf } from '../../sdk/option.ts';
import type { AlertChannel, Alerts, OwnAlerts } from '../alerts.ts';
import { fitsJob } from '../job-pattern.ts';
import {
  acceptsAlerts,
  alertDefaults,
  alertSettings,
  type ChannelType,
  channelOptions,
  channelTypes,
  ownAlertOptions,
  runsPrograms,
} from '../options/alerts.ts';
import { readOptions, readWhole, readWritten } from '../options/field.ts';
import { below, type Path } from '../text/document.ts';
import type { Faults } from '../text/faults.ts';
import { type Part, partAt } from '../text/variables.ts';
import { validatePart } from './validate.ts';

const maxJobsNamed = 20;

/**
 * Parses the top-level `alerts`, which already passed its schema. Returns undefined if it's absent. Reports errors that
 * the schema can't detect, such as a command although commands aren't allowed, or a rule for an unknown channel.
 */
export function loadAlerts(
  top: Part,
  { allowCommands, faults }: { allowCommands: boolean; faults: Faults },
): Alerts | undefined {
  const at = partAt(top, 'alerts');
  const written = partAt(at, 'channels').value;
  const values = isMap(written) ? readWhole(alertSettings, at, faults) : undefined;
  if (!isMap(written) || values === undefined) return undefined;
  const channels = new Map<string, AlertChannel>();
  for (const name of Object.keys(written)) {
    const part = partAt(at, 'channels', name);
    const loaded = channelOf(name, { part, faults });
    if (loaded === undefined) continue;
    channels.set(name, loaded);
    if ('jobs' in loaded) checkJobs(partAt(part, 'jobs'), top, faults);
    if (runsPrograms(loaded) && !allowCommands) refuseCommand(part.path, faults);
  }
  const rules = partAt(at, 'rules');
  for (const i of Array.isArray(rules.value) ? rules.value.keys() : []) {
    checkChannels(partAt(rules, i, 'to'), channels, faults);
    checkJobs(partAt(rules, i, 'jobs'), top, faults);
  }
  return { ...limitDefaults, ...values, channels };
}

/** Parses a job's `alerts`. Returns the job's overrides, `false`, or undefined if the option is absent. */
export function loadOwnAlerts(job: Part, alerts: Alerts | undefined, faults: Faults): OwnAlerts | false | undefined {
  const at = partAt(job, 'alerts');
  if (at.value === false) return false;
  if (!isMap(at.value)) return undefined;
  if (alerts === undefined)
    return faults.add({
      code: 'CONFIG_ALERTS',
      message: 'This job has alerts, but the config has no alert channels',
      path: at.path,
      on: 'key',
      next: 'add a channel under "alerts" at the top level, or delete the job\'s alerts',
    });
  checkChannels(partAt(at, 'to'), alerts.channels, faults);
  return readWritten(ownAlertOptions, at, faults);
}

const limitDefaults = {
  firstFailure: true,
  afterFailures: alertDefaults.afterFailures,
  remindMs: spanOf(alertDefaults.remind),
};

/** Skips channels of an unknown type, because validation has already reported the type. */
function channelOf(name: string, { part, faults }: { part: Part; faults: Faults }): AlertChannel | undefined {
  const { type } = isMap(part.value) ? (part.value as { type?: ChannelType }) : {};
  if (type === undefined || !channelTypes.includes(type)) return undefined;
  const options: OptionSet = channelOptions[type];
  validatePart(part, {
    schema: schemaOf({ type: option.choice([type], { about: '' }), ...options }),
    noun: `${type} channel`,
    faults,
  });
  return { name, type, ...readOptions(options, part, faults) } as AlertChannel;
}

function refuseCommand(path: Path, faults: Faults): void {
  faults.add({
    code: 'CONFIG_COMMANDS_REFUSED',
    message: 'Commands are not allowed in this config',
    path,
    on: 'key',
    next: 'write "allow_commands: true" at the top level if everyone who can edit this file is allowed to run programs here',
  });
}

function checkChannels({ path, value: to }: Part, channels: ReadonlyMap<string, AlertChannel>, faults: Faults): void {
  const known = [...channels.values()].filter(acceptsAlerts).map(({ name }) => name);
  for (const [i, name] of (Array.isArray(to) ? to : []).entries()) {
    // The schema check has already reported values that aren't names.
    if (typeof name !== 'string' || known.includes(name)) continue;
    const channel = channels.get(name);
    faults.add({
      code: 'CONFIG_UNKNOWN_CHANNEL',
      message:
        channel === undefined
          ? `Unknown alert channel "${name}"`
          : `"${name}" is a ${channel.type} channel and does not accept alerts`,
      path: below(path, i),
      allowed: known.join(', ') || 'none: "alerts" has no channels',
      next: channel === undefined ? didYouMean(name, known) : undefined,
    });
  }
}

/**
 * A name that matches no job is usually a typo. It causes only a warning, because the job may have been removed
 * temporarily.
 */
function checkJobs({ path, value: jobs }: Part, top: Part, faults: Faults): void {
  const { jobs: written } = top.value as { jobs?: unknown };
  const known = isMap(written) ? Object.keys(written) : [];
  for (const [i, name] of (Array.isArray(jobs) ? jobs : []).entries()) {
    if (typeof name !== 'string' || known.some((job) => fitsJob(name, job))) continue;
    faults.warn({
      code: 'CONFIG_NO_SUCH_JOB',
      message: 'No job matches this name',
      path: below(path, i),
      seen: name,
      allowed: known.slice(0, maxJobsNamed).join(', ') + (known.length > maxJobsNamed ? ' …' : ''),
      next: didYouMean(name, known),
    });
  }
}
