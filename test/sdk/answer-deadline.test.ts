import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { AnswerDeadline } from '../../src/sdk/http/answer-deadline.ts';
import { HttpClient } from '../../src/sdk/http/client.ts';
import type { HttpRequest } from '../../src/sdk/http/request.ts';
import { TestServer } from '../connectors/http-server.ts';

const listeners = (signal: AbortSignal): number => getEventListeners(signal, 'abort').length;

test('a deadline aborts after its time, or with another signal for its reason', async () => {
  const run = new AbortController();
  const late = new AnswerDeadline(run.signal, 1);
  // Keeps the process alive, because the deadline doesn't.
  while (!late.signal.aborted) await sleep(5);
  expect(late.signal.reason).toMatchObject({ name: 'TimeoutError' });
  expect(listeners(run.signal)).toBe(0);

  const stopped = new AnswerDeadline(run.signal, 600_000);
  run.abort(new Error('stopped'));
  expect(stopped.signal.reason).toEqual(new Error('stopped'));
  stopped.release();
  const tooLate = new AnswerDeadline(run.signal, 600_000);
  expect(tooLate.signal.reason).toEqual(new Error('stopped'));
  tooLate.release();
});

test('a released deadline never aborts', async () => {
  const run = new AbortController();
  const deadline = new AnswerDeadline(run.signal, 1);
  deadline.release();
  run.abort();
  await sleep(20);
  expect(deadline.signal.aborted).toBe(false);
});

test('a request leaves nothing at the signal of its run, however it ends', async () => {
  const server = await new TestServer().start();
  const { signal } = new AbortController();
  const client = new HttpClient({ timeoutMs: 30_000, answerMs: 600_000, signal, otherOrigins: [] });
  const request = (path: string): HttpRequest => ({
    method: 'GET',
    url: new URL(path, server.url),
    body: undefined,
    plainHeaders: {},
    trustedHeaders: {},
    trustedQuery: [],
    trustedOrigin: server.url,
  });
  server.answer = ({ pathname }, response) => {
    if (pathname === '/away') response.writeHead(302, { location: 'http://other.test/' }).end();
    else if (pathname === '/cut') response.socket!.destroy();
    else response.writeHead(pathname === '/refused' ? 400 : 200).end('ok');
  };
  try {
    for (let i = 0; i < 3; i++) {
      const { body } = await client.fetch(request('/'));
      expect(listeners(signal)).toBe(1);
      for await (const _ of body);
      for (const path of ['/away', '/cut', '/refused'])
        await expect(client.fetch(request(path))).rejects.toMatchObject({ code: expect.stringContaining('REST_') });
      expect(listeners(signal)).toBe(0);
    }
  } finally {
    await client.close();
    await server.stop();
  }
});
