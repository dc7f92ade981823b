import { type JsonSchema, type OptionSet, option, schemaOf } from '../../sdk/option.ts';
import { limitedDuration } from './times.ts';

const retryDuration = (name: string, to: string, about: string, example: string) =>
  limitedDuration(option.text({ about, example }), {
    code: 'CONFIG_RETRY',
    what: '"retry"',
    of: `"${name}"`,
    from: '1s',
    to,
  });

export const retryOptions = {
  first: retryDuration(
    'first',
    '1h',
    'Wait before the second attempt. The wait doubles with each further attempt.',
    '1m',
  ),
  longest: retryDuration('longest', '1d', 'Maximum wait, unless the source asks for a longer one.', '5m'),
  within: retryDuration(
    'within',
    '7d',
    'Maximum time after the first attempt at which another attempt may start.',
    '2h',
  ),
  attempts: option.integer({
    minimum: 1,
    maximum: 1000,
    about: 'Maximum number of attempts, including the first one. Default: limited only by time.',
  }),
} satisfies OptionSet;

export const retryDefaults = { first: '30s', longest: '10m', within: '6h' } as const;

const schema: JsonSchema = { anyOf: [{ enum: ['off'] }, schemaOf(retryOptions)] };

const about =
  'When to retry a run that failed because its source was unavailable or busy: after `first` (half of each wait is random), then with doubled waits up to `longest`, until `within` has passed or the next firing of the job is due. With `off`, the job does not run again before its next firing.';

export const topRetryOptions = {
  retry: option.schema<'off' | object | undefined>(schema, { about, default: retryDefaults }),
} satisfies OptionSet;

export const jobRetryOptions = {
  retry: option.schema<'off' | object | undefined>(schema, {
    about: `${about} Options that are not set come from the top level.`,
    example: { first: '1m', within: '2h' },
  }),
} satisfies OptionSet;
