import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Heard {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string>;
  readonly type: string | undefined;
  readonly authorization: string | undefined;
  readonly body: string;
}

export type Answer = {
  readonly status?: number;
  readonly body: string | object;
  readonly headers?: Record<string, string>;
};

/** A token URL that records its requests and responds as scripted; the last response is repeated. */
export async function tokenAddress(...answers: (Answer | ((heard: Heard) => Answer))[]) {
  const heard: Heard[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += String(piece);
    const url = new URL(request.url ?? '', 'http://x');
    const { 'content-type': type, authorization } = request.headers;
    const query = Object.fromEntries(url.searchParams);
    heard.push({ method: request.method!, path: url.pathname, query, type, authorization, body });
    const scripted = answers[Math.min(heard.length, answers.length) - 1]!;
    const answer = typeof scripted === 'function' ? scripted(heard.at(-1)!) : scripted;
    response.writeHead(answer.status ?? 200, answer.headers ?? { 'content-type': 'application/json' });
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`, heard };
}
