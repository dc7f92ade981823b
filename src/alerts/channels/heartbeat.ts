import type { ChannelNamed } from '../../config/alerts.ts';
import { callUrl } from '../call-url.ts';
import { limited, type Sent, type Surroundings } from '../channel.ts';

/** Asks the address once: all is well. */
export function ping(channel: ChannelNamed<'heartbeat'>, around: Surroundings): Promise<Sent> {
  return callUrl({ ...channel, method: 'GET', headers: {} }, limited(around, channel));
}
