import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { type RunningService, startService } from '../../src/service/service.ts';
import { noon, SteppingClock } from '../clocks.ts';
import fc, { runsOf } from '../property.ts';
import { cleanUp, newFolder, newStore } from '../state/fixtures.ts';
import {
  closeStages,
  commitText,
  deliverOwed,
  destinationAt,
  jobFor,
  listener,
  openGateway,
  openStage,
  say,
  take,
} from './fixtures.ts';

const services: RunningService[] = [];

afterEach(async () => {
  await closeStages();
  await Promise.all(services.splice(0).map((service) => service.close()));
  await cleanUp();
});

const minute = 60_000;

describe("an account's request rate after refusals", () => {
  it('is halved for all processes, recovers by one per minute, and stops at the limit', async () => {
    const folder = newFolder();
    const clock = new SteppingClock();
    const [a, b] = [await newStore({ clock, folder }), await newStore({ clock, folder })];
    expect(await a.accounts.pace('x', 5)).toBe(5);
    expect(await a.accounts.slow('x', 5)).toBe(2);
    expect(await b.accounts.slow('x', 5), 'refused together with the first').toBeUndefined();
    clock.advance(2_000);
    expect(await b.accounts.slow('x', 5)).toBe(1);
    clock.advance(3_000);
    expect(await a.accounts.slow('x', 5), 'one is left').toBe(1);
    clock.advance(2 * minute);
    expect(await a.accounts.pace('x', 5)).toBe(3);
    clock.advance(10 * minute);
    expect(await b.accounts.pace('x', 5)).toBe(5);
    expect(await b.accounts.pace('y', 5)).toBe(5);
  });

  it('is stored independently of the pause', async () => {
    const clock = new SteppingClock();
    const { accounts } = await newStore({ clock });
    await accounts.hold('x', 5_000);
    await accounts.slow('x', 4);
    expect(await accounts.heldUntil('x')).toBe(clock.now() + 5_000);
    await accounts.hold('x', 9_000);
    expect(await accounts.pace('x', 4)).toBe(2);
  });

  it('stays paused for the longest time that two processes request at once', async () => {
    const folder = newFolder();
    const clock = new SteppingClock();
    const [a, b] = [await newStore({ clock, folder }), await newStore({ clock, folder })];
    await Promise.all([a.accounts.hold('x', 60_000), b.accounts.hold('x', 1_000)]);
    expect(await a.accounts.heldUntil('x')).toBeGreaterThan(clock.now() + 50_000);
  });

  it('is never below one or above the limit, even if the clock changes', async () => {
    const step = fc.oneof(
      fc.record({ by: fc.integer({ min: -10 * minute, max: 10 * minute }) }),
      fc.constant('refused' as const),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), async (steps, most) => {
        const clock = new SteppingClock();
        const store = await newStore({ clock });
        for (const one of steps) {
          if (one === 'refused') await store.accounts.slow('x', most);
          else clock.wall += one.by;
          const pace = await store.accounts.pace('x', most);
          expect(pace).toBeGreaterThanOrEqual(1);
          expect(pace).toBeLessThanOrEqual(most);
        }
        await store.close();
      }),
      { numRuns: runsOf(40) },
    );
  });
});

it('a delivery ends a series of rate limits, so that the next pause is short again', async () => {
  const clock = new SteppingClock(noon, { manual: true });
  const store = await newStore({ clock });
  const stage = await openStage();
  const heard = listener();
  const destination = destinationAt(stage.url);
  const gateway = openGateway({ store, destinations: [destination], clock, emit: heard.emit });
  stage.script.push(say(429), say(429), take, say(429));
  const { signal } = new AbortController();
  await commitText(gateway, { job: jobFor(destination, 'i'), text: 'old' });
  const send = async () => {
    clock.advance(60 * minute);
    return (await deliverOwed({ gateway, signal, priority: 'schedule' })).map(({ state }) => state);
  };
  expect([await send(), await send(), await send()]).toEqual([['waiting_retry'], ['waiting_retry'], ['delivered']]);
  await commitText(gateway, { job: jobFor(destination, 'i'), text: 'new' });
  expect(await send()).toEqual(['waiting_retry']);
  const pauses = heard.events.filter(({ name }) => name === 'account.paused');
  expect(pauses).toMatchObject([1, 2, 1].map((refusals) => ({ facts: { refusals } })));
});

it("another client on the same account slows us down, but everything arrives and the day isn't closed", async () => {
  const [ours, theirs] = ['ab'.repeat(20), 'cd'.repeat(20)];
  const user = (id: string, key: string) => ({ id, email: `${id}@acme.test`, role: 'Admin', api_keys: [key] });
  const users = [user('one', ours), user('two', theirs)];
  const fixtures = join(newFolder(), 'fixtures.json');
  writeFileSync(fixtures, JSON.stringify({ companies: [{ id: 'acme', name: 'Acme', plan: 'starter', users }] }));
  const service = await startService({ data: 'memory', fixtures });
  services.push(service);
  const store = await newStore({ clock: systemClock });
  const destination = destinationAt(service.url, { credentials: { kind: 'api_key', key: ours } });
  const heard = listener();
  const gateway = openGateway({ store, destinations: [destination], emit: heard.emit });
  const call = (key: string, path: string, more: RequestInit = {}) =>
    fetch(service.url + path, { ...more, headers: { 'kf-api-key': key, 'content-type': 'application/json' } });
  const properties = { endpoint_url: 'http://127.0.0.1:9/', method: 'get', parameters: '[]' };
  const source = {
    name: 'A',
    format: 'csv',
    connector: 'simple_rest',
    refresh_interval: 0,
    no_refresh: true,
    properties,
  };
  const made = await call(ours, '/datasources', { method: 'POST', body: JSON.stringify(source) });
  const { meta } = (await made.json()) as { meta: { instance_location: string } };
  const instance = meta.instance_location.split('/').at(-1)!;
  let busy = true;
  const colleague = (async () => {
    while (busy) await call(theirs, '/datasources').then((answer) => answer.arrayBuffer());
  })();
  const signal = AbortSignal.timeout(200_000);
  const given = { gateway, signal } as const;
  await commitText(gateway, { job: jobFor(destination, instance), text: 'a\n1\n' });
  // Another client takes every slot, so sooner or later one of our requests is refused.
  while (!heard.names().includes('account.slowed')) {
    const [result] = await deliverOwed({ ...given, priority: 'schedule' });
    if (result?.state === 'delivered')
      await commitText(gateway, { job: jobFor(destination, instance), text: `a\n${Math.random()}\n` });
  }
  expect(await store.accounts.pace('account', 5)).toBeLessThan(5);
  busy = false;
  await colleague;
  const rest = await deliverOwed({ ...given, priority: 'schedule', until: Date.now() + 120_000 });
  expect(rest.map(({ state }) => state)).toEqual(['delivered']);
  expect(heard.names()).not.toContain('quota.spent');
});
