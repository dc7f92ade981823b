import type { SendMailOptions, Transporter } from 'nodemailer';
import type { Values } from '../../config/options/field.ts';
import { networkWords, seenIn } from '../../lib/network.ts';
import { option } from '../../sdk/option.ts';
import { defineChannel, type Post, type Sent } from '../channel.ts';
import { text, timeout } from '../channel-options.ts';

const options = {
  server: option.schema<string>(
    { ...text, pattern: '^smtps?://[^/\\s]+$' },
    {
      required: true,
      about:
        'URL of the mail server: smtps:// encrypts from the start (port 465), smtp:// as soon as the server offers encryption (port 587). The URL can contain a user and password.',
      example: 'smtp://mail.example.com',
    },
  ),
  user: option.text({ about: 'User name.', example: 'sluice@example.com' }),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable in the config
  password: option.text({ secret: true, about: 'Password of that user.', example: '${env:SMTP_PASSWORD}' }),
  from: option.text({ required: true, about: 'Sender.', example: 'Sluice <sluice@example.com>' }),
  to: option.schema<readonly string[]>(
    { type: 'array', items: text, minItems: 1 },
    { required: true, about: 'Recipients.', example: ['me@example.com'] },
  ),
  tls: option.choice(['required', 'when offered'], {
    about: 'Whether to refuse servers without encryption. A password is never sent unencrypted.',
    default: 'required',
  }),
  timeout_seconds: timeout,
};

type Email = Values<typeof options>;

/** How long to wait for the server to close the connection after it has accepted the email. */
const maxGoodbyeMs = 1000;

/** Sends one plain-text email over a connection of its own. */
export default defineChannel({
  options,
  async send(channel, post, { signal, now }) {
    const { createTransport } = await import('nodemailer');
    const transport = createTransport(transportOf(channel));
    try {
      return await deliver(transport, { ...mailOf(channel, post, now), signal });
    } finally {
      transport.close();
    }
  },
});

async function deliver(transport: Transporter, mail: SendMailOptions): Promise<Sent> {
  try {
    const { response, rejected } = (await transport.sendMail(mail)) as { response: string; rejected: unknown[] };
    const refused = rejected.map(String).join(', ');
    return { ok: true, message: refused === '' ? response : `${response}; refused: ${refused}` };
  } catch (thrown) {
    const { code, message } = seenIn(thrown);
    // The email library wraps network errors in messages and codes of its own.
    const words = networkWords[/\bE[A-Z_]{4,}\b/.exec(message)?.[0] ?? ''];
    if (words !== undefined) return { ok: false, message: `could not be reached: ${words}` };
    return { ok: false, message: code === '' ? message : `${message} (${code})` };
  }
}

function transportOf(channel: Email) {
  const { protocol, hostname, port, username, password } = new URL(channel.server);
  const secure = protocol === 'smtps:';
  const user = channel.user ?? decodeURIComponent(username);
  const pass = channel.password ?? decodeURIComponent(password);
  const timeout = channel.timeoutMs;
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    // A password is never sent unencrypted, even if the server doesn't support encryption.
    requireTLS: !secure && (channel.tls === 'required' || user !== ''),
    ...(user === '' ? {} : { auth: { user, pass } }),
    connectionTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout,
    socketCloseTimeout: Math.min(timeout, maxGoodbyeMs),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function mailOf({ from, to }: Email, { id, event }: Post, now: number): SendMailOptions {
  const { title, text } = event.data;
  return {
    from,
    to: [...to],
    subject: `Sluice: ${title}`,
    text,
    date: new Date(now),
    // The ID is the same in all attempts, so that mailboxes show duplicates only once.
    messageId: `<${id}@sluice>`,
    headers: { 'auto-submitted': 'auto-generated', 'x-auto-response-suppress': 'All' },
  };
}
