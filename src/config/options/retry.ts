import { type JsonSchema, type OptionSet, type OptionValues, option, schemaOf } from '../../sdk/option.ts';

/** What is written under `retry`, where it is a map. */
export const retryOptions = {
  first: option.text({
    about: 'Wait before the second attempt. It doubles for each further attempt.',
    example: '1m',
  }),
  longest: option.text({ about: 'Maximum wait, unless the source asks for a longer one.', example: '5m' }),
  within: option.text({ about: 'No attempt starts later than this after the first one.', example: '2h' }),
  attempts: option.integer({
    minimum: 1,
    maximum: 1000,
    about: 'Maximum number of attempts, including the first one. Default: limited by time only.',
  }),
} satisfies OptionSet;

/** A rule as it is written. */
export type WrittenRetry = 'off' | Partial<OptionValues<typeof retryOptions>>;

/** What applies unless the config says otherwise. */
export const retryDefaults = { first: '30s', longest: '10m', within: '6h' } as const;

const schema: JsonSchema = { anyOf: [{ enum: ['off'] }, schemaOf(retryOptions)] };

const about =
  'When to retry a run that failed because its source was unavailable or busy: after `first` (half of each wait is random), then with doubled waits up to `longest`, until `within` has passed or the job fires next. `off`: no retry before the next firing.';

export const topRetryOptions = {
  retry: option.schema<WrittenRetry | undefined>(schema, { about, default: retryDefaults }),
} satisfies OptionSet;

export const jobRetryOptions = {
  retry: option.schema<WrittenRetry | undefined>(schema, {
    about: `${about} Options that are not set come from the top level.`,
    example: { first: '1m', within: '2h' },
  }),
} satisfies OptionSet;
