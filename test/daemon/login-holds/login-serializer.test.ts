import { expect, it, onTestFinished, vi } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { composeRuntime } from '../../../src/daemon/compose.ts';
import { runJob } from '../../../src/daemon/run/run-job.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { Problem } from '../../../src/lib/problem.ts';
import { defineConnector } from '../../../src/sdk/connector.ts';
import { logInBy } from '../../../src/sdk/log-in.ts';
import { openStore } from '../../../src/state/store.ts';
import { noon, ShiftedClock, SteppingClock } from '../../clocks.ts';
import { writeConfig } from '../../journey/home.ts';
import { makeFolder } from '../../journey/process.ts';
import { startVendor } from '../../oauth/vendor.ts';
import { gateOf, open } from '../bank.ts';
import { clockAtHalfPast } from '../rig.ts';

/** A server that doesn't respond to any login until the test triggers it. */
function slowServer({ password = 'wrong' } = {}) {
  const { promise: told, resolve: answer } = Promise.withResolvers<void>();
  const seen = { logins: 0 };
  const connector = defineConnector({
    ...{ id: 'slow', title: 'Slow', summary: 'Made by a test.', source: {}, query: {} },
    account: () => ({ place: 'slow:1', user: 'etl', secret: password }),
    check: (context) =>
      logInBy(context, async () => {
        seen.logins += 1;
        await told;
        if (password === 'right') return 'fine';
        throw new Problem({ code: 'SLOW_REFUSED', family: 'login', message: 'no', isLoginRefused: true });
      }),
    extract: () => Promise.reject(new Error('not here')),
  });
  return { seen, answer, source: { name: 'slow', connector, options: {} } };
}

/** Two processes with one state. */
async function twoStores(second: Clock) {
  const folder = await makeFolder();
  const stores = [
    await openStore(folder, { clock: clockAtHalfPast() }),
    await openStore(folder, { clock: second }),
  ] as const;
  onTestFinished(() => Promise.all(stores.map((store) => store.close())).then(() => undefined));
  return stores;
}

it("a second process that starts at the same time doesn't send a refused password", async () => {
  const clock = clockAtHalfPast();
  const sleep = vi.spyOn(clock, 'sleep');
  const [one, two] = await twoStores(clock);
  const { seen, answer, source } = slowServer();
  const first = open(gateOf({ store: one, clock: clockAtHalfPast() }), source);
  await expect.poll(() => seen.logins).toBe(1);
  const second = open(gateOf({ store: two, clock }), source);
  await expect.poll(() => sleep.mock.calls.length > 0 || seen.logins === 2).toBe(true);
  answer();
  expect([await first, await second]).toMatchObject([{ code: 'SLOW_REFUSED' }, { code: 'LOGIN_ON_HOLD' }]);
  expect(seen.logins).toBe(1);
  expect(await one.leases.held()).toEqual([]);
});

it('a second process logs in as soon as the first one has, and no lease remains', async () => {
  const clock = clockAtHalfPast();
  const sleep = vi.spyOn(clock, 'sleep');
  const [one, two] = await twoStores(clock);
  const { seen, answer, source } = slowServer({ password: 'right' });
  const first = open(gateOf({ store: one, clock: clockAtHalfPast() }), source);
  await expect.poll(() => seen.logins).toBe(1);
  const second = open(gateOf({ store: two, clock }), source);
  await expect.poll(() => sleep).toHaveBeenCalled();
  answer();
  expect([await first, await second]).toEqual(['open', 'open']);
  expect(await one.leases.held()).toEqual([]);
});

it('a second process waits for at most 30 seconds', async () => {
  const clock = new SteppingClock();
  const [one, two] = await twoStores(clock);
  const { seen, answer, source } = slowServer();
  const first = open(gateOf({ store: one, clock: clockAtHalfPast() }), source);
  await expect.poll(() => seen.logins).toBe(1);
  const second = open(gateOf({ store: two, clock }), source);
  await expect.poll(() => seen.logins).toBe(2);
  expect(clock.now()).toBeGreaterThanOrEqual(noon + 30_000);
  answer();
  expect([await first, await second]).toMatchObject([{ code: 'SLOW_REFUSED' }, { code: 'SLOW_REFUSED' }]);
});

it('two processes that start at the same time send a wrong secret to a token endpoint only once', async () => {
  const vendor = await startVendor();
  onTestFinished(() => vendor.close());
  const { promise: told, resolve: answer } = Promise.withResolvers<void>();
  vendor.fault = (_, response) => {
    void told.then(() => {
      response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}');
    });
    return true;
  };
  const job = (n: number) => ({ source: 'api', query: { path: '/rows' }, format: 'json', target: `${n}`.repeat(32) });
  const file = await writeConfig(await makeFolder(), {
    destinations: { main: { url: 'http://127.0.0.1:1/api/1.0', api_key: 'abcdefabcdef' } },
    sources: {
      api: {
        ...{ connector: 'simple_rest', url: vendor.url },
        auth: { kind: 'client_credentials', token_url: `${vendor.url}/token`, client_authentication: 'basic' },
        login: { client_id: 'robot', client_secret: 'wrong-secret-wrong' },
      },
    },
    jobs: { one: job(1), two: job(2) },
  });
  const { config, problems } = await loadConfig(file);
  expect(problems).toEqual([]);
  const clock = new ShiftedClock();
  const sleep = vi.spyOn(clock, 'sleep');
  const run = async (name: string, using: Clock) => {
    const runtime = await composeRuntime({ config: config!, clock: using });
    onTestFinished(() => runtime.close());
    const given = { config: config!, job: config!.jobs.get(name)!, signal: new AbortController().signal };
    return runJob({ runtime, ...given, origin: 'schedule' });
  };
  const first = run('one', systemClock);
  await expect.poll(() => vendor.asked).toHaveLength(1);
  const second = run('two', clock);
  await expect.poll(() => sleep).toHaveBeenCalled();
  answer();
  expect([await first, await second].map(({ problem }) => problem?.code)).toEqual(['LOGIN_CLIENT', 'LOGIN_ON_HOLD']);
  expect(vendor.asked).toHaveLength(1);
});
