import { createHmac } from 'node:crypto';
import { callUrl } from '../call-url.ts';
import type { Send } from '../channel.ts';

/**
 * Posts the event as it is, signed as the Standard Webhooks specification has it: HMAC-SHA256 with the key's bytes over
 * `id.timestamp.body`, the timestamp in seconds and new for each attempt, so that what is recorded cannot be replayed.
 */
export const send: Send<'webhook'> = (channel, { id, body }, around) => {
  const timestamp = String(Math.floor(around.now / 1000));
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signatureOf({ id, timestamp, body, secret: channel.secret })}`,
  };
  return callUrl({ ...channel, method: 'POST', headers, body }, around);
};

interface Signed {
  readonly id: string;
  readonly timestamp: string;
  readonly body: string;
  /** `whsec_` and base64. */
  readonly secret: string;
}

function signatureOf({ id, timestamp, body, secret }: Signed): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
}
