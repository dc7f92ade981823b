import { type JsonSchema, type OptionSet, type OptionValues, option, schemaOf } from '../sdk/option.ts';

/** What is written under `retry`, where it is a map. */
export const retryOptions = {
  first: option.text({
    about: 'The wait before the second attempt; each further one is twice as long.',
    example: '1m',
  }),
  longest: option.text({ about: 'No wait is longer, unless the source asks for it.', example: '5m' }),
  within: option.text({ about: 'No attempt begins later than this after the first one began.', example: '2h' }),
  attempts: option.integer({
    minimum: 1,
    maximum: 1000,
    about: 'At most this many attempts, the first one included. By default time alone ends them.',
  }),
} satisfies OptionSet;

/** A rule as it is written. */
export type WrittenRetry = 'off' | Partial<OptionValues<typeof retryOptions>>;

/** What applies unless the config says otherwise. */
export const retryDefaults = { first: '30s', longest: '10m', within: '6h' } as const;

const schema: JsonSchema = { anyOf: [{ enum: ['off'] }, schemaOf(retryOptions)] };

const about =
  'When a run is tried again that failed because its source was away or busy: after `first` (half of each wait is random), then after twice as long each time up to `longest`, until `within` has passed or the job fires next. `off`: the next firing is the next attempt.';

export const topRetryOptions = {
  retry: option.schema<WrittenRetry | undefined>(schema, { about, default: retryDefaults }),
} satisfies OptionSet;

export const jobRetryOptions = {
  retry: option.schema<WrittenRetry | undefined>(schema, {
    about: `${about} What it leaves out is as at the top level.`,
    example: { first: '1m', within: '2h' },
  }),
} satisfies OptionSet;
