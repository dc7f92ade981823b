import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { until } from '../journey/process.ts';

export const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** One request as received. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export interface Receiver {
  readonly url: string;
  readonly got: readonly Received[];
  /** The response from now on. */
  answer(status: number, headers?: Record<string, string>, text?: string): void;
  /** After this, the server accepts requests but never responds. */
  fallSilent(): void;
  /** The titles of the posted events, in order. */
  titles(): string[];
  /** Waits for this many events. */
  receives(count: number): Promise<void>;
}

/** A real HTTP server that records what it receives. */
export async function openReceiver(): Promise<Receiver> {
  const got: Received[] = [];
  let status = 200;
  let extra: Record<string, string> = {};
  let body: string | undefined;
  let isSilent = false;
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      got.push({ method: request.method ?? '', path: request.url ?? '', headers, text });
      if (!isSilent) response.writeHead(status, extra).end(body ?? (status < 300 ? 'thanks' : 'not now'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/alerts?for=me`,
    got,
    answer: (next, headers = {}, text) => {
      body = text;
      status = next;
      extra = headers;
    },
    fallSilent: () => {
      isSilent = true;
    },
    titles: () => got.map(({ text }) => (JSON.parse(text) as { data: { title: string } }).data.title),
    receives: (count) => until(`${count} alerts`, () => got.length >= count),
  };
}

/** Verifies a request as the Standard Webhooks specification requires of receivers. */
export function isSigned({ headers, text }: Received, key = secret): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`;
  const expected = createHmac('sha256', Buffer.from(key.slice('whsec_'.length), 'base64'))
    .update(signed)
    .digest();
  const given = Buffer.from((headers['webhook-signature'] ?? '').replace(/^v1,/, ''), 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
