import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../src/delivery/answer.ts';
import { decide } from '../../src/delivery/retry.ts';
import { deliver, deliverHere, heard, open, owe, patient, stage, store } from './deliver-rig.ts';
import { destinationAt, openGateway, say, take } from './fixtures.ts';

deliverHere();

describe('attempts', () => {
  it('are limited across restarts if the service accepts other payloads; the last message is kept', async () => {
    const { destination, gateway } = open({ attempts: 3 });
    const id = await owe(gateway, destination, 'i');
    const isOdd = ({ path }: { path: string }) => path.includes('/i/');
    const busy = say(503, { code: 'busy', words: 'too busy' });
    stage.otherwise = (request, response, seen) => (isOdd(seen) ? busy : take)(request, response, seen);
    for (let start = 0; (await store.outbox.find(id))?.state === 'owed'; start++) {
      await owe(gateway, destination, `other-${start}`);
      await deliver(openGateway({ store, destinations: [destination], emit: heard.emit }));
    }
    const dead = (await store.outbox.find(id))!;
    expect(dead).toMatchObject({ state: 'dead', code: 'DELIVERY_GAVE_UP', attempts: stage.seen.filter(isOdd).length });
    expect(dead.attempts).toBeGreaterThanOrEqual(3);
    expect(dead.message).toContain('too busy');
    expect(await store.outbox.requeue(id)).toBe(true);
    stage.otherwise = say(200);
    expect(await deliver(gateway)).toMatchObject([{ state: 'delivered' }]);
  });

  it("don't count while the service fails for all payloads", async () => {
    const { destination, gateway } = open({ attempts: 1 });
    await owe(gateway, destination, 'before');
    await deliver(gateway);
    const id = await owe(gateway, destination, 'i');
    stage.otherwise = say(503, { code: 'busy', words: 'too busy' });
    await deliver(gateway);
    expect(await store.outbox.find(id)).toMatchObject({ state: 'owed', attempts: 1, code: 'DELIVERY_FAILED' });
    stage.otherwise = take;
    expect(await deliver(gateway, patient())).toMatchObject([{ state: 'delivered' }]);
  });

  it("that failed in an outage don't count once the service accepts other payloads again", async () => {
    const { destination, gateway } = open({ attempts: 2 });
    const id = await owe(gateway, destination, 'i');
    for (let failed = 0; failed < 9; failed++) {
      await store.outbox.attempt(id);
      await store.outbox.postpone(id, { code: 'DELIVERY_FAILED', message: 'busy', free: false, waitMs: 0 });
    }
    stage.otherwise = (request, response, seen) =>
      (seen.path.includes('/i/') ? say(503) : take)(request, response, seen);
    await owe(gateway, destination, 'other');
    await deliver(gateway, {
      only: (await store.outbox.inState('owed')).flatMap((row) => (row.id === id ? [] : [row.id])),
    });
    await deliver(gateway);
    expect(await store.outbox.find(id)).toMatchObject({ state: 'owed', attempts: 10, faults: 1 });
  });

  it.each([
    ['the same account', 'account', 1],
    ['another account', 'another', 0],
  ])('count only if the service accepts other payloads of the same account: %s', async (_, account, faults) => {
    const { destination } = open();
    const other = destinationAt(stage.url, { name: 'other', account });
    const gateway = openGateway({ store, destinations: [destination, other], emit: heard.emit });
    const id = await owe(gateway, destination, 'i');
    await owe(gateway, other, 'foreign');
    stage.otherwise = (request, response, seen) =>
      (seen.path.includes('/i/') ? say(503) : take)(request, response, seen);
    await deliver(gateway, { only: [id] });
    await deliver(gateway);
    const again = (await store.outbox.find(id))!.next_attempt_at!;
    await deliver(gateway, { only: [id], until: again });
    expect(await store.outbox.find(id)).toMatchObject({ state: 'owed', attempts: 2, faults });
  });

  it("don't count if the service has accepted no other payload since the previous attempt", async () => {
    const { destination, gateway } = open();
    const id = await owe(gateway, destination, 'i');
    await deliver(gateway, { only: [await owe(gateway, destination, 'other')] });
    await store.outbox.attempt(id);
    await store.outbox.postpone(id, { code: 'DELIVERY_FAILED', message: 'busy', free: false, waitMs: 0 });
    stage.otherwise = say(503);
    await deliver(gateway);
    expect(await store.outbox.find(id)).toMatchObject({ state: 'owed', attempts: 2, faults: 0 });
  });

  it('are delayed after a failure in another process that was sending the payload', async () => {
    const { destination, gateway } = open();
    const id = await owe(gateway, destination, 'i');
    const lease = await store.leases.take(`instance:${JSON.stringify([stage.url, '', 'i'])}`);
    const waiting = deliver(gateway);
    await setTimeout(300);
    await store.outbox.attempt(id);
    await store.outbox.postpone(id, { code: 'DELIVERY_FAILED', message: 'busy', free: false, waitMs: 60_000 });
    await lease!.release();
    const until = (await store.outbox.find(id))!.next_attempt_at!;
    expect(await waiting).toMatchObject([{ state: 'waiting_retry', until }]);
    expect(stage.seen).toEqual([]);
  });

  it('are also limited for a payload that kills the process each time', async () => {
    const { destination, gateway } = open({ attempts: 2 });
    const id = await owe(gateway, destination, 'i');
    for (let cut = 0; cut < 39; cut++) await store.outbox.attempt(id);
    expect(await store.outbox.find(id)).toMatchObject({ state: 'owed', attempts: 1, crashes: 38 });
    await store.outbox.attempt(id);
    expect(await deliver(gateway)).toMatchObject([{ state: 'dead', problem: { code: 'DELIVERY_GAVE_UP' } }]);
    expect(stage.seen).toEqual([]);
  });

  it('for several payloads have separate delays, and a delivery waits for all of them', async () => {
    const { destination, gateway } = open();
    for (const name of ['a', 'b', 'c']) await owe(gateway, destination, name);
    const failures = new Map([
      ['a', 1],
      ['b', 2],
      ['c', 2],
    ]);
    stage.otherwise = async (request, response, seen) => {
      const name = seen.path.split('/').at(-2) ?? '';
      const left = failures.get(name) ?? 0;
      failures.set(name, left - 1);
      await say(left > 0 ? 500 : 200)(request, response, seen);
    };
    const results = await deliver(gateway, patient());
    expect(results.map(({ instance, state }) => [instance, state])).toEqual([
      ['a', 'delivered'],
      ['b', 'delivered'],
      ['c', 'delivered'],
    ]);
    expect(stage.seen).toHaveLength(8);
  });

  it("for a bad payload don't block other payloads, whether they fail or hang", async () => {
    const { destination, gateway } = open({ timeoutMs: 60_000 });
    let answered = 0;
    const others = Promise.withResolvers<void>();
    stage.otherwise = async (request, response, seen) => {
      // This request hangs until the others have their responses, so no timeout decides which of them are in time.
      if (seen.path.includes('hang')) return void others.promise.then(() => response.destroy());
      const isPoison = seen.path.includes('poison');
      await say(isPoison ? 500 : 200)(request, response, seen);
      if (!isPoison && ++answered === 3) others.resolve();
    };
    await owe(gateway, destination, 'poison');
    await owe(gateway, destination, 'hang');
    for (const name of ['a', 'b', 'c']) await owe(gateway, destination, name);
    const results = await deliver(gateway);
    const states = Object.fromEntries(results.map(({ instance, state }) => [instance, state]));
    expect(states).toEqual({
      poison: 'waiting_retry',
      hang: 'waiting_retry',
      a: 'delivered',
      b: 'delivered',
      c: 'delivered',
    });
  });
});

describe('refused credentials', () => {
  it('stop all requests for that account after the first one, and owed payloads stay owed', async () => {
    const { destination, gateway } = open({ requestsPerSecond: 1 });
    for (const name of ['a', 'b', 'c']) await owe(gateway, destination, name);
    stage.otherwise = say(401, { code: 'auth_fail', words: 'The credentials you provided are invalid' });
    const results = await deliver(gateway, patient());
    expect(results.map(({ state }) => state)).toEqual(['waiting_login', 'waiting_login', 'waiting_login']);
    expect(stage.seen).toHaveLength(1);
    expect((await store.outbox.inState('owed')).map(({ attempts, code }) => [attempts, code])).toEqual(
      Array(3).fill([0, 'LOGIN_NEEDED']),
    );
    stage.otherwise = say(200);
    gateway.resetAuth();
    expect((await deliver(gateway)).map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered']);
  });
});

describe('the daily allowance', () => {
  it("stops scheduled jobs at the reserve and users when it's exhausted, and reports when it resets", async () => {
    const { destination, gateway } = open({ requestsPerDay: 3, reserveRequests: 1 });
    for (const name of ['a', 'b', 'c', 'd']) await owe(gateway, destination, name);
    const scheduled = await deliver(gateway);
    expect(scheduled.map(({ state }) => state).toSorted()).toEqual([
      'delivered',
      'delivered',
      'waiting_quota',
      'waiting_quota',
    ]);
    expect(scheduled.find(({ state }) => state === 'waiting_quota')).toHaveProperty('until');
    const personal = await deliver(gateway, { priority: 'person' });
    expect(personal.map(({ state }) => state).toSorted()).toEqual(['delivered', 'waiting_quota']);
    expect(stage.seen).toHaveLength(3);
    expect(heard.names().filter((name) => name === 'quota.spent')).toHaveLength(1);
  });

  it.each([
    ['by its code', { code: 'daily_limit_reached', headers: { 'retry-after': '3600' } }],
    ['by a long Retry-After', { code: 'rate_limited', headers: { 'retry-after': '7200' } }],
    ['by its code alone', { code: 'daily_limit_reached' }],
  ])('used up by other programs is detected %s, and nothing more is sent that day', async (_how, script) => {
    const { destination, gateway } = open({ requestsPerSecond: 1 });
    await owe(gateway, destination, 'a');
    await owe(gateway, destination, 'b');
    stage.script.push(say(429, script));
    const results = await deliver(gateway, patient());
    expect(results.map(({ state }) => state)).toEqual(['waiting_quota', 'waiting_quota']);
    expect(stage.seen).toHaveLength(1);
    expect(heard.events).toContainEqual({ name: 'request.answered', facts: expect.objectContaining({ limit: 'day' }) });
    expect(await store.outbox.inState('owed')).toMatchObject([{ attempts: 0 }, { attempts: 0 }]);
    const elsewhere = openGateway({ store, destinations: [destination] });
    expect((await deliver(elsewhere)).map(({ state }) => state)).toEqual(['waiting_quota', 'waiting_quota']);
    expect(stage.seen).toHaveLength(1);
  });

  it("isn't wasted on repeated 429 responses, because no request is sent for as long as the service asks", async () => {
    const { destination, gateway } = open();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) await owe(gateway, destination, name);
    stage.otherwise = say(429, { code: 'rate_limited', headers: { 'retry-after': '600' } });
    const results = await deliver(gateway);
    expect(new Set(results.map(({ state }) => state))).toEqual(new Set(['waiting_retry']));
    expect(stage.seen.length).toBeLessThanOrEqual(5);
    const seen = stage.seen.length;
    const limit = { name: 'request.answered', facts: expect.objectContaining({ limit: 'second' }) };
    expect(heard.events).toContainEqual(limit);
    await deliver(gateway);
    expect(stage.seen).toHaveLength(seen);
  });

  it("isn't charged for rate limits; a payload that meets one is reported with the end of its wait", async () => {
    const { destination, gateway } = open();
    const id = await owe(gateway, destination, 'i');
    stage.script.push(say(429, { code: 'rate_limited', headers: { 'retry-after': '600' } }));
    const [result] = await deliver(gateway);
    const { next_attempt_at: until } = (await store.outbox.find(id))!;
    expect(result).toMatchObject({ state: 'waiting_retry', until, problem: { code: 'RATE_LIMITED' } });
    const facts = expect.objectContaining({ id, code: 'RATE_LIMITED', until, attempt: 1 });
    expect(heard.events).toContainEqual({ name: 'payload.waiting', facts });
  });

  it("isn't considered exhausted after a rate limit; sending pauses as long as the service asks, or longer each time", async () => {
    const { destination, gateway } = open();
    const pauses = async (headers: Record<string, string>) => {
      const decision = decide({ answer: readAnswer({ status: 429, headers, text: '', complete: true }, 0) });
      const waits: number[] = [];
      for (let refusal = 0; refusal < 40; refusal++)
        waits.push(await gateway.of(destination).applyDecision(decision, 1));
      return { shortest: Math.min(...waits), longest: Math.max(...waits) };
    };
    const asked = await pauses({ 'retry-after': '1' });
    expect(asked.shortest).toBeGreaterThanOrEqual(1_000);
    expect(asked.longest).toBeLessThanOrEqual(2 * 60_000 + 100);
    expect((await pauses({})).longest).toBeGreaterThan(2 * 60_000 + 100);
  });
});

it('a payload is dead after the attempt that reaches the limit, not after one more', async () => {
  const { destination, gateway } = open({ attempts: 1 });
  await owe(gateway, destination, 'i');
  await deliver(gateway, { only: [await owe(gateway, destination, 'other')] });
  stage.otherwise = say(503);
  expect(await deliver(gateway)).toMatchObject([{ state: 'dead', problem: { code: 'DELIVERY_GAVE_UP' } }]);
});
