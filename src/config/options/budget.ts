import { type OptionSet, option } from '../../sdk/option.ts';

/** The service's rate limit in requests per second. It's the same for every plan. */
const maxRequestsPerSecond = 5;

/** A job's priority when requests are scarce. */
export const priorities = ['high', 'normal', 'low'] as const;
export type JobPriority = (typeof priorities)[number];

export const budgetJobOptions = {
  priority: option.choice(priorities, {
    about:
      'Priority when requests are scarce: payloads are sent in this order; if the daily allowance will not last, `low` jobs are throttled first, then `normal` jobs, but never `high` jobs.',
    default: 'normal',
  }),
} satisfies OptionSet;

export const budgetDestinationOptions = {
  requests_per_second: option.integer({
    minimum: 1,
    maximum: maxRequestsPerSecond,
    default: maxRequestsPerSecond,
    about: "Maximum requests per second. The service's limit is 5.",
  }),
  requests_per_day: option.integer({
    minimum: 1,
    default: 1000,
    about: "Your plan's daily allowance, from midnight to midnight in New York.",
  }),
  reserve_requests: option.integer({
    minimum: 0,
    default: 0,
    about: 'Requests per day that scheduled jobs leave for manual commands.',
  }),
  when_short: option.choice(['throttle', 'first_come'], {
    about:
      "What to do if the day's remaining firings need more requests than are left: `throttle` runs the least important jobs less often and reports this; `first_come` runs all jobs until no requests are left.",
    default: 'throttle',
  }),
  ask_usage: option.boolean({
    about:
      "Whether to ask the service for the account's request count, at most once an hour and only if there is something to send. The count includes requests by other programs on the same account. Asking costs one request and requires the `account.api` permission.",
    default: true,
  }),
} satisfies OptionSet;
