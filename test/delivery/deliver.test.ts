import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { VerifiedCache } from '../../src/delivery/verified-cache.ts';
import { SteppingClock } from '../clocks.ts';
import { damage } from '../state/fixtures.ts';
import { deliver, deliverHere, heard, open, owe, patient, stage, store } from './deliver-rig.ts';
import { answer, commitText, destinationAt, jobFor, openGateway, openStage, say } from './fixtures.ts';

deliverHere();

describe('a connection', () => {
  it.each([
    ['small', 20],
    ['large', 2_000_000],
  ])('is reused by later uploads, even if the response immediately follows the last byte (%s)', async (_, bytes) => {
    const { destination, gateway } = open();
    // The response is sent before the client detects the end of its file, as a service that counts bytes would do.
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

describe('a payload whose destination has a new URL', () => {
  it('is sent to that URL, and the receipt covers only that URL', async () => {
    const { destination, gateway } = open();
    await owe(gateway, destination, 'i1', 'a\n1\n');
    const moved = await openStage();
    const there = openGateway({ store, destinations: [destinationAt(moved.url)], emit: heard.emit });
    expect(await deliver(there)).toMatchObject([{ state: 'delivered' }]);
    expect([stage.seen.length, moved.seen.length]).toEqual([0, 1]);
    expect(await store.receipts.find({ url: moved.url, instance: 'i1' })).toMatchObject({ certain: 1 });
    expect(await store.receipts.find({ url: stage.url, instance: 'i1' })).toBeUndefined();
  });

  it('is superseded by newer data that the new URL already has', async () => {
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

  it("isn't sent if the new URL already shows the same bytes", async () => {
    const { destination, gateway } = open();
    const moved = await openStage();
    const target = destinationAt(moved.url);
    const there = openGateway({ store, destinations: [target], emit: heard.emit });
    await owe(there, target, 'i1', 'same\n');
    await deliver(there);
    await wait(5);
    const newer = Date.now();
    await commitText(gateway, { job: jobFor(destination, 'i1'), text: 'same\n', asOf: newer });
    expect(await deliver(there)).toMatchObject([{ state: 'unchanged' }]);
    expect(moved.seen).toHaveLength(1);
    expect(await store.receipts.find({ url: moved.url, instance: 'i1' })).toMatchObject({ certain: 1, as_of: newer });
    expect(await store.runs.last('job-i1')).toMatchObject({ state: 'unchanged', requests: 0 });
    expect(readdirSync(store.payloads.root)).toEqual([]);
    expect(heard.names().at(-1)).toBe('payload.unchanged');
  });
});

describe('an owed payload', () => {
  it('is sent once, with its length, type and credentials, and its file is deleted afterwards', async () => {
    const { destination, gateway } = open();
    const id = await owe(gateway, destination, 'i/1', 'a,b\r\n1,2\r\n');
    const [result] = await deliver(gateway);
    expect(result).toMatchObject({ id, state: 'delivered', instance: 'i/1' });
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
    expect(gateway.verified.has(id), 'nothing about it stays in memory').toBe(false);
    expect(heard.names()).toEqual([
      'payload.owed',
      'request.sent',
      'upload.started',
      'request.answered',
      'payload.delivered',
    ]);
    expect(await deliver(gateway)).toEqual([]);
  });

  it('is sent with a user agent, and with Basic credentials that can contain any characters', async () => {
    const credentials = { kind: 'basic' as const, user: 'zoë@x', password: 'p:ä"ß' };
    const { destination, gateway } = open({ credentials, clientId: 'c&1' });
    await commitText(gateway, { job: jobFor(destination, 'i'), text: 'x' });
    await deliver(gateway);
    expect(stage.seen[0]?.query.get('client_id')).toBe('c&1');
    const sent = stage.seen[0]?.headers.authorization?.replace('Basic ', '') ?? '';
    expect(Buffer.from(sent, 'base64').toString()).toBe('zoë@x:p:ä"ß');
  });

  it("isn't sent if the instance already shows the same bytes, unless the job always sends", async () => {
    const { destination, gateway } = open();
    await owe(gateway, destination, 'i', 'same');
    await deliver(gateway);
    const again = await commitText(gateway, { job: jobFor(destination, 'i'), text: 'same' });
    expect(again).toEqual({ state: 'unchanged' });
    await commitText(gateway, { job: jobFor(destination, 'i', { always: true }), text: 'same' });
    expect(await deliver(gateway)).toMatchObject([{ state: 'delivered' }]);
    expect(stage.seen).toHaveLength(2);
  });

  it("waits while its destination isn't configured", async () => {
    const { destination, gateway } = open();
    await owe(gateway, destination, 'i');
    const elsewhere = openGateway({ store, destinations: [destinationAt(stage.url, { name: 'other' })] });
    expect(await deliver(elsewhere)).toEqual([]);
    expect(await store.outbox.inState('owed')).toHaveLength(1);
    expect(stage.seen).toEqual([]);
  });

  it('of many megabytes arrives complete at a slow receiver', async () => {
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

describe('an invalid payload', () => {
  it("is rejected if it's empty, but sent if the job allows that", async () => {
    const { destination, gateway } = open();
    const refused = await commitText(gateway, { job: jobFor(destination, 'i'), text: 'h\r\n', rows: 0 });
    expect(refused).toMatchObject({ state: 'failed', problem: { code: 'EMPTY_REFUSED' } });
    expect(await store.runs.last('job-i')).toMatchObject({ state: 'failed', code: 'EMPTY_REFUSED' });
    expect(readdirSync(store.payloads.root)).toEqual([]);
    const job = jobFor(destination, 'i', { allowEmpty: true });
    expect(await commitText(gateway, { job, text: 'h\r\n', rows: 0 })).toMatchObject({ state: 'owed' });
  });

  it('is rejected above the exact size limit, with its size, the limit and a fix, without sending a request', async () => {
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

  it('is dead if its file was truncated after the same process wrote it', async () => {
    const { destination, gateway } = open();
    const id = await owe(gateway, destination, 'i', 'whole');
    await damage(store, (await store.outbox.find(id))!.path, 'who');
    expect(await deliver(gateway)).toMatchObject([{ state: 'dead', problem: { code: 'PAYLOAD_DAMAGED' } }]);
    expect(stage.seen).toEqual([]);
  });

  it('is dead if its file is changed before a later process sends it, while other payloads are delivered', async () => {
    const { destination, gateway } = open();
    for (const instance of ['cut', 'gone', 'flipped', 'fine']) await owe(gateway, destination, instance);
    const rows = await store.outbox.inState('owed');
    for (const [nth, text] of ['dat', '', 'data of flippeD'].entries()) await damage(store, rows[nth]!.path, text);
    const later = openGateway({ store, destinations: [destination], emit: heard.emit });
    const results = await deliver(later);
    expect(results.map(({ state }) => state)).toEqual(['dead', 'dead', 'dead', 'delivered']);
    expect(results[2]).toMatchObject({ problem: { code: 'PAYLOAD_DAMAGED' } });
    expect(stage.seen).toHaveLength(1);
  });
});

describe("a payload that wasn't accepted", () => {
  it('is dead if its file is damaged before the next attempt', async () => {
    const { destination, gateway } = open();
    const id = await owe(gateway, destination, 'i', 'whole');
    stage.script.push(say(503));
    expect(await deliver(gateway)).toMatchObject([{ state: 'waiting_retry' }]);
    await damage(store, (await store.outbox.find(id))!.path, 'wholE');
    expect(await deliver(gateway, patient())).toMatchObject([{ state: 'dead', problem: { code: 'PAYLOAD_DAMAGED' } }]);
    expect(stage.seen).toHaveLength(1);
  });

  it('is hashed again a minute after its last verification', () => {
    const clock = new SteppingClock();
    const verified = new VerifiedCache(clock);
    verified.add(1);
    verified.add(2);
    verified.end(2);
    expect([1, 2, 3].map((id) => verified.has(id))).toEqual([true, false, false]);
    clock.advance(59_999);
    expect(verified.has(1)).toBe(true);
    clock.advance(1);
    expect(verified.has(1)).toBe(false);
  });
});

describe('an instance', () => {
  it('never gets two uploads at once, and of two waiting payloads gets only the newer', async () => {
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

describe('a shutdown', () => {
  it('lets a short request finish, aborts a long one, and loses neither payload', async () => {
    const { destination, gateway } = open({ timeoutMs: 3_600_000 });
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
    stop.abort();
    const results = await sending;
    expect(results.map(({ state }) => state)).toEqual(['delivered', 'waiting_retry']);
    expect(await store.outbox.inState('owed')).toMatchObject([{ instance: 'long', attempts: 0 }]);
  });
});
