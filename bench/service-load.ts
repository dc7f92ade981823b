import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

/** A request to repeat, and the body that every response must have. */
export interface Load {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly milliseconds: number;
  readonly connections: number;
}

const headEnd = Buffer.from('\r\n\r\n');

/**
 * Sends requests over each connection, one at a time, and returns the requests per second. Compares responses byte for
 * byte, except for their date, and fails if one differs. Uses sockets, because an HTTP client would need more CPU than
 * the measured server.
 */
export async function load(given: Load): Promise<{ readonly perSecond: number; readonly answers: number }> {
  const started = performance.now();
  const end = started + given.milliseconds;
  const counts = await Promise.all(Array.from({ length: given.connections }, () => keepBusy(given, end)));
  const answers = counts.reduce((sum, count) => sum + count, 0);
  return { perSecond: (answers / (performance.now() - started)) * 1000, answers };
}

async function keepBusy(given: Load, end: number): Promise<number> {
  const { hostname, port } = new URL(given.url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  const request = requestText(given);
  let answers = 0;
  try {
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('the server has closed the connection')));
      onEachAnswer(socket, given.body, reject, () => {
        answers++;
        if (performance.now() < end) socket.write(request, 'latin1');
        else resolve();
      });
      socket.write(request, 'latin1');
    });
  } finally {
    socket.destroy();
  }
  return answers;
}

function requestText({ url, headers = {} }: Load): string {
  const { pathname, search, host } = new URL(url);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}`);
  return `GET ${pathname}${search} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

function onEachAnswer(socket: Socket, body: Buffer, fail: (error: Error) => void, next: () => void): void {
  let pending: Buffer | undefined;
  socket.on('data', (piece: Buffer) => {
    const bytes = pending === undefined ? piece : Buffer.concat([pending, piece]);
    const at = bytes.indexOf(headEnd);
    if (at < 0 || bytes.length < at + headEnd.length + body.length) {
      pending = bytes;
      return;
    }
    pending = undefined;
    if (bytes.subarray(at + headEnd.length).equals(body)) next();
    else fail(new Error(`not the expected response: ${bytes.toString('utf8', 0, 500)}`));
  });
}
