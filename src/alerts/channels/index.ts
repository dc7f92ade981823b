import type { AlertChannel, ChannelType } from '../../config/alerts.ts';
import { limited, type Post, type Send, type Sent, type Surroundings } from '../channel.ts';

type AlertType = Exclude<ChannelType, 'heartbeat'>;

/** One file each, loaded when its first alert goes out. */
const senders: { readonly [T in AlertType]: () => Promise<{ readonly send: Send<T> }> } = {
  webhook: () => import('./webhook.ts'),
  slack: () => import('./slack.ts'),
  email: () => import('./email.ts'),
  command: () => import('./command.ts'),
};

/** Hands an alert to a channel, within three times its `timeout_seconds`. */
export async function sendTo(channel: AlertChannel, post: Post, around: Surroundings): Promise<Sent> {
  if (channel.type === 'heartbeat') return { ok: false, message: 'a heartbeat channel does not accept alerts' };
  const { send } = (await senders[channel.type]()) as { send: Send<AlertType> };
  return send(channel, post, limited(around, channel));
}
