import { type JsonSchema, type OptionSet, option, schemaOf } from '../../sdk/option.ts';
import { secretsOptions } from '../../secrets/index.ts';
import { defaultCacheFolder, defaultStateFolder } from '../default-paths.ts';
import { alertsSchema, ownAlertsSchema } from './alerts.ts';
import { budgetDestinationOptions, budgetJobOptions } from './budget.ts';
import { duration, group, readAs, seconds } from './field.ts';
import { guardsSchema, topStateOptions } from './guards.ts';
import { jobRetryOptions, topRetryOptions } from './retry.ts';
import { jobScheduleOptions, topScheduleOptions } from './schedule.ts';
import { serviceId } from './service-id.ts';
import { readServiceUrl } from './service-url.ts';
import { timezone } from './timezone.ts';
import { writeSchema } from './write.ts';

/**
 * Declarations of all config options. Validation, the editor schema, the reference page and the example file's test use
 * them. Connectors, formats and transforms declare their own options.
 */

/** The service's upload limit in bytes. */
export const serviceUploadLimit = 10 * 1024 * 1024;

/** Returns an environment variable in the config's syntax. */
export const variable = (name: string): string => `\${env:${name}}`;

/** Pattern for a key that is long enough: at least as long as 24 random bytes in base64. */
const longKey = '^.{32,}$';

/** How the daemon reacts at startup to jobs that can't run. */
export const startErrors = ['ignore', 'retry', 'probe', 'fail'] as const;
export type OnStartError = (typeof startErrors)[number];

const name = { type: 'string', minLength: 1 } as const;

export const topOptions = {
  version: option.schema<1>({ const: 1 }, { about: 'Version of this file format.', default: 1 }),
  state: option.text({
    about:
      'Folder for the state: unsent payloads, history, request counts. Relative to this file. Or the URL of a PostgreSQL database, which then contains everything except payloads; see [operate.md](operate.md#state-in-postgresql).',
    default: defaultStateFolder,
  }),
  cache: option.text({
    about: `Folder for payloads if \`state\` is a URL. Relative to this file. Default: ${defaultCacheFolder}.`,
    example: '/var/lib/sluice',
  }),
  timezone: timezone(
    option.text({
      about:
        'IANA time zone for schedules that do not set one, and for times in text output. JSON and log lines use UTC.',
      default: 'UTC',
      example: 'Europe/Berlin',
    }),
  ),
  login_key: option.text({
    secret: true,
    pattern: longKey,
    about:
      'Key that encrypts logins at rest, at least 32 characters. Default: the environment variable SLUICE_KEY, or a key file generated in the state folder.',
    example: variable('SLUICE_KEY'),
  }),
  former_login_keys: option.list<string>(
    { type: 'string', pattern: longKey, writeOnly: true },
    {
      secret: true,
      about: 'Previous encryption keys. Logins encrypted with them are still read and are rewritten with the new key.',
      example: [variable('SLUICE_FORMER_KEY')],
    },
  ),
  on_start_error: option.choice(startErrors, {
    about:
      "What `sluice run` does at startup if some jobs cannot run: `ignore` starts the others and reports the errors; `retry` also resolves this file's variables again until all jobs can run; `probe` also tests every source once and reports those that do not respond; `fail` starts only if the config has no errors, every source responds and every login has a token.",
    default: 'ignore',
  }),
  allow_commands: option.boolean({
    about:
      "Allow variables that run commands (cmd:…). Anyone who can edit this file can then run programs as Sluice's user.",
    default: false,
  }),
  secrets: option.schema<Record<string, unknown> | undefined>(schemaOf(secretsOptions), {
    about:
      "URLs and logins of the providers that store your secrets; see [secrets.md](secrets.md). Default: the environment variables that the providers' own tools use.",
    example: { vault: { address: 'https://vault.example.com:8200' } },
  }),
  monitor: group(
    {
      host: option.schema<string>(name, {
        default: '127.0.0.1',
        about: 'Address to listen on; 0.0.0.0 means all addresses.',
      }),
      port: option.integer({
        required: true,
        minimum: 0,
        maximum: 65_535,
        about: 'Port to listen on; 0 picks a free port.',
      }),
      names: option.schema<readonly string[] | undefined>(
        { type: 'array', items: name },
        {
          about:
            "Host names allowed in requests, in addition to `host`, IP addresses, names without a dot, and this machine's name.",
        },
      ),
    },
    {
      about:
        'Address where `sluice run` serves the console, /healthz, /readyz and /metrics over plain HTTP without authentication. Default: off. Takes effect at startup.',
      example: { host: '127.0.0.1', port: 9464 },
    },
  ),
  ...topScheduleOptions,
  ...topRetryOptions,
  guards: option.schema<false | Record<string, unknown> | undefined>(guardsSchema, {
    about:
      "Guards for all jobs' results. A job can override each guard. `false` means no guards except those set in jobs.",
    example: { row_change: { down: '30%' } },
  }),
  alerts: option.schema<Record<string, unknown> | undefined>(alertsSchema, {
    about: 'Who is alerted about problems and how often. Default: no alerts.',
    example: { channels: { chat: { type: 'slack', url: variable('SLACK_WEBHOOK') } } },
  }),
  ...topStateOptions,
  connectors: option.text({
    about:
      "Folder with your own connectors, one file each; the file name is the connector's name. Relative to this file.",
    example: './my-connectors',
  }),
  connector_packages: option.list<string>(
    { type: 'string', minLength: 1 },
    {
      about: "npm packages that provide connectors, installed in this file's folder or above it.",
      example: ['sluice-connector-acme'],
    },
  ),
} satisfies OptionSet;

export const destinationOptions = {
  url: readAs(
    option.text({
      required: true,
      about: 'Base URL of the service, including the API version.',
      example: 'https://app.example.com/api/1.0',
    }),
    { read: readServiceUrl },
  ),
  api_key: option.text({
    secret: true,
    about: 'API key. Set either this or `basic`.',
    example: variable('SLUICE_API_KEY'),
  }),
  basic: group(
    {
      user: option.schema<string>(name, { required: true, about: 'E-mail address of the user.' }),
      password: option.schema<string>(name, { required: true, secret: true, about: 'Password of the user.' }),
    },
    {
      about: 'User and password. Set either this or `api_key`.',
      example: { user: 'me@example.com', password: variable('SLUICE_PASSWORD') },
    },
  ),
  client_id: serviceId(
    'client account',
    option.text({
      about: 'Client account to write to, unless a target sets another.',
      example: '0123456789abcdef0123456789abcdef',
    }),
  ),
  account: option.text({
    about:
      'Name of the quota account. Destinations with the same account share their limits. Default: destinations with the same URL and the same key or user share an account. If you replace the key, the requests already used today still count.',
    example: 'agency',
  }),
  ...budgetDestinationOptions,
  upload_limit_bytes: option.integer({
    minimum: 1,
    default: serviceUploadLimit,
    about:
      "Maximum payload size in bytes. If a payload is larger, the run fails before any data is sent. The service's limit is 10 MB.",
  }),
  timeout_seconds: seconds(
    option.integer({ minimum: 1, maximum: 86_400, default: 60, about: 'Request timeout in seconds.' }),
  ),
  attempts: option.integer({
    minimum: 1,
    maximum: 1000,
    default: 8,
    about:
      'Number of failed attempts after which a payload is marked dead if the service accepts other payloads. If the service fails for all payloads or is unreachable, Sluice keeps retrying.',
  }),
} satisfies OptionSet;

/** Options for checking a source that no job is reading, and for retrying a refused login. */
export const checkOptions = {
  login_retry: option.choice(['auto', 'off'], {
    default: 'auto',
    about:
      'Whether to retry a refused login automatically: after 1 hour, after 4 more hours, then once a day. Use `off` for accounts that lock after failed logins: then only `sluice sources resume`, a successful `sluice check --connect` or a new secret resumes the source.',
  }),
  check_every: duration(
    option.text({
      pattern: '^([1-9]\\d{0,5}[mhdw])+$',
      about:
        'How often the daemon checks that the source responds if no job has read it in the meantime, so that you are alerted before the next run fails. Default: never. Useful for sources that are read once a day or less often. A check costs no requests to the service.',
      example: '1h',
    }),
  ),
} satisfies OptionSet;

/** Options of every source, in addition to the connector's own options. */
export const sourceOptions = {
  connector: option.text({ required: true, about: 'Name of the connector that reads this source.', example: 'db' }),
  ...checkOptions,
} satisfies OptionSet;

export const stallOptions = {
  stall_timeout_seconds: seconds(
    option.integer({
      minimum: 0,
      maximum: 604_800,
      default: 300,
      about:
        'Stall timeout: seconds without data from the source after which the run is stopped; 0 disables the timeout.',
    }),
  ),
} satisfies OptionSet;

/**
 * A job's options. These declarations check `query`, `transforms`, `format` and `target` only roughly. The connector,
 * transforms, format and target validate their members.
 */
export const jobOptions = {
  source: option.text({
    about: 'Name of the source to read. Required except for a bulk refresh.',
    example: 'shop',
  }),
  query: option.schema<string | Record<string, unknown> | undefined>(
    { type: ['string', 'object'] },
    {
      about: "What to read: the connector's query options, or its shorthand as plain text.",
      example: 'select * from orders',
    },
  ),
  transforms: option.schema<readonly unknown[]>(
    { type: 'array', items: { type: 'object', minProperties: 1, maxProperties: 1 } },
    {
      about: "Steps that transform the rows, in order. Each step is a map with one key, the transform's name.",
      default: [],
    },
  ),
  format: option.schema<string | Record<string, unknown> | undefined>(
    { type: ['string', 'object'] },
    { about: 'Output format: its name, or a map of `type` and its options.', example: 'csv' },
  ),
  target: option.schema<string | Record<string, unknown>>(
    { type: ['string', 'object'] },
    {
      required: true,
      about:
        'What the job writes: the ID of a data source instance, or a map with `instance`, `datasource` or `refresh`.',
      example: '0123456789abcdef0123456789abcdef',
    },
  ),
  destination: option.text({
    about: 'Name of the destination. Optional if there is only one.',
    example: 'main',
  }),
  ...jobScheduleOptions,
  ...jobRetryOptions,
  enabled: option.boolean({
    about: 'Whether the daemon runs the job. If false, only `sluice sync <job>` does.',
    default: true,
  }),
  ...budgetJobOptions,
  always: option.boolean({ about: 'Send even if the instance already has identical data.', default: false }),
  allow_empty: option.boolean({
    about:
      "Allow a result without rows to replace the instance's data. Otherwise, such a run fails and the instance keeps its data.",
    default: false,
  }),
  guards: option.schema<false | Record<string, unknown> | undefined>(guardsSchema, {
    about:
      "Conditions that a result must meet to replace the instance's data. Other results are quarantined until a person decides. `false` means no guards.",
    example: { rows: { minimum: 10 }, columns: ['id', 'amount'] },
  }),
  alerts: option.schema<false | Record<string, unknown> | undefined>(ownAlertsSchema, {
    about: 'Alert options for this job. `false` means no alerts.',
    example: { stale_after: '2h', to: ['ops'] },
  }),
  write: option.schema<string | Record<string, unknown> | undefined>(writeSchema, {
    about:
      'How rows are combined with earlier rows: a disposition (replace, append, merge), or a map of `disposition`, `key`, `deleted` and `retain`. Default: replace.',
    example: { disposition: 'merge', key: ['id'] },
  }),
  ...stallOptions,
} satisfies OptionSet;

/**
 * Pattern for the names of destinations, sources and jobs. These names appear on command lines, in logs and in file
 * names.
 */
export const namePattern = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u;

/**
 * The name pattern in the editor schema. JSON Schema recommends portable patterns, which can't contain `\p{…}` because
 * Python rejects it. This pattern is therefore more permissive for non-ASCII characters.
 */
export const nameSchema: JsonSchema = {
  pattern: '^[^\\x00-/:-@\\[-`{-\\xa0][^\\x00-,/:-@\\[-\\^`{-\\xa0]{0,99}$',
  description: 'letters, digits, and - _ . after the first; at most 100',
};
