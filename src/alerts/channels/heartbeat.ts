import { duration, type Values } from '../../config/options/field.ts';
import { option } from '../../sdk/option.ts';
import { defineChannel, limited, type Sent, type Surroundings } from '../channel.ts';
import { text, timeout, urlOf } from '../channel-options.ts';

const options = {
  url: urlOf(
    'URL that Sluice pings with GET requests while everything works. The monitoring service at this URL raises an alarm when the pings stop.',
    'https://hc.example.com/ping/0123',
  ),
  jobs: option.list<string>(text, {
    about:
      'Jobs whose successful results trigger a ping. If no jobs are set, Sluice pings at an interval while the daemon is healthy.',
    example: ['orders'],
  }),
  every: duration(
    option.schema<string>(
      { type: 'string', pattern: '^[1-9]\\d{0,5}[smhdw]$', examples: ['24h'] },
      { about: 'Ping interval if no jobs are set.', default: '5m' },
    ),
  ),
  timeout_seconds: timeout,
};

/** A channel that doesn't send alerts. It sends pings as long as everything works. */
export default defineChannel({ options, ping });

/** Sends one ping. */
export async function ping(channel: Values<typeof options>, around: Surroundings): Promise<Sent> {
  const { callUrl } = await import('../call-url.ts');
  return callUrl({ ...channel, method: 'GET', headers: {} }, limited(around, channel));
}
