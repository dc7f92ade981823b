import { expect, it, onTestFinished } from 'vitest';
import { redact } from '../../src/lib/redact.ts';
import { answerText } from '../../src/secrets/problems.ts';
import { SecretReader } from '../../src/secrets/secret-reader.ts';
import { type SecretRequest, SecretsClient } from '../../src/secrets/secrets-client.ts';
import { SteppingClock } from '../clocks.ts';
import { Double, type Reply } from './double.ts';

/** Asks a server that returns these responses, the last one repeatedly. Returns the status or the problem. */
async function ask(answers: readonly Reply[], more: Partial<SecretRequest> = {}) {
  const server = await Double.start(() => answers[Math.min(server.asked.length, answers.length) - 1]!);
  const client = new SecretsClient({ clock: new SteppingClock(), random: () => 0 });
  onTestFinished(() => client.close());
  const call = client.call({ title: 'Vault', method: 'GET', url: server.url, ...more });
  const seen = await call.then(
    ({ status }) => status,
    ({ seen: text }: { seen: string }) => text,
  );
  return { seen, asked: server.asked.length };
}

it('a failing server gets six requests, and an optional server that fails gets only one', async () => {
  expect(await ask([{ status: 503 }])).toEqual({ seen: 'status 503, after 6 attempts', asked: 6 });
  expect(await ask([{ status: 503 }, {}])).toEqual({ seen: 200, asked: 2 });
  expect(await ask([{ status: 503 }], { isOptional: true })).toEqual({ seen: 'status 503, after 1 attempt', asked: 1 });
});

it('an unreachable server is tried three times, and an optional one only once', async () => {
  const url = 'http://127.0.0.1:1';
  expect(await ask([], { url })).toEqual({ seen: 'ECONNREFUSED, after 3 attempts', asked: 0 });
  expect(await ask([], { url, isOptional: true })).toEqual({ seen: 'ECONNREFUSED, after 1 attempt', asked: 0 });
});

it('a server that asks the client to wait is tried for at most 30 seconds', async () => {
  const wait = { status: 429, headers: { 'retry-after': '14' } };
  expect(await ask([wait])).toEqual({ seen: expect.stringMatching(/^status 429 .*after 3 attempts$/), asked: 3 });
});

it('a request is repeated if its response is truncated', async () => {
  const half = { headers: { 'content-length': '99', connection: 'close' }, body: 'half' };
  expect(await ask([half, { status: 204 }])).toEqual({ seen: 204, asked: 2 });
});

it("only the beginning of a provider's message is shown, on one line", () => {
  const message = `first\n${'x'.repeat(999)}`;
  expect(answerText(400, 'Bad', message)).toBe(`status 400: Bad: first ${'x'.repeat(294)}…`);
});

it('secrets can still be read after the config load that first read them was stopped', async () => {
  const { url } = await Double.start(({ path }) =>
    path.includes('mounts') ? { status: 403 } : { body: { data: { data: { value: 'p-w-1' } } } },
  );
  const load = new AbortController();
  const settings = { vault: { address: url, token: 'vault-token' } };
  const first = new SecretReader({ settings, cwd: '/', env: {}, signal: load.signal });
  load.abort(new Error('stopped'));
  await expect(first.read('vault', 'secret/x')).rejects.toThrow('stopped');
  const again = first.fresh();
  onTestFinished(() => again.close());
  expect(await again.read('vault', 'secret/x')).toBe('p-w-1');
});

it("each secret value is redacted, unless it's a port or a boolean", async () => {
  const data = { pin: '123456', long: '98765432109876543210', port: '54321', on: 'true', word: 'open' };
  const { url } = await Double.start(({ path }) =>
    path.includes('mounts') ? { status: 403 } : { body: { data: { data } } },
  );
  const settings = { vault: { address: url, token: 'vault-token' } };
  const reader = new SecretReader({ settings, cwd: '/', env: {} });
  onTestFinished(() => reader.close());
  for (const name of Object.keys(data)) await reader.read('vault', `secret/x#${name}`);
  expect(Object.values(data).map((value) => redact(`- ${value} -`))).toEqual([
    ...['- [redacted] -', '- [redacted] -', '- 54321 -', '- true -', '- [redacted] -'],
  ]);
});
