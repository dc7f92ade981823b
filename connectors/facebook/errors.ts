import type { Budget, ErrorRule } from '#sdk';

/** Rate-limit codes for the app, the user, a page, an ad account and a business. */
const tooManyCalls = [4, 17, 32, 613, ...Array.from({ length: 15 }, (_, i) => 80_000 + i)];
const permissions = [3, 10, ...Array.from({ length: 100 }, (_, i) => 200 + i)];
const usage = 'x-business-use-case-usage';

/** The response would contain too much data. The fix depends on the stream's options. */
export function tooMuch(next: string): ErrorRule {
  return {
    body: { 'error.message': /reduce the amount of data/i },
    verdict: 'config',
    message: 'cannot return this much data at once',
    next,
  };
}

/** All errors have status code 400 and differ only in their error codes. */
export const errors: readonly ErrorRule[] = [
  {
    body: { 'error.code': 190 },
    verdict: 'login',
    message: 'no longer accepts the token',
    next: 'run "sluice login": tokens last 60 days, and only a new login renews them; or use a system user’s token',
  },
  {
    body: { 'error.code': tooManyCalls },
    headers: { [usage]: /"estimated_time_to_regain_access":\s*[1-9]/ },
    verdict: 'wait',
    wait: { at: { header: usage, at: '*.*.estimated_time_to_regain_access' }, unit: 'minutes' },
  },
  { body: { 'error.code': tooManyCalls }, verdict: 'wait', limit: true },
  tooMuch('request less data: fewer accounts or pages, or, for posts, a later `start_date`'),
  { body: { 'error.is_transient': true }, verdict: 'wait' },
  { body: { 'error.code': [1, 2] }, verdict: 'wait' },
  {
    body: { 'error.code': permissions },
    verdict: 'permission',
    next: 'give the user a role in the ad account or on the page, and give the app the permission that the response names',
  },
  { status: [400, 404], verdict: 'config', next: 'check the IDs and names in the query, and `api_version`' },
];

const near = { means: 'percent_used', threshold: 0.95, pause: '60s' } as const;

/** Headers report usage as JSON, in percent. Facebook doesn't publish the limits themselves. */
export const budget: Budget = {
  gauges: [
    { at: { header: 'x-app-usage', at: '*' }, ...near },
    { at: { header: 'x-ad-account-usage', at: 'acc_id_util_pct' }, ...near },
    { at: { header: 'x-fb-ads-insights-throttle', at: 'acc_id_util_pct' }, ...near },
    ...['call_count', 'total_time', 'total_cputime'].map((name) => ({
      at: { header: usage, at: `*.*.${name}` },
      ...near,
    })),
  ],
};
