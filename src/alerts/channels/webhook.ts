import { createHmac } from 'node:crypto';
import { option } from '../../sdk/option.ts';
import { defineChannel } from '../channel.ts';
import { timeout, urlOf } from '../channel-options.ts';

const options = {
  url: urlOf('URL to which Sluice sends alerts as JSON in POST requests.', 'https://alerts.example.com/sluice'),
  secret: option.text({
    required: true,
    secret: true,
    pattern: '^whsec_[A-Za-z0-9+/]{32,88}={0,2}$',
    about: 'Key that signs each request: `whsec_` followed by 24 to 64 random bytes in base64.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable in the config
    example: '${env:SLUICE_ALERT_SECRET}',
  }),
  timeout_seconds: timeout,
};

/**
 * Posts the event unchanged, signed according to the Standard Webhooks specification: HMAC-SHA256 over
 * `id.timestamp.body`, with the decoded key. The timestamp is in seconds. Each attempt has a new timestamp, so recorded
 * requests can't be replayed.
 */
export default defineChannel({
  options,
  async send(channel, { id, body }, around) {
    const { callUrl } = await import('../call-url.ts');
    const timestamp = String(Math.floor(around.now / 1000));
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signatureOf({ id, timestamp, body, secret: channel.secret })}`,
    };
    return callUrl({ ...channel, method: 'POST', headers, body }, around);
  },
});

interface Signed {
  readonly id: string;
  readonly timestamp: string;
  readonly body: string;
  /** `whsec_` followed by base64. */
  readonly secret: string;
}

function signatureOf({ id, timestamp, body, secret }: Signed): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
}
