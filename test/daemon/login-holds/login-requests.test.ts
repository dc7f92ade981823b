import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import hubspot from '../../../connectors/hubspot.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { composeRuntime } from '../../../src/daemon/compose.ts';
import { LoginSerializer } from '../../../src/daemon/login-holds/login-serializer.ts';
import { guardSource } from '../../../src/daemon/login-holds/source-session.ts';
import { runJob } from '../../../src/daemon/run/run-job.ts';
import type { RunOutcome } from '../../../src/daemon/run/run-outcome.ts';
import { Problem } from '../../../src/lib/problem.ts';
import { openStore } from '../../../src/state/store.ts';
import { SteppingClock } from '../../clocks.ts';
import { writeConfig } from '../../journey/home.ts';
import { makeFolder } from '../../journey/process.ts';
import { gateOf } from '../bank.ts';
import { clockAtHalfPast } from '../rig.ts';

const many = 10;

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

/** An API that counts its requests. */
async function startApi(answer: Answer) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    void answer(request, response);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const refuse: Answer = (_, response) => response.writeHead(401).end('{}');
const rows: Answer = (_, response) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end('[{"value":1}]');

interface Read {
  readonly source: object;
  readonly query?: (n: number) => object;
}

/** Codes or states of many jobs of one source that start at the same time. */
async function runTogether({ source, query = (n) => ({ path: `/rows/${n}` }) }: Read): Promise<string[]> {
  const names = Array.from({ length: many }, (_, n) => `job${n}`);
  const job = (n: number) => ({ source: 'api', query: query(n), format: 'json', target: `${n}`.repeat(32) });
  const file = await writeConfig(await makeFolder(), {
    destinations: { main: { url: 'http://127.0.0.1:1/api/1.0', api_key: 'abcdefabcdef' } },
    sources: { api: source },
    jobs: Object.fromEntries(names.map((name, n) => [name, job(n)])),
  });
  const { config, problems } = await loadConfig(file);
  expect(problems).toEqual([]);
  const runtime = await composeRuntime({ config: config! });
  onTestFinished(() => runtime.close());
  const run = (name: string): Promise<RunOutcome> =>
    runJob({
      ...{ runtime, config: config!, job: config!.jobs.get(name)! },
      ...{ signal: new AbortController().signal, origin: 'schedule' },
    });
  const outcomes = await Promise.all(names.map(run));
  return outcomes.map(({ state, problem }) => problem?.code ?? state);
}

const basic = (url: string) => ({
  ...{ connector: 'simple_rest', url, retries: 0 },
  auth: { kind: 'basic', user: 'etl', password: 'some-password' },
});
const onHold = (times: number): string[] => Array.from({ length: times }, () => 'LOGIN_ON_HOLD');

it('jobs that start together send a wrong password to at most two paths', async () => {
  const { asked, url } = await startApi(refuse);
  const codes = await runTogether({ source: basic(url) });
  expect(asked).toHaveLength(2);
  expect(codes.toSorted()).toEqual([...onHold(many - 2), 'REST_LOGIN', 'REST_LOGIN']);
});

it('a wrong key in a header is sent to at most two paths', async () => {
  const { asked, url } = await startApi(refuse);
  const source = { connector: 'simple_rest', url, retries: 0, headers: { 'x-api-key': 'some-wrong-key' } };
  const codes = await runTogether({ source });
  expect(asked).toHaveLength(2);
  expect(codes.toSorted()).toEqual([...onHold(many - 2), 'REST_LOGIN', 'REST_LOGIN']);
});

it('a login call with a wrong password is sent only once', async () => {
  const { asked, url } = await startApi(refuse);
  const call = { path: '/session', method: 'POST', body: { user: 'etl', password: 'some-password' } };
  const source = { connector: 'simple_rest', url, retries: 0, auth: { kind: 'login_call', call, token_path: 'token' } };
  const codes = await runTogether({ source });
  expect(asked).toEqual(['/session']);
  expect(codes.toSorted()).toEqual([...onHold(many - 1), 'REST_LOGIN']);
});

it('a wrong token is sent to a service at only two paths, even if its rows are streamed', async () => {
  const { asked, url } = await startApi(refuse);
  const source = { connector: 'hubspot', api_url: url, token: 'some-wrong-token', retries: 0 };
  const codes = await runTogether({ source, query: (n) => ({ stream: ['deals', 'contacts', 'companies'][n % 3] }) });
  expect(asked).toHaveLength(2);
  expect(codes.filter((code) => code === 'LOGIN_ON_HOLD')).toHaveLength(many - 2);
});

it('jobs with a valid password send one request each, concurrently as soon as one has succeeded', async () => {
  const rest = Promise.withResolvers<void>();
  const { asked, url } = await startApi(async (request, response) => {
    if (asked.length === many) rest.resolve();
    // The first request gets its response at once. No other gets one before all have been sent.
    if (asked.length > 1) await rest.promise;
    rows(request, response);
  });
  const codes = await runTogether({ source: basic(url) });
  expect(asked).toHaveLength(many);
  expect(codes).toEqual(Array.from({ length: many }, () => 'owed'));
});

it('jobs without credentials send their requests concurrently from the beginning', async () => {
  const all = Promise.withResolvers<void>();
  const { asked, url } = await startApi(async (request, response) => {
    if (asked.length === many) all.resolve();
    await all.promise;
    rows(request, response);
  });
  const codes = await runTogether({ source: { connector: 'simple_rest', url, retries: 0 } });
  expect(codes).toEqual(Array.from({ length: many }, () => 'owed'));
});

it('a key in a parameter is serialized like one in a header', async () => {
  const { asked, url } = await startApi(refuse);
  const query = (n: number) => ({ path: `/rows/${n}?api_key=some-wrong-key` });
  const codes = await runTogether({ source: { connector: 'simple_rest', url, retries: 0 }, query });
  expect(asked).toHaveLength(2);
  expect(codes.filter((code) => code === 'LOGIN_ON_HOLD')).toHaveLength(many - 2);
});

it('a first response that says nothing about the credentials lets the other requests run concurrently', async () => {
  const rest = Promise.withResolvers<void>();
  const { asked, url } = await startApi(async (_, response) => {
    if (asked.length === many) rest.resolve();
    if (asked.length > 1) await rest.promise;
    response.writeHead(404).end('{}');
  });
  const codes = await runTogether({ source: basic(url) });
  expect(codes).toEqual(Array.from({ length: many }, () => 'REST_NOT_FOUND'));
});

it('a slow first response delays other requests with the same credentials for at most 30 seconds', async () => {
  const clock = new SteppingClock();
  const store = await openStore(await makeFolder(), { clock });
  const serializer = new LoginSerializer({ store, clock });
  const { signal } = new AbortController();
  const secret = { account: 'api', fingerprint: 'a' };
  const end = await serializer.acquire(secret, { signal, forMs: 30_000 });
  expect(await serializer.acquire(secret, { signal, forMs: 30_000 })).toBeUndefined();
  expect(clock.slept).toEqual([30_000]);
  await end?.();
  await store.close();
});

it('an accepted password says nothing about another password of the same account', async () => {
  const clock = clockAtHalfPast();
  const store = await openStore(await makeFolder(), { clock });
  const serializer = new LoginSerializer({ store, clock });
  const { signal } = new AbortController();
  serializer.confirm({ account: 'db', fingerprint: 'good' });
  expect(await serializer.acquire({ account: 'db', fingerprint: 'good' }, { signal })).toBeUndefined();
  const end = await serializer.acquire({ account: 'db', fingerprint: 'other' }, { signal });
  expect(end).toBeTypeOf('function');
  await end?.();
  await store.close();
});

it('opening a source before its first rows proves nothing about its credentials', async () => {
  const clock = clockAtHalfPast();
  const store = await openStore(await makeFolder(), { clock });
  const gate = gateOf({ store, clock });
  const source = { name: 'api', connector: hubspot, options: { token: 'some-token' } };
  const refusedAt = (refusedPath: string): Promise<void> =>
    gate.refusedAt(source, new Problem({ code: 'SERVICE_LOGIN', family: 'login', message: 'no', refusedPath }));
  await refusedAt('/a');
  await guardSource(gate, source)({ signal: new AbortController().signal }, async () => 'open');
  await refusedAt('/b');
  expect(await gate.find(source)).toMatchObject({ code: 'SERVICE_LOGIN', refusals: 1 });
  await store.close();
});
