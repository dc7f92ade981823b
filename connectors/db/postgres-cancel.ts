import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { exponentialMs } from '#sdk';
import { maxCancelMs, waitAtMost } from './patience.ts';
import { checkMessages } from './postgres-messages.ts';

/** The part of pg's Connection that sends a CancelRequest. pg's published types lack this part. */
interface Messenger {
  on(event: 'connect' | 'sslconnect' | 'end' | 'error', listener: () => void): void;
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

interface CancelOptions {
  readonly config: pg.ClientConfig;
  /** Whether a response from the server is still outstanding. */
  readonly isBusy: () => boolean;
}

/**
 * How long one cancel request may take. A pooler such as PgBouncer forwards the request only while its client is
 * connected, and may be busy.
 */
const requestTimeoutMs = 5000;
const cancelBackoff = { firstMs: 50, maxMs: 1000 };

/**
 * Asks the server to cancel the client's current statement, and repeats this until the server responds or a minute has
 * passed. The requests don't keep the process running.
 */
export async function repeatCancel(client: pg.Client, { config, isBusy }: CancelOptions): Promise<void> {
  const end = Date.now() + maxCancelMs;
  for (let tries = 0; isBusy() && Date.now() < end; tries++) {
    await requestCancel(client, config);
    if (isBusy()) await wait(exponentialMs(tries, cancelBackoff), undefined, { ref: false });
  }
}

/**
 * Opens a second connection, encrypted like the client's, and asks the server to cancel the client's current statement.
 */
async function requestCancel(client: pg.Client, config: pg.ClientConfig): Promise<void> {
  const { processID, secretKey } = client as unknown as { processID: number | null; secretKey: number };
  if (processID === null) return;
  const { ssl, host, port, stream } = config;
  const connection = new pg.Connection({ ssl, stream } as pg.ConnectionConfig);
  const messenger = connection as unknown as Messenger;
  const done = new Promise<void>((resolve) => {
    const go = () => messenger.cancel(processID, secretKey);
    messenger.on('connect', () => (ssl ? messenger.requestSsl() : go()));
    messenger.on('sslconnect', go);
    messenger.on('end', () => resolve());
    messenger.on('error', () => resolve());
  });
  // As usual in PostgreSQL, a host that starts with a slash is the folder that contains a Unix socket.
  if (host!.startsWith('/')) messenger.connect(`${host}/.s.PGSQL.${port}`);
  else messenger.connect(port!, host!);
  checkMessages(connection, { hasChannelBinding: false });
  (connection.stream as Socket).unref();
  await waitAtMost(requestTimeoutMs, done, { ref: false });
  connection.stream.destroy();
}
