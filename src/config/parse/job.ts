import { isMap } from '../../lib/is-map.ts';
import { schemaOf } from '../../sdk/option.ts';
import type { Destination, Job } from '../config.ts';
import { isComplete, readOptions } from '../options/field.ts';
import { jobOptions } from '../options/job.ts';
import { scheduleOptions } from '../options/schedule.ts';
import { partAt } from '../text/variables.ts';
import { loadOwnAlerts } from './alerts.ts';
import type { Draft, JobContext, JobResult } from './context.ts';
import { loadExtract } from './extract.ts';
import { findNamed } from './find-named.ts';
import { loadGuards } from './guards.ts';
import { type Member, memberPath, openMember } from './member.ts';
import { loadRetry } from './retry.ts';
import { loadSchedule } from './schedule.ts';
import { loadTarget } from './target.ts';
import { validatePart } from './validate.ts';

/** Loads one job. All options are validated, even if one has an error. */
export async function loadJob(member: Member, context: JobContext): Promise<JobResult> {
  const { name, faults } = member;
  const part = await openMember(member, context);
  const elsewhere = { options: Object.keys(scheduleOptions), place: 'the schedule: {cron: …, …}' };
  validatePart(part, { schema: schemaOf(jobOptions), noun: 'job', faults, elsewhere });
  if (!isMap(part.value)) return { problems: faults.problems };

  const draft: Draft = { part, given: part.value, faults, blamed: [], reads: [] };
  const destination = findDestination(draft, context);
  const target = loadTarget(draft);
  const extract = target?.kind === 'refresh' ? refuseExtract(draft) : loadExtract(draft, target, context);
  const { timezone, scheduleRules: rules } = context.top;
  const schedule = loadSchedule(part, { job: name, timezone, rules, faults });
  const retry = loadRetry(part, context.top.retry, faults);
  const alerts = loadOwnAlerts(part, context.top.alerts, faults);
  const guards = loadGuards(partAt(part, 'guards'), context.top.guards, faults);
  const problems = [...draft.blamed, ...faults.problems];
  const values = readOptions(jobOptions, part, faults);
  if (problems.length > 0 || destination === undefined || target === undefined) return { problems, reads: draft.reads };
  if (!isComplete(jobOptions, values)) return { problems, reads: draft.reads };

  const job: Job = {
    name,
    line: context.document.place(memberPath(member), 'key').line ?? 1,
    destination,
    target,
    schedule,
    extract: extract === undefined ? undefined : { ...extract, timezone: schedule?.timezone ?? context.top.timezone },
    enabled: values.enabled,
    priority: values.priority,
    ...(extract === undefined || retry === false ? {} : { retry }),
    always: values.always,
    allowEmpty: values.allowEmpty,
    guards,
    alerts,
  };
  return { value: job, problems: [], reads: draft.reads };
}

function findDestination(draft: Draft, { destinations }: JobContext): Destination | undefined {
  const { given, part, faults } = draft;
  const known = [...destinations.keys()];
  const name = given.destination ?? (known.length === 1 ? known[0] : undefined);
  if (typeof name === 'string') return findNamed({ name, option: 'destination', all: destinations }, draft)?.value;
  if (name === undefined && known.length > 1) {
    faults.add({
      code: 'CONFIG_MISSING_OPTION',
      message: 'Missing "destination": the config has several',
      path: part.path,
      on: 'key',
      allowed: known.join(', '),
      next: 'add a line: destination: NAME',
    });
  }
  return undefined;
}

/** A bulk refresh doesn't read rows, so options for reading or transforming rows would have no effect. */
function refuseExtract({ given, part, faults }: Draft): undefined {
  for (const option of ['source', 'query', 'transforms', 'format', 'guards', 'write', 'retry']) {
    if (given[option] === undefined) continue;
    faults.add({
      code: 'CONFIG_REFRESH',
      message: `A bulk refresh extracts no rows, so it does not use "${option}"`,
      path: partAt(part, option).path,
      on: 'key',
      next: `delete "${option}", or use an instance instead of a refresh`,
    });
  }
}
