import { all as channels } from '../../alerts/channels.generated.ts';
import { spanOf } from '../../lib/span.ts';
import { type JsonSchema, type OptionSet, option, schemaOf } from '../../sdk/option.ts';
import { duration, groups, percentage, readAs } from './field.ts';

/**
 * A duration as written in the config: a number followed by m, h, d or w. Options for which seconds make sense also
 * accept s.
 */
const span: JsonSchema = { type: 'string', pattern: '^[1-9]\\d{0,5}[smhdw]$', examples: ['24h'] };
const percent: JsonSchema = { type: 'string', pattern: '^\\d{1,2}(\\.\\d{1,6})?%$', examples: ['10%'] };
const text: JsonSchema = { type: 'string', minLength: 1 };

/** Kinds of events that alerts report. */
export const occasions = [
  'failed',
  'stale',
  'quarantined',
  'dead',
  'quota',
  'login',
  'credentials',
  'unsent',
  'scheduler',
  'disk',
  'source',
  'config',
  'clock',
  'failover',
  'files',
] as const;

export const alertDefaults = {
  remind: '24h',
  afterFailures: 3,
  settle: '30s',
  unsentAfter: '15m',
  quotaLeft: '10%',
};

/** The channel types: one for each file in `src/alerts/channels/`. */
export const channelTypes = Object.keys(channels) as ChannelType[];

export const channelOptions = Object.fromEntries(channelTypes.map((type) => [type, channels[type].options])) as {
  readonly [T in ChannelType]: (typeof channels)[T]['options'];
};

export type ChannelType = keyof typeof channels;

type TypedChannel = { readonly type: ChannelType };

/** Whether alerts can be sent to the channel. */
export const acceptsAlerts = ({ type }: TypedChannel): boolean => channels[type].send !== undefined;

/** Whether the channel runs programs, so that the config must allow commands. */
export const runsPrograms = ({ type }: TypedChannel): boolean => channels[type].runsPrograms === true;

/**
 * One schema per channel type. `Object.fromEntries` builds it, because linters mistake an object literal with a `then`
 * member for a promise.
 */
const channelSchema: JsonSchema = {
  type: 'object',
  properties: { type: { enum: channelTypes } },
  required: ['type'],
  allOf: channelTypes.map((type) => {
    const { properties, ...rest } = schemaOf(channelOptions[type]) as { properties: object };
    return Object.fromEntries([
      ['if', { properties: { type: { const: type } }, required: ['type'] }],
      ['then', { ...rest, properties: { type: { const: type }, ...properties } }],
    ]);
  }),
};

/** A rule that routes alerts for specific occasions and jobs to specific channels. */
export const ruleOptions = {
  on: option.list<(typeof occasions)[number]>(
    { enum: occasions },
    { about: 'Occasions that this rule matches. Default: all.', example: ['stale', 'dead'] },
  ),
  jobs: option.list<string>(text, {
    about:
      "Jobs that this rule matches; `*` is a wildcard. Alerts that aren't about a single job match only rules without `jobs`. Default: all.",
    example: ['orders*'],
  }),
  to: option.schema<readonly string[]>(
    { type: 'array', items: text },
    { required: true, about: 'Names of the channels.', example: ['ops'] },
  ),
} satisfies OptionSet;

const staleAfter: JsonSchema = { anyOf: [{ const: false }, span] };
const failures: JsonSchema = { type: 'integer', minimum: 0, maximum: 1000 };

/** Alert options that a job can override. */
export const jobAlertOptions = {
  first_failure: option.schema<boolean | undefined>(
    { type: 'boolean' },
    { about: 'Alert on the first failure. Default: true.', example: false },
  ),
  after_failures: option.schema<number | undefined>(failures, {
    about: `Alert again after this many consecutive failures; 0 means never. Default: ${alertDefaults.afterFailures}.`,
    example: 5,
  }),
  stale_after: readAs(
    option.schema<string | false | undefined>(staleAfter, {
      about:
        "Alert when the instance's data is older than this, for any reason. Default: the time of three scheduled firings, at least one hour. A job without a schedule is never stale.",
      example: '26h',
    }),
    { unit: 'Ms', read: ({ value }): number | false => value !== false && spanOf(String(value)) },
  ),
  remind: duration(
    option.schema<string | undefined>(span, {
      about: `Minimum time between reminders about an open alert. Default: ${alertDefaults.remind}.`,
      example: '12h',
    }),
  ),
} satisfies OptionSet;

/** A job's `alerts` option: the job's overrides and channels, or `false`. */
export const ownAlertOptions = {
  ...jobAlertOptions,
  to: option.schema<readonly string[] | undefined>(
    { type: 'array', items: text },
    { about: "Channels for this job's alerts, instead of those in the rules.", example: ['ops'] },
  ),
} satisfies OptionSet;

/** The top-level `alerts` options except the channels. */
export const alertSettings = {
  rules: groups(ruleOptions, {
    about:
      'Routing rules: an alert goes to the channels of all matching rules. Without rules, it goes to every channel.',
    example: [{ on: ['dead'], to: ['ops'] }],
  }),
  ...jobAlertOptions,
  recovery: option.boolean({ about: 'Also send a message when a problem is resolved.', default: true }),
  settle: duration(
    option.schema<string>(span, {
      about: 'How long the daemon collects alerts with the same cause before it sends one message.',
      default: alertDefaults.settle,
    }),
  ),
  unsent_after: duration(
    option.schema<string>(span, {
      about:
        'Alert when payloads for a destination have been undeliverable for this long, for reasons other than quota or credentials.',
      default: alertDefaults.unsentAfter,
    }),
  ),
  quota_left: percentage(
    option.schema<string>(percent, {
      about:
        "Alert when less than this percentage of an account's daily allowance is left, or when the allowance will not last.",
      default: alertDefaults.quotaLeft,
    }),
  ),
} satisfies OptionSet;

/** The options of the top-level `alerts`. */
export const alertOptions = {
  channels: option.schema<Record<string, Record<string, unknown>>>(
    { type: 'object', additionalProperties: channelSchema },
    {
      required: true,
      about: 'Channels to send alerts to, with names of your choice.',
      example: {
        ops: { type: 'email', server: 'smtp://mail.example.com', from: 's@example.com', to: ['me@example.com'] },
      },
    },
  ),
  ...alertSettings,
} satisfies OptionSet;

export const alertsSchema: JsonSchema = schemaOf(alertOptions);
export const ownAlertsSchema: JsonSchema = { anyOf: [{ const: false }, schemaOf(ownAlertOptions)] };
