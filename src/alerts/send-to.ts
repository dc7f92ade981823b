import type { AlertChannel } from '../config/alerts.ts';
import { type ChannelKind, limited, type Post, type Sent, type Surroundings } from './channel.ts';
import { all as channels } from './channels.generated.ts';

/** Sends an alert to a channel. The overall timeout is three times the channel's `timeout_seconds`. */
export async function sendTo(channel: AlertChannel, post: Post, around: Surroundings): Promise<Sent> {
  const kind: ChannelKind = channels[channel.type];
  const sent = kind.send?.(channel as never, post, limited(around, channel));
  return sent ?? { ok: false, message: `a ${channel.type} channel does not accept alerts` };
}

/** Tests a channel with an alert or, if it doesn't accept alerts, with a ping. */
export async function testChannel(channel: AlertChannel, post: Post, around: Surroundings): Promise<Sent> {
  const kind: ChannelKind = channels[channel.type];
  return (await kind.ping?.(channel as never, around)) ?? sendTo(channel, post, around);
}
