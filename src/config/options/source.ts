import { type OptionSet, option } from '../../sdk/option.ts';
import { duration } from './field.ts';

/** Options for checking a source that no job is reading, and for retrying a refused login. */
export const checkOptions = {
  login_retry: option.choice(['auto', 'off'], {
    default: 'auto',
    about:
      'Whether to retry a refused login automatically: after 1 hour, after 4 more hours, then once a day. Use `off` for accounts that lock after failed logins: then only `sluice sources resume`, a successful `sluice check --connect` or a new secret resumes the source.',
  }),
  check_every: duration(
    option.text({
      pattern: '^([1-9]\\d{0,5}[mhdw])+$',
      about:
        'How often the daemon checks that the source responds if no job has read it in the meantime, so that you are alerted before the next run fails. Default: never. Useful for sources that are read once a day or less often. A check costs no requests to the service.',
      example: '1h',
    }),
  ),
} satisfies OptionSet;

/** Options of every source, in addition to the connector's own options. */
export const sourceOptions = {
  connector: option.text({ required: true, about: 'Name of the connector that reads this source.', example: 'db' }),
  ...checkOptions,
} satisfies OptionSet;
