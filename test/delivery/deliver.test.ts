import { createHash } from 'node:crypto';
import { existsSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Destination } from '../../src/config/config.ts';
import { type DeliverGiven, type DeliveryResult, deliverOwed } from '../../src/delivery/deliver.ts';
import type { Gateway } from '../../src/delivery/gateway.ts';
import { dayOf } from '../../src/delivery/quota.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { forgetSecrets, registerSecret } from '../../src/lib/redact.ts';
import type { Store } from '../../src/state/store.ts';
import { cleanUp, newStore } from '../state/fixtures.ts';
import {
  answer,
  closeStages,
  commitText,
  destinationAt,
  type Heard,
  jobFor,
  listener,
  openGateway,
  openStage,
  type Play,
  readBody,
  type Stage,
  say,
  take,
} from './fixtures.ts';

let store: Store;
let stage: Stage;
let heard: Heard;

beforeEach(async () => {
  store = await newStore({ clock: systemClock });
  stage = await openStage();
  heard = listener();
});

afterEach(async () => {
  await closeStages();
  await cleanUp();
});

function open(more: Partial<Destination> = {}): { destination: Destination; gateway: Gateway } {
  const destination = destinationAt(stage.url, more);
  return { destination, gateway: openGateway({ store, destinations: [destination], emit: heard.emit }) };
}

function deliver(gateway: Gateway, more: Partial<DeliverGiven> = {}): Promise<DeliveryResult[]> {
  return deliverOwed({
    store,
    destinations: [],
    gateway,
    clock: systemClock,
    emit: heard.emit,
    signal: AbortSignal.timeout(30_000),
    priority: 'schedule',
    ...more,
  });
}

async function owe(gateway: Gateway, destination: Destination, instance: string, text = `data of ${instance}`) {
  const committed = await commitText(gateway, { job: jobFor(destination, instance), text });
  if (committed.state !== 'owed') throw new Error(committed.state);
  return committed.id;
}

const patient = () => ({ until: Date.now() + 30_000 });

describe('a connection', () => {
  it.each([
    ['small', 20],
    ['large', 2_000_000],
  ])('is used again by later uploads, though the answer follows the last byte at once (%s)', async (_, bytes) => {
    const { destination, gateway } = open();
    // Answered before the client hears that its file has ended, as by a service that counts the bytes.
    stage.otherwise = async (request, response, seen) => {
      let left = Number(request.headers['content-length']);
      request.on('data', (piece: Buffer) => {
        left -= piece.length;
        if (left === 0) answer(200, { data: {} })(request, response, seen);
      });
    };
    for (const instance of ['i1', 'i2', 'i3', 'i4', 'i5']) {
      await owe(gateway, destination, instance, instance.padEnd(bytes, 'x'));
      await deliver(gateway);
    }
    expect(new Set(stage.seen.map(({ port }) => port)).size).toBeLessThan(4);
  });
});

describe('a payload whose destination has moved to another address', () => {
  it('goes there, and the receipt is of the new address alone', async () => {
    const { destination, gateway } = open();
    await owe(gateway, destination, 'i1', 'a\n1\n');
    const moved = await openStage();
    const there = openGateway({ store, destinations: [destinationAt(moved.url)], emit: heard.emit });
    expect(await deliver(there)).toMatchObject([{ state: 'delivered' }]);
    expect([stage.seen.length, moved.seen.length]).toEqual([0, 1]);
    expect(await store.receipts.find({ url: moved.url, instance: 'i1' })).toMatchObject({ certain: 1 });
    expect(await store.receipts.find({ url: stage.url, instance: 'i1' })).toBeUndefined();
  });

  it('gives way to newer data that the new address already has', async () => {
    const { destination, gateway } = open();
    await owe(gateway, destination, 'i1', 'old\n');
    const moved = await openStage();
    const target = destinationAt(moved.url);
    const there = openGateway({ store, destinations: [target], emit: heard.emit });
    await wait(5);
    const newer = await owe(there, target, 'i1', 'new\n');
    expect(await deliver(there, { only: [newer] })).toMatchObject([{ state: 'delivered' }]);
    expect(await deliver(there)).toMatchObject([{ state: 'superseded' }]);
    expect(moved.seen.map(({ body }) => body)).toEqual(['new\n']);
  });
});

describe('a payload that is owed', () => {
  it('is sent once, with length, type and credentials, and its file is gone afterwards', async () => {
    const { destination, gateway } = open();
    const id = await owe(gateway, destination, 'i/1', 'a,b\r\n1,2\r\n');
    const [result] = await deliver(gateway);
    expect(result).toMatchObject({ id, state: 'delivered', job: 'job-i/1', instance: 'i/1' });
    expect(stage.seen).toHaveLength(1);
    expect(stage.seen[0]).toMatchObject({
      method: 'PUT',
      path: '/api/1.0/datasource-instances/i%2F1/data',
      body: 'a,b\r\n1,2\r\n',
      headers: { 'content-length': '10', 'kf-api-key': 'k'.repeat(40) },
    });
    expect(stage.seen[0]?.headers.expect).toBeUndefined();
    expect(await store.runs.last('job-i/1')).toMatchObject({ state: 'delivered', requests: 1 });
    expect(readdirSync(store.payloads.root)).toEqual([]);
    expect(heard.names()).toEqual([
      'payload.owed',
      'request.sent',
      'upload.started',
      'request.answered',
      'payload.delivered',
    ]);
    expect(await deliver(gateway)).toEqual([]);
  });

  it('names its client, and Basic credentials carry any characters', async () => {
    const credentials = { kind: 'basic' as const, user: 'zoë@x', password: 'p:ä"ß' };
    const { destination, gateway } = open({ credentials, clientId: 'c&1' });
    await commitText(gateway, { job: jobFor(destination, 'i'), text: 'x' });
    await deliver(gateway);
    expect(stage.seen[0]?.query.get('client_id')).toBe('c&1');
    const sent = stage.seen[0]?.headers.authorization?.replace('Basic ', '') ?? '';
    expect(Buffer.from(sent, 'base64').toString()).toBe('zoë@x:p:ä"ß');
  });

  it('is not sent when the instance has these bytes: no request, unless the job says always', async () => {
    const { destination, gateway } = open();
    await owe(gateway, destination, 'i', 'same');
    await deliver(gateway);
    const again = await commitText(gateway, { job: jobFor(destination, 'i'), text: 'same' });
    expect(again).toEqual({ state: 'unchanged' });
    await commitText(gateway, { job: jobFor(destination, 'i', { always: true }), text: 'same' });
    expect(await deliver(gateway)).toMatchObject([{ state: 'delivered' }]);
    expect(stage.seen).toHaveLength(2);
  });

  it('waits while its destination is not among those given', async () => {
    const { destination, gateway } = open();
    await owe(gateway, destination, 'i');
    const elsewhere = openGateway({ store, destinations: [destinationAt(stage.url, { name: 'other' })] });
    expect(await deliver(elsewhere)).toEqual([]);
    expect(await store.outbox.inState('owed')).toHaveLength(1);
    expect(stage.seen).toEqual([]);
  });

  it('of many megabytes arrives whole at a receiver that dawdles', async () => {
    const { destination, gateway } = open({ uploadLimitBytes: 200_000_000, timeoutMs: 20_000 });
    const text = Array.from({ length: 2_000_000 }, (_, row) => `row ${row}\n`).join('');
    await owe(gateway, destination, 'i', text);
    const hash = createHash('sha256');
    stage.script.push(async (request, response, seen) => {
      for await (const piece of request) {
        hash.update(piece as Buffer);
        if (Math.random() < 0.02) await wait(2);
      }
      answer(200)(request, response, seen);
    });
    expect(await deliver(gateway)).toMatchObject([{ state: 'delivered' }]);
    expect(hash.digest('hex')).toBe(createHash('sha256').update(text).digest('hex'));
  });
});

describe('a payload that must not be sent', () => {
  it('is refused when it is empty, and goes where the job allows it', async () => {
    const { destination, gateway } = open();
    const refused = await commitText(gateway, { job: jobFor(destination, 'i'), text: 'h\r\n', rows: 0 });
    expect(refused).toMatchObject({ state: 'refused', problem: { code: 'EMPTY_REFUSED' } });
    expect(await store.runs.last('job-i')).toMatchObject({ state: 'failed', code: 'EMPTY_REFUSED' });
    expect(readdirSync(store.payloads.root)).toEqual([]);
    const job = jobFor(destination, 'i', { allowEmpty: true });
    expect(await commitText(gateway, { job, text: 'h\r\n', rows: 0 })).toMatchObject({ state: 'owed' });
  });

  it('is refused above the limit to the byte, says size, limit and the mend, and costs no request', async () => {
    const { destination, gateway } = open({ uploadLimitBytes: 10 });
    expect(await commitText(gateway, { job: jobFor(destination, 'i'), text: '0123456789' })).toMatchObject({
      state: 'owed',
    });
    const refused = await commitText(gateway, { job: jobFor(destination, 'k'), text: '0123456789x' });
    expect(refused).toMatchObject({
      problem: { code: 'PAYLOAD_TOO_LARGE', seen: '11 bytes, 1 row', allowed: '10 bytes' },
    });
    await deliver(gateway);
    expect(stage.seen).toHaveLength(1);
  });

  it('is dead when its file was changed on the disk by a later process, and the others go on', async () => {
    const { destination, gateway } = open();
    for (const instance of ['cut', 'gone', 'flipped', 'fine']) await owe(gateway, destination, instance);
    const rows = await store.outbox.inState('owed');
    truncateSync(rows[0]?.path ?? '', 3);
    truncateSync(rows[1]?.path ?? '', 0);
    writeFileSync(rows[2]?.path ?? '', 'data of flippeD');
    const later = openGateway({ store, destinations: [destination], emit: heard.emit });
    const results = await deliver(later);
    expect(results.map(({ state }) => state)).toEqual(['dead', 'dead', 'dead', 'delivered']);
    expect(results[2]).toMatchObject({ problem: { code: 'PAYLOAD_DAMAGED' } });
    expect(stage.seen).toHaveLength(1);
  });
});

describe('an answer', () => {
  const hang: Play = () => undefined;
  const reset: Play = (request) => {
    request.socket.resetAndDestroy();
  };
  const resetAfterBody: Play = async (request, _response, seen) => {
    await readBody(request, seen);
    request.socket.resetAndDestroy();
  };
  const half: Play = async (request, response, seen) => {
    await readBody(request, seen);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
    response.write('{"meta":{"success":true,"status":200}');
    await wait(20);
    request.socket.destroy();
  };
  const portal: Play = async (request, response, seen) => {
    await readBody(request, seen);
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<html>Please log in to the Wi-Fi</html>');
  };
  const blank: Play = async (request, response, seen) => {
    await readBody(request, seen);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end();
  };

  const recoveries: [string, Play][] = [
    ['500', say(500, { code: 'internal_error' })],
    ['502 in HTML', say(502)],
    ['503', say(503)],
    ['504', say(504)],
    ['408', say(408)],
    ['429', say(429, { code: 'rate_limited', headers: { 'retry-after': '1' } })],
    ['429 without a word', say(429)],
    ['a reset before the body was taken', reset],
    ['a reset after the body was taken', resetAfterBody],
    ['half an answer', half],
    ['a login page that says 200', portal],
    ['a page without a word that says 200', blank],
    ['silence', hang],
  ];
  it.each(recoveries)('of %s is followed by another attempt with the whole body', async (_name, play) => {
    const { destination, gateway } = open({ timeoutMs: 600 });
    const id = await owe(gateway, destination, 'i', 'the whole body');
    stage.script.push(play);
    const [first] = await deliver(gateway);
    expect(first).toMatchObject({ id, state: 'waiting_retry' });
    expect(await store.outbox.find(id)).toMatchObject({ state: 'owed' });
    expect(await store.receipts.find({ url: destination.url, instance: 'i' })).toMatchObject({ certain: 0 });
    const [second] = await deliver(gateway, patient());
    expect(second).toMatchObject({ id, state: 'delivered' });
    expect(stage.seen).toHaveLength(2);
    expect(stage.seen[1]?.body).toBe('the whole body');
    expect(await store.quota.use('account', dayOf(Date.now())), 'retries pay').toMatchObject({ used: 2 });
  });

  const ends: [number, string, string][] = [
    [400, 'bad_request', 'DELIVERY_REFUSED'],
    [400, 'data_too_large', 'DELIVERY_TOO_LARGE'],
    [413, 'too_large', 'DELIVERY_TOO_LARGE'],
    [403, 'forbidden', 'DELIVERY_FORBIDDEN'],
    [404, 'not_found', 'DELIVERY_NOT_FOUND'],
    [405, 'method_not_allowed', 'DELIVERY_REFUSED'],
    [302, '', 'DELIVERY_REDIRECTED'],
    [501, '', 'DELIVERY_REFUSED'],
  ];
  it.each(ends)('of %i %s ends the attempts with the words of the service', async (status, code, expected) => {
    const { destination, gateway } = open();
    const id = await owe(gateway, destination, 'i');
    stage.script.push(say(status, { code, words: 'line 3 is broken' }));
    const [result] = await deliver(gateway, patient());
    expect(result).toMatchObject({ id, state: 'dead', problem: { code: expected } });
    const row = await store.outbox.find(id);
    expect(row).toMatchObject({ state: 'dead', code: expected, message: expect.stringContaining('line 3 is broken') });
    expect(await store.runs.last('job-i')).toMatchObject({ state: 'dead', code: expected });
    expect(existsSync(row?.path ?? ''), 'it can be sent again').toBe(true);
    expect(stage.seen).toHaveLength(1);
  });

  it.each([400, 401, 413])(
    'of %i that comes before the body was taken is read, not lost in a broken pipe',
    async (status) => {
      const { destination, gateway } = open({ uploadLimitBytes: 100_000_000 });
      await owe(gateway, destination, 'i', 'x'.repeat(50_000_000));
      stage.script.push((request, response, seen) => {
        answer(status, { code: 'early', words: 'no thanks', headers: { connection: 'close' } })(
          request,
          response,
          seen,
        );
      });
      const [result] = await deliver(gateway);
      expect(result).toMatchObject({ problem: { message: expect.stringContaining('no thanks') } });
      expect(result?.state).toBe(status === 401 ? 'login_needed' : 'dead');
    },
  );

  it('that says success false with a 200 is no receipt', async () => {
    const { destination, gateway } = open();
    await owe(gateway, destination, 'i');
    stage.script.push(say(200, { meta: { success: false, error_desc: 'not today' } }));
    expect(await deliver(gateway)).toMatchObject([{ state: 'dead', problem: { code: 'DELIVERY_REFUSED' } }]);
  });

  it('never carries a secret into the store, an event or a result', async () => {
    registerSecret('s3cr3t-key-value');
    const { destination, gateway } = open({ credentials: { kind: 'api_key', key: 's3cr3t-key-value' } });
    await owe(gateway, destination, 'i');
    stage.script.push(say(400, { code: 'bad_request', words: 'key s3cr3t-key-value is odd' }));
    const results = await deliver(gateway);
    const told = JSON.stringify([
      results,
      heard.events,
      await store.outbox.inState('dead'),
      await store.runs.last('job-i'),
    ]);
    forgetSecrets();
    expect(stage.seen[0]?.headers['kf-api-key']).toBe('s3cr3t-key-value');
    expect(told).not.toContain('s3cr3t');
    expect(told).toContain('[redacted]');
  });
});

describe('attempts', () => {
  it('are bounded over restarts where the service takes others, and the last words are kept', async () => {
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
    expect(await store.outbox.revive(id)).toBe(true);
    stage.otherwise = say(200);
    expect(await deliver(gateway)).toMatchObject([{ state: 'delivered' }]);
  });

  it('count for nothing while the service fails for all', async () => {
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

  it('that failed in an outage are not held against a payload when the service takes others again', async () => {
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
    expect(await store.outbox.find(id)).toMatchObject({ state: 'owed', attempts: 10, blames: 1 });
  });

  it('are not held against a payload because the service takes those of another account', async () => {
    const { destination } = open({ attempts: 1 });
    const other = destinationAt(stage.url, { name: 'other', account: 'another' });
    const gateway = openGateway({ store, destinations: [destination, other], emit: heard.emit });
    const id = await owe(gateway, destination, 'i');
    await owe(gateway, other, 'foreign');
    stage.otherwise = (request, response, seen) =>
      (seen.path.includes('/i/') ? say(503) : take)(request, response, seen);
    await deliver(gateway, { only: [id] });
    await deliver(gateway, { destinations: [other] });
    const again = (await store.outbox.find(id))!.next_attempt_at!;
    await deliver(gateway, { only: [id], until: again });
    expect(await store.outbox.find(id)).toMatchObject({ state: 'owed', attempts: 2, blames: 0 });
  });

  it('at a payload that ends the process each time are bounded too', async () => {
    const { destination, gateway } = open({ attempts: 2 });
    const id = await owe(gateway, destination, 'i');
    for (let cut = 0; cut < 39; cut++) await store.outbox.attempt(id);
    expect(await store.outbox.find(id)).toMatchObject({ state: 'owed', attempts: 1, cuts: 38 });
    await store.outbox.attempt(id);
    expect(await deliver(gateway)).toMatchObject([{ state: 'dead', problem: { code: 'DELIVERY_GAVE_UP' } }]);
    expect(stage.seen).toEqual([]);
  });

  it('of several payloads are all waited for, each in its own time', async () => {
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

  it('of a poison payload hold up nobody: not by failing, not by hanging', async () => {
    const { destination, gateway } = open({ timeoutMs: 1_500 });
    stage.otherwise = async (request, response, seen) => {
      if (seen.path.includes('hang')) return;
      await (seen.path.includes('poison') ? say(500) : say(200))(request, response, seen);
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
  it('stop everything to that account at one request, and what is owed stays owed', async () => {
    const { destination, gateway } = open({ requestsPerSecond: 1 });
    for (const name of ['a', 'b', 'c']) await owe(gateway, destination, name);
    stage.otherwise = say(401, { code: 'auth_fail', words: 'The credentials you provided are invalid' });
    const results = await deliver(gateway, patient());
    expect(results.map(({ state }) => state)).toEqual(['login_needed', 'login_needed', 'login_needed']);
    expect(stage.seen).toHaveLength(1);
    expect((await store.outbox.inState('owed')).map(({ attempts, code }) => [attempts, code])).toEqual(
      Array(3).fill([0, 'LOGIN_NEEDED']),
    );
    stage.otherwise = say(200);
    gateway.forgive();
    expect((await deliver(gateway)).map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered']);
  });
});

describe('the daily allowance', () => {
  it('stops the schedule at the reserve, people at the end, and says until when', async () => {
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
  ])('that others have used up is known %s and closes the day for all', async (_how, script) => {
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

  it('is not spent by a storm of 429: the account is left alone for as long as it asks', async () => {
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
});

describe('one instance', () => {
  it('never gets two uploads at once, and of two waiting payloads only the newer', async () => {
    const { destination, gateway } = open();
    let inside = 0;
    let most = 0;
    stage.otherwise = async (request, response, seen) => {
      inside += 1;
      most = Math.max(most, inside);
      await wait(150);
      inside -= 1;
      await say(200)(request, response, seen);
    };
    const second = openGateway({ store, destinations: [destination] });
    await owe(gateway, destination, 'i', 'first');
    const sending = deliver(gateway);
    while (stage.seen.length === 0) await wait(5);
    await owe(second, destination, 'i', 'second');
    await owe(second, destination, 'i', 'third');
    const [one, two, three] = await Promise.all([sending, deliver(second), deliver(gateway)]);
    expect(most).toBe(1);
    expect(stage.seen.map(({ body }) => body)).toEqual(['first', 'third']);
    expect(one).toMatchObject([{ state: 'delivered' }]);
    expect([...two, ...three].every(({ state }) => state === 'delivered')).toBe(true);
  });
});

describe('stopping', () => {
  it('lets a short request end, cuts a long one, and loses neither', async () => {
    const { destination, gateway } = open({ timeoutMs: 60_000 });
    await owe(gateway, destination, 'short');
    await owe(gateway, destination, 'long');
    stage.otherwise = async (request, response, seen) => {
      if (seen.path.includes('long')) return;
      await wait(300);
      await say(200)(request, response, seen);
    };
    const stop = new AbortController();
    const sending = deliver(gateway, { signal: stop.signal });
    while (stage.seen.length < 2) await wait(5);
    const asked = performance.now();
    stop.abort();
    const results = await sending;
    expect(performance.now() - asked).toBeLessThan(9_000);
    expect(results.map(({ state }) => state)).toEqual(['delivered', 'waiting_retry']);
    expect(await store.outbox.inState('owed')).toMatchObject([{ instance: 'long', attempts: 0 }]);
  });
});
