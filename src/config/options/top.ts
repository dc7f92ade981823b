import { type OptionSet, option, schemaOf } from '../../sdk/option.ts';
import { secretsOptions } from '../../secrets/index.ts';
import { defaultCacheFolder, defaultStateFolder } from '../default-paths.ts';
import { alertsSchema } from './alerts.ts';
import { group, variable } from './field.ts';
import { guardsSchema, topStateOptions } from './guards.ts';
import { nonEmpty } from './names.ts';
import { topRetryOptions } from './retry.ts';
import { s3Options } from './s3.ts';
import { topScheduleOptions } from './schedule.ts';
import { timezone } from './timezone.ts';

/** Pattern for a key that is long enough: at least as long as 24 random bytes in base64. */
const longKey = '^.{32,}$';

/** How the daemon reacts at startup to jobs that can't run. */
export const startErrors = ['ignore', 'retry', 'probe', 'fail'] as const;
export type OnStartError = (typeof startErrors)[number];

/** Options at the config's top level. */
export const topOptions = {
  version: option.schema<1>({ const: 1 }, { about: 'Version of this file format.', default: 1 }),
  state: option.text({
    about:
      'Folder for the state: unsent payloads, history, request counts. Relative to this file. Or the URL of a PostgreSQL database; see [operate.md](operate.md#state-in-postgresql).',
    default: defaultStateFolder,
  }),
  cache: option.text({
    about: `Folder for temporary files and copies of payloads if \`state\` is a URL. Relative to this file. Its contents may be lost at any time. Default: ${defaultCacheFolder}.`,
    example: '/var/cache/sluice',
  }),
  payloads: option.text({
    about:
      'Where payloads and kept rows are stored if `state` is a URL: `postgres`, in the same database; a folder that all machines mount, relative to this file; or `s3://BUCKET/PREFIX`, in an object store. Default: postgres.',
    example: 's3://sluice/production',
  }),
  s3: group(s3Options, {
    about: 'The S3-compatible object store that contains the bucket in `payloads`.',
    example: {
      endpoint: 'https://minio.example.com:9000',
      access_key_id: 'sluice',
      secret_access_key: variable('S3_SECRET'),
    },
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
      host: option.schema<string>(nonEmpty, {
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
        { type: 'array', items: nonEmpty },
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
