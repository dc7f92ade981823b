import type { SendMailOptions, Transporter } from 'nodemailer';
import type { ChannelNamed } from '../../config/alerts.ts';
import { networkWords, seenIn } from '../../sdk/network.ts';
import type { Post, Send, Sent } from '../channel.ts';

/** A server that does not hang up behind the mail is hung up on. */
const longestGoodbyeMs = 1000;

/** One mail in plain text on a connection of its own. */
export const send: Send<'email'> = async (channel, post, { signal, now }) => {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport(transportOf(channel));
  try {
    return await deliver(transport, { ...mailOf(channel, post, now), signal });
  } finally {
    transport.close();
  }
};

async function deliver(transport: Transporter, mail: SendMailOptions): Promise<Sent> {
  try {
    const { response, rejected } = (await transport.sendMail(mail)) as { response: string; rejected: unknown[] };
    const refused = rejected.map(String).join(', ');
    return { ok: true, message: refused === '' ? response : `${response}; refused: ${refused}` };
  } catch (thrown) {
    const { code, message } = seenIn(thrown);
    // The mail client wraps what the network said into words and a code of its own.
    const words = networkWords[/\bE[A-Z_]{4,}\b/.exec(message)?.[0] ?? ''];
    if (words !== undefined) return { ok: false, message: `not reached: ${words}` };
    return { ok: false, message: code === '' ? message : `${message} (${code})` };
  }
}

function transportOf(channel: ChannelNamed<'email'>) {
  const { protocol, hostname, port, username, password } = new URL(channel.server);
  const secure = protocol === 'smtps:';
  const user = channel.user ?? decodeURIComponent(username);
  const pass = channel.password ?? decodeURIComponent(password);
  const timeout = channel.timeoutMs;
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    // A password never goes out in the clear, whatever the server offers.
    requireTLS: !secure && (channel.tls === 'required' || user !== ''),
    ...(user === '' ? {} : { auth: { user, pass } }),
    connectionTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout,
    socketCloseTimeout: Math.min(timeout, longestGoodbyeMs),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function mailOf({ from, to }: ChannelNamed<'email'>, { id, event }: Post, now: number): SendMailOptions {
  const { title, text } = event.data;
  return {
    from,
    to: [...to],
    subject: `Sluice: ${title}`,
    text,
    date: new Date(now),
    // The same at every attempt: mailboxes show a mail once that arrives twice.
    messageId: `<${id}@sluice>`,
    headers: { 'auto-submitted': 'auto-generated', 'x-auto-response-suppress': 'All' },
  };
}
