import { type JsonSchema, type OptionSet, option } from '../sdk/option.ts';
import { alertsSchema, ownAlertsSchema } from './alert-options.ts';
import { budgetDestinationOptions, budgetJobOptions } from './budget-options.ts';
import { diskDefaults, diskSchema, guardsSchema, keepDefaults, keepSchema } from './guard-options.ts';
import { jobRetryOptions, topRetryOptions } from './retry-options.ts';
import { jobScheduleOptions, topScheduleOptions } from './schedule-options.ts';
import { writeSchema } from './write-options.ts';

/**
 * Every option that the config itself knows, declared once. Checking, the schema for editors, the reference page and
 * the test of the sample file all come out of these declarations; connectors, formats and transforms bring their own.
 */

/** The service refuses larger data. */
export const serviceUploadLimit = 10 * 1024 * 1024;

/** A variable as it is written in a config. */
export const variable = (name: string): string => `\${env:${name}}`;

/** At least as long as 24 random bytes are in base64. */
const longKey = '^.{32,}$';

/** What is done at the start about jobs that cannot run. */
export const startErrors = ['ignore', 'retry', 'probe', 'fail'] as const;
export type OnStartError = (typeof startErrors)[number];

const name = { type: 'string', minLength: 1 } as const;

export const topOptions = {
  version: option.schema<1>({ const: 1 }, { about: 'Version of this file format.', default: 1 }),
  state: option.text({
    about:
      'Folder for what must survive a restart: what is owed, what was sent, the count of the day. Relative to this file.',
    default: './sluice-state',
  }),
  timezone: option.text({
    about:
      'IANA time zone that schedules are meant in, unless a schedule names its own, and that people see times in. Documents and log lines for machines are in UTC.',
    default: 'UTC',
    example: 'Europe/Berlin',
  }),
  login_key: option.text({
    secret: true,
    pattern: longKey,
    about:
      'Key that logins are encrypted with at rest, at least 32 characters. By default the environment variable SLUICE_KEY, and without it a key file that is made in the state folder.',
    example: variable('SLUICE_KEY'),
  }),
  former_login_keys: option.list<string>(
    { type: 'string', pattern: longKey, writeOnly: true },
    {
      secret: true,
      about: 'Keys that logins were encrypted with before: they are still read, and written with the new key.',
      example: [variable('SLUICE_FORMER_KEY')],
    },
  ),
  on_start_error: option.choice(startErrors, {
    about:
      'What `sluice run` does at its start about jobs that cannot run: `ignore` begins with the others, and tells; `retry` does that and reads the variables of this file again until all can; `probe` does that and asks every source once, so that those that do not answer are told before a run needs them; `fail` does not begin unless the config has no fault, every source answers and every login has a token.',
    default: 'ignore',
  }),
  allow_commands: option.boolean({
    about:
      'Allow variables that run commands (cmd:…): whoever can edit this file can then run programs as the user that Sluice runs as.',
    default: false,
  }),
  monitor: option.schema<{ host?: string; port: number; names?: readonly string[] } | undefined>(
    {
      type: 'object',
      additionalProperties: false,
      properties: {
        host: {
          ...name,
          default: '127.0.0.1',
          description: 'Address to listen on; 0.0.0.0 is every one of this machine.',
        },
        port: { type: 'integer', minimum: 0, maximum: 65_535, description: 'Port to listen on; 0 takes a free one.' },
        names: {
          type: 'array',
          items: name,
          description:
            'Host names that requests may use, besides `host`, IP addresses, names without a dot and the name of this machine.',
        },
      },
      required: ['port'],
    },
    {
      about:
        'Where `sluice run` shows the page of all jobs and answers /healthz, /readyz and /metrics, over plain HTTP and to whoever asks. Without it, nowhere. Read at the start alone.',
      example: { host: '127.0.0.1', port: 9464 },
    },
  ),
  ...topScheduleOptions,
  ...topRetryOptions,
  guards: option.schema<false | Record<string, unknown> | undefined>(guardsSchema, {
    about:
      'What a result of any job must be like to be sent; a job may say otherwise, guard by guard. `false`: no guards but those that jobs name.',
    example: { row_change: { down: '30%' } },
  }),
  alerts: option.schema<Record<string, unknown> | undefined>(alertsSchema, {
    about: 'Whom to tell of what goes wrong, and how often. Without it, nobody.',
    example: { channels: { chat: { type: 'slack', url: variable('SLACK_WEBHOOK') } } },
  }),
  keep: option.schema<{ payloads?: number; days?: number }>(keepSchema, {
    about:
      'Delivered payloads that stay on the disk, so that `sluice rollback` can put one back. Read at the start alone.',
    default: keepDefaults,
  }),
  disk: option.schema<{ limit_megabytes?: number; free_megabytes?: number }>(diskSchema, {
    about:
      'How much of its disk the state folder may take. A run whose result has no room fails before it is written; what is owed stays, and payloads that are only kept for `sluice rollback` go first. Read at the start alone.',
    default: diskDefaults,
  }),
  connectors: option.text({
    about:
      'Folder of your own connectors, one file each; the file name is the word for `connector`. Relative to this file.',
    example: './my-connectors',
  }),
  connector_packages: option.list<string>(
    { type: 'string', minLength: 1 },
    {
      about: 'npm packages that bring connectors, installed in the folder of this file or above it.',
      example: ['sluice-connector-acme'],
    },
  ),
} satisfies OptionSet;

export const destinationOptions = {
  url: option.text({
    required: true,
    about: 'Base address of the service, up to and including the version.',
    example: 'https://app.example.com/api/1.0',
  }),
  api_key: option.text({
    secret: true,
    about: 'API key of the user to act as. Either this or `basic`.',
    example: variable('SLUICE_API_KEY'),
  }),
  basic: option.schema<{ user: string; password: string } | undefined>(
    {
      type: 'object',
      additionalProperties: false,
      properties: {
        user: { ...name, description: 'E-mail address of the user.' },
        password: { ...name, writeOnly: true, description: 'Password of the user.' },
      },
      required: ['user', 'password'],
    },
    {
      about: 'User and password to log in with. Either this or `api_key`.',
      example: { user: 'me@example.com', password: variable('SLUICE_PASSWORD') },
    },
  ),
  client_id: option.text({
    about: 'Client account that everything goes to, unless a target names another.',
    example: '0123456789abcdef0123456789abcdef',
  }),
  account: option.text({
    about:
      'Name of the purse that requests are paid from. Destinations with the same name share their limits; by default those with the same address and the same key or user do. Where the key of a destination is exchanged, what it has used of the day counts on.',
    example: 'agency',
  }),
  ...budgetDestinationOptions,
  upload_limit_bytes: option.integer({
    minimum: 1,
    default: serviceUploadLimit,
    about: 'Largest payload that is sent; a larger one fails the job before anything is sent. The service takes 10 MB.',
  }),
  timeout_seconds: option.integer({
    minimum: 1,
    maximum: 86_400,
    default: 60,
    about: 'Longest wait for the answer to one request.',
  }),
  attempts: option.integer({
    minimum: 1,
    maximum: 1000,
    default: 8,
    about:
      'Failed attempts at one payload before it is put aside as dead, where the service takes others meanwhile. A service that fails for all, or cannot be reached, is waited for.',
  }),
} satisfies OptionSet;

/** A source's own option, beside those of its connector. */
export const sourceOptions = {
  connector: option.text({ required: true, about: 'What reads this source: the name of a connector.', example: 'db' }),
  login_retry: option.choice(['auto', 'off'], {
    default: 'auto',
    about:
      'Whether a login that was refused is tried again by itself: after 1 hour, after 4 more, then once a day. `off` for accounts that lock: then only `sluice sources resume`, a good `sluice check --connect` or another secret lifts the hold.',
  }),
  check_every: option.text({
    pattern: '^([1-9]\\d{0,5}[mhdw])+$',
    about:
      'How often the daemon looks whether the source answers, with the smallest call that the connector knows, while no job has read it for so long; people hear of it before the next run fails. Never by default: a source that is read often is looked at by its jobs. Worth it where they run once a day or less. It costs no request of the service.',
    example: '1h',
  }),
} satisfies OptionSet;

/** `query`, `transforms`, `format` and `target` are checked deeper by what they name. */
export const jobOptions = {
  source: option.text({
    about: 'Name of the source to read. Every job has one, but for a bulk refresh.',
    example: 'shop',
  }),
  query: option.schema<string | Record<string, unknown> | undefined>(
    { type: ['string', 'object'] },
    {
      about: "What to read: options of the source's connector, or the one that it takes as plain text.",
      example: 'select * from orders',
    },
  ),
  transforms: option.schema<readonly unknown[]>(
    { type: 'array', items: { type: 'object', minProperties: 1, maxProperties: 1 } },
    { about: 'Steps that shape the rows, in this order, each a map with one key.', default: [] },
  ),
  format: option.schema<string | Record<string, unknown> | undefined>(
    { type: ['string', 'object'] },
    { about: 'What the rows become: the name of a format, or a map of `type` and its options.', example: 'csv' },
  ),
  target: option.schema<string | Record<string, unknown>>(
    { type: ['string', 'object'] },
    {
      required: true,
      about:
        'What the job writes: the id of a data-source instance, or a map with `instance`, `datasource` or `refresh`.',
      example: '0123456789abcdef0123456789abcdef',
    },
  ),
  destination: option.text({
    about: 'Name of the destination. May be left out when there is exactly one.',
    example: 'main',
  }),
  ...jobScheduleOptions,
  ...jobRetryOptions,
  enabled: option.boolean({
    about: 'False: the daemon leaves the job alone; `sluice sync <job>` still runs it.',
    default: true,
  }),
  ...budgetJobOptions,
  always: option.boolean({ about: 'Send even when the instance already has these very bytes.', default: false }),
  allow_empty: option.boolean({
    about:
      'Let a result without rows replace what the instance shows. Otherwise such a run fails and the old data stays.',
    default: false,
  }),
  guards: option.schema<false | Record<string, unknown> | undefined>(guardsSchema, {
    about:
      'What a result must be like to replace what the instance shows; what is not is held back until somebody looks at it. `false`: no guards.',
    example: { rows: { minimum: 10 }, columns: ['id', 'amount'] },
  }),
  alerts: option.schema<false | Record<string, unknown> | undefined>(ownAlertsSchema, {
    about: 'What is different for the alerts of this job. `false`: nobody is told anything of it.',
    example: { stale_after: '2h', to: ['ops'] },
  }),
  write: option.schema<string | Record<string, unknown> | undefined>(writeSchema, {
    about:
      'How rows become what is shown: a disposition (replace, append, merge), or a map of `disposition`, `key`, `deleted` and `retain`. By default they replace it.',
    example: { disposition: 'merge', key: ['id'] },
  }),
  stall_timeout_seconds: option.integer({
    minimum: 0,
    maximum: 604_800,
    default: 300,
    about: 'Longest silence of the source before the run is ended; 0 waits for ever.',
  }),
} satisfies OptionSet;

/** Names of destinations, sources and jobs: they are typed on command lines and stand in logs and file names. */
export const namePattern = /^[\p{L}\p{N}][\p{L}\p{N}._-]{0,99}$/u;

/**
 * The same for editors. JSON Schema asks for patterns that all languages read alike, and `\p{…}` is none (Python refuses it), so this
 * one is wider outside of ASCII.
 */
export const nameSchema: JsonSchema = {
  pattern: '^[^\\x00-/:-@\\[-`{-\\xa0][^\\x00-,/:-@\\[-\\^`{-\\xa0]{0,99}$',
  description: 'letters, digits, and - _ . after the first; at most 100',
};
