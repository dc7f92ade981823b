import type { AddressInfo } from 'node:net';
import type { SMTPServerOptions } from 'smtp-server';
import { SMTPServer } from 'smtp-server';
import { onTestFinished } from 'vitest';

/** One mail as a server received it. */
export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and body as received. */
  readonly text: string;
  readonly secure: boolean;
  readonly user: string | undefined;
}

export interface MailServer {
  readonly port: number;
  readonly mails: readonly Mail[];
}

/** A real mail server. By default, it supports neither encryption nor logins. */
export async function openMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: Mail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    ...(options.key === undefined ? { disabledCommands: ['STARTTLS'] } : {}),
    onData: (stream, session, done) => {
      let text = '';
      stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text,
          secure: session.secure,
          user: session.user,
        });
        done(null, 'kept');
      });
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (server.server.address() as AddressInfo).port, mails };
}
