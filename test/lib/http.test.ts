import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { HttpAgent, sendRequest } from '../../src/lib/http.ts';
import { forgetSecrets, registerSecret } from '../../src/lib/redact.ts';

const secret = '0123456789abcdefghijABCDEFGHIJ';

afterEach(forgetSecrets);

/** What a reader with the limit `answerLimitBytes` gets of a response. */
async function textOf(body: string, answerLimitBytes: number): Promise<unknown> {
  const server = createServer((_, response) => response.end(body)).listen(0, '127.0.0.1');
  const agent = new HttpAgent({ connectTimeoutMs: 60_000 });
  onTestFinished(async () => {
    await agent.destroy();
    server.close();
  });
  await new Promise((done) => server.once('listening', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return sendRequest({ agent, method: 'GET', url, headers: {}, timeoutMs: 60_000, answerLimitBytes });
}

it('a response that exceeds the limit is cut off before a secret that the limit would split', async () => {
  registerSecret(secret);
  for (const inside of [5, 15, 29]) {
    const got = await textOf(`the key ${secret} is unknown`, 8 + inside);
    expect(got).toMatchObject({ text: 'the key [redacted]', complete: false });
  }
});

it('a response that is read completely stays unchanged so that it can be parsed', async () => {
  registerSecret(secret);
  const body = `{"key":"${secret}"}`;
  expect(await textOf(body, body.length)).toMatchObject({ text: body, complete: true });
});
