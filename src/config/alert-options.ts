import { type JsonSchema, type OptionSet, option, schemaOf } from '../sdk/option.ts';

/** A span as it is written: a number and m, h, d or w (also s where seconds make sense). */
const span: JsonSchema = { type: 'string', pattern: '^[1-9]\\d{0,5}[smhdw]$', examples: ['24h'] };
const percent: JsonSchema = { type: 'string', pattern: '^\\d{1,2}(\\.\\d{1,6})?%$', examples: ['10%'] };
const text: JsonSchema = { type: 'string', minLength: 1 };
const address: JsonSchema = { ...text, pattern: '^https?://', writeOnly: true };

/** What people may want to hear of. */
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
] as const;

export const alertDefaults = {
  remind: '24h',
  afterFailures: 3,
  settle: '30s',
  unsentAfter: '15m',
  quotaLeft: '10%',
  every: '5m',
};

const timeout = option.integer({
  minimum: 1,
  maximum: 300,
  default: 15,
  about: 'Longest wait for an answer.',
});

const urlOf = (about: string, example: string) =>
  option.schema<string>(address, { required: true, secret: true, about, example });

/** What a channel of each type takes, beside `type`. */
export const channelOptions = {
  webhook: {
    url: urlOf('Where alerts are posted to, as JSON.', 'https://alerts.example.com/sluice'),
    secret: option.text({
      required: true,
      secret: true,
      pattern: '^whsec_[A-Za-z0-9+/]{32,88}={0,2}$',
      about: 'Key that each request is signed with: `whsec_` and 24 to 64 random bytes in base64.',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the config
      example: '${env:SLUICE_ALERT_SECRET}',
    }),
    timeout_seconds: timeout,
  },
  slack: {
    url: urlOf(
      'Incoming webhook of Slack, or of anything that takes the same JSON.',
      'https://hooks.slack.com/services/T0/B0/x',
    ),
    timeout_seconds: timeout,
  },
  email: {
    server: option.schema<string>(
      { ...text, pattern: '^smtps?://[^/\\s]+$' },
      {
        required: true,
        about:
          'Mail server: smtps:// is encrypted from the start (port 465), smtp:// as soon as the server offers it (port 587). A user and a password may stand in it.',
        example: 'smtp://mail.example.com',
      },
    ),
    user: option.text({ about: 'User to log in with.', example: 'sluice@example.com' }),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the config
    password: option.text({ secret: true, about: 'Password of that user.', example: '${env:SMTP_PASSWORD}' }),
    from: option.text({ required: true, about: 'Sender.', example: 'Sluice <sluice@example.com>' }),
    to: option.schema<readonly string[]>(
      { type: 'array', items: text, minItems: 1 },
      { required: true, about: 'Who gets it.', example: ['me@example.com'] },
    ),
    tls: option.choice(['required', 'when offered'], {
      about: 'Whether a server that offers no encryption is refused. Without it a password is not sent in any case.',
      default: 'required',
    }),
    timeout_seconds: timeout,
  },
  command: {
    command: option.schema<readonly string[]>(
      { type: 'array', items: text, minItems: 1 },
      {
        required: true,
        about:
          'Program and its arguments, run without a shell in the folder of this file. The alert is JSON on its standard input, and in SLUICE_ALERT_… variables. Only with `allow_commands: true`.',
        example: ['/usr/local/bin/page', '--urgent'],
      },
    ),
    timeout_seconds: timeout,
  },
  heartbeat: {
    url: urlOf(
      'Asked for with GET as long as all is well; who watches it raises the alarm when it stays away.',
      'https://hc.example.com/ping/0123',
    ),
    jobs: option.list<string>(text, {
      about: 'After each good result of these jobs. Without any: at an interval, as long as the daemon is healthy.',
      example: ['orders'],
    }),
    every: option.schema<string>(span, {
      about: 'The interval, where no jobs are named.',
      default: alertDefaults.every,
    }),
    timeout_seconds: timeout,
  },
} satisfies Record<string, OptionSet>;

export type ChannelType = keyof typeof channelOptions;
export const channelTypes = Object.keys(channelOptions) as ChannelType[];

/** What is asked of a channel depends on its type. Made of entries: an object with a member "then" looks like a promise. */
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

/** A rule sends some occasions of some jobs to some channels. */
export const ruleOptions = {
  on: option.list<(typeof occasions)[number]>(
    { enum: occasions },
    { about: 'On which occasions; by default on all.', example: ['stale', 'dead'] },
  ),
  jobs: option.list<string>(text, {
    about:
      'For which jobs; `*` stands for any letters. What concerns no single job goes by the other rules. By default for all.',
    example: ['orders*'],
  }),
  to: option.schema<readonly string[]>(
    { type: 'array', items: text },
    { required: true, about: 'Names of channels.', example: ['ops'] },
  ),
} satisfies OptionSet;

const staleAfter: JsonSchema = { anyOf: [{ const: false }, span] };
const failures: JsonSchema = { type: 'integer', minimum: 0, maximum: 1000 };

/** What a job may say differently. */
export const jobAlertOptions = {
  first_failure: option.schema<boolean | undefined>(
    { type: 'boolean' },
    { about: 'Tell of the first failure. By default true.', example: false },
  ),
  after_failures: option.schema<number | undefined>(failures, {
    about: `Tell again after so many failures in a row; 0: never. By default ${alertDefaults.afterFailures}.`,
    example: 5,
  }),
  stale_after: option.schema<string | false | undefined>(staleAfter, {
    about:
      'Tell when the data that the instance shows is older, whatever the reason and though nothing runs. By default the time in which a job should have fired three times, and at least an hour; a job without a schedule is never too old.',
    example: '26h',
  }),
  remind: option.schema<string | undefined>(span, {
    about: `As long as it lasts, tell again at most so often. By default ${alertDefaults.remind}.`,
    example: '12h',
  }),
} satisfies OptionSet;

/** `alerts` of a job: what it says differently, and where its alerts go; or `false`. */
export const ownAlertOptions = {
  ...jobAlertOptions,
  to: option.schema<readonly string[] | undefined>(
    { type: 'array', items: text },
    { about: 'Channels of its alerts, instead of what the rules say.', example: ['ops'] },
  ),
} satisfies OptionSet;

/** `alerts` of the top level. */
export const alertOptions = {
  channels: option.schema<Record<string, Record<string, unknown>>>(
    { type: 'object', additionalProperties: channelSchema },
    {
      required: true,
      about: 'Where alerts go, by names of your choice.',
      example: {
        ops: { type: 'email', server: 'smtp://mail.example.com', from: 's@example.com', to: ['me@example.com'] },
      },
    },
  ),
  rules: option.list<Record<string, unknown>>(schemaOf(ruleOptions), {
    about: 'What goes where: an alert goes to the channels of all rules that fit it. Without rules, to every channel.',
    example: [{ on: ['dead'], to: ['ops'] }],
  }),
  ...jobAlertOptions,
  recovery: option.boolean({ about: 'Tell also when it is over.', default: true }),
  settle: option.schema<string>(span, {
    about: 'How long the daemon waits for more of the same before it tells, so that one cause is one message.',
    default: alertDefaults.settle,
  }),
  unsent_after: option.schema<string>(span, {
    about:
      'Tell when what is owed to a destination has not got there for so long, for another reason than quota or key.',
    default: alertDefaults.unsentAfter,
  }),
  quota_left: option.schema<string>(percent, {
    about: "Tell when less than this is left of an account's requests of the day, or when they will not last.",
    default: alertDefaults.quotaLeft,
  }),
} satisfies OptionSet;

export const alertsSchema: JsonSchema = schemaOf(alertOptions);
export const ownAlertsSchema: JsonSchema = { anyOf: [{ const: false }, schemaOf(ownAlertOptions)] };
