import type { Socket } from 'node:net';
import pg from 'pg';
import { waitAtMost } from './patience.ts';
import { checkMessages } from './postgres-messages.ts';

/** The part of pg's Connection for a CancelRequest; its published types lack it. */
interface Messenger {
  on(event: 'connect' | 'sslconnect' | 'end' | 'error', listener: () => void): void;
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

interface CancelOptions {
  readonly config: pg.ClientConfig;
  /** Timeout for the server to close the connection, which confirms the request. */
  readonly patienceMs: number;
}

/**
 * Asks the server to cancel a client's current statement, over a second connection, encrypted like the client's. The second
 * connection doesn't keep the process running.
 */
export async function requestCancel(client: pg.Client, { config, patienceMs }: CancelOptions): Promise<void> {
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
  // A host that starts with a slash is the folder of a Unix socket, as usual in PostgreSQL.
  if (host!.startsWith('/')) messenger.connect(`${host}/.s.PGSQL.${port}`);
  else messenger.connect(port!, host!);
  checkMessages(connection);
  (connection.stream as Socket).unref();
  await waitAtMost(patienceMs, done);
  connection.stream.destroy();
}
