import { redact } from '../lib/redact.ts';
import type { OptionSet, OptionValues } from '../sdk/option.ts';
import type { Config, Destination, Extract, Job, Source } from './config.ts';
import { describeSchedule } from './describe-schedule.ts';

/** A config as plain data, defaults filled in, in the words of the file. */
export interface Described {
  readonly file: string;
  readonly state: string;
  readonly destinations: Readonly<Record<string, unknown>>;
  readonly sources: Readonly<Record<string, unknown>>;
  readonly jobs: Readonly<Record<string, unknown>>;
}

const hidden = '[secret]';

/** What is in force, for people: JSON-safe, secrets out by declaration and, should one stand elsewhere, by value. */
export function describeConfig({ file, state, destinations, sources, jobs }: Config): Described {
  const described = {
    file,
    state,
    destinations: describeAll(destinations, describeDestination),
    sources: describeAll(sources, describeSource),
    jobs: describeAll(jobs, describeJob),
  };
  return JSON.parse(redact(JSON.stringify(described))) as Described;
}

function describeAll<T>(all: ReadonlyMap<string, T>, describe: (one: T) => object): Record<string, unknown> {
  return Object.fromEntries([...all].map(([name, one]) => [name, describe(one)]));
}

function describeDestination({ credentials, clientId, ...rest }: Destination): object {
  const basic = credentials.kind === 'basic' ? { user: credentials.user, password: hidden } : undefined;
  return {
    url: rest.url,
    ...(basic === undefined ? { api_key: hidden } : { basic }),
    ...(clientId === undefined ? {} : { client_id: clientId }),
    account: rest.account,
    requests_per_second: rest.requestsPerSecond,
    requests_per_day: rest.requestsPerDay,
    reserve_requests: rest.reserveRequests,
    upload_limit_bytes: rest.uploadLimitBytes,
    timeout_seconds: rest.timeoutMs / 1000,
    attempts: rest.attempts,
  };
}

function describeSource({ connector, options, login }: Source): object {
  const described = { connector: connector.id, ...describeOptions(connector.source, options) };
  return login === undefined ? described : { ...described, login: { name: login.name, grant: login.grant } };
}

function describeJob({ destination, target, schedule, extract, ...job }: Job): object {
  return {
    ...(extract === undefined ? {} : describeExtract(extract)),
    target,
    destination: destination.name,
    ...(schedule === undefined ? {} : { schedule: describeSchedule(schedule) }),
    enabled: job.enabled,
    always: job.always,
    allow_empty: job.allowEmpty,
  };
}

function describeExtract({ source, query, transforms, format, formatOptions, stallTimeoutMs }: Extract): object {
  return {
    source: source.name,
    query: describeOptions(source.connector.query, query),
    transforms: transforms.map(({ transform, given }) => ({ [transform.id]: given })),
    format: { type: format.id, ...describeOptions(format.options, formatOptions) },
    stall_timeout_seconds: stallTimeoutMs / 1000,
  };
}

function describeOptions(declared: OptionSet, values: OptionValues<OptionSet>): Record<string, unknown> {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, declared[name]?.secret ? hidden : value]));
}
