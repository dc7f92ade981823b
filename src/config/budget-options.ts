import { type OptionSet, option } from '../sdk/option.ts';

/** The service takes at most this many requests in any second, whatever the plan. */
const mostRequestsPerSecond = 5;

/** How important a job is where requests are scarce. */
export const priorities = ['high', 'normal', 'low'] as const;
export type JobPriority = (typeof priorities)[number];

/** A job's say in the day's budget. */
export const budgetJobOptions = {
  priority: option.choice(priorities, {
    about:
      'Who goes first where requests are scarce: what waits is sent in this order, and when the day does not reach, `low` runs less often first, then `normal`; `high` never does.',
    default: 'normal',
  }),
} satisfies OptionSet;

/** What a destination may spend, and what it does about that. */
export const budgetDestinationOptions = {
  requests_per_second: option.integer({
    minimum: 1,
    maximum: mostRequestsPerSecond,
    default: mostRequestsPerSecond,
    about: 'Most requests in any second. The service takes 5.',
  }),
  requests_per_day: option.integer({
    minimum: 1,
    default: 1000,
    about: 'Requests that your plan allows in a day, midnight to midnight in New York.',
  }),
  reserve_requests: option.integer({
    minimum: 0,
    default: 0,
    about: 'Requests of the day that scheduled work leaves for people at a keyboard.',
  }),
  when_short: option.choice(['throttle', 'first_come'], {
    about:
      "What happens when the rest of the day's firings ask for more requests than are left: `throttle` lets the least important jobs fire less often, and says so; `first_come` lets all fire until nothing is left.",
    default: 'throttle',
  }),
  ask_usage: option.boolean({
    about:
      'Ask the service how many requests the account has used, at most once an hour and only while there is something to send. It shows what others use of the same account, costs a request, and needs the permission `account.api`.',
    default: true,
  }),
} satisfies OptionSet;
