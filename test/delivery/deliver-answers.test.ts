import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { dayOf } from '../../src/delivery/quota.ts';
import { forgetSecrets, registerSecret } from '../../src/lib/redact.ts';
import { deliver, deliverHere, heard, open, owe, patient, stage, store } from './deliver-rig.ts';
import { answer, commitText, jobFor, type Play, readBody, say } from './fixtures.ts';

deliverHere();

/** The payload files that this process has open. */
const openPayloads = (): string[] =>
  readdirSync('/proc/self/fd')
    .map((descriptor) => {
      try {
        return readlinkSync(`/proc/self/fd/${descriptor}`);
      } catch {
        return ''; // It was closed in the meantime.
      }
    })
    .filter((path) => path.startsWith(store.payloads.root));

describe('a response', () => {
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
    ['429 without a body', say(429)],
    ['a reset before the body was read', reset],
    ['a reset after the body was read', resetAfterBody],
    ['half a response', half],
    ['a login page with status 200', portal],
    ['an empty page with status 200', blank],
    ['silence', hang],
  ];
  it.each(recoveries)('of %s causes another attempt with the complete body', async (_name, play) => {
    // Only a response that never comes may exceed the timeout; others may be late on an overloaded machine.
    const { destination, gateway } = open({ timeoutMs: play === hang ? 2_000 : 60_000 });
    const { gateway: later } = open({ timeoutMs: 60_000 });
    const id = await owe(gateway, destination, 'i', 'the whole body');
    stage.script.push(play);
    const [first] = await deliver(gateway);
    expect(first).toMatchObject({ id, state: 'waiting_retry' });
    expect(await store.outbox.find(id)).toMatchObject({ state: 'owed' });
    expect(await store.receipts.find({ url: destination.url, instance: 'i' })).toMatchObject({ certain: 0 });
    const [second] = await deliver(later, patient());
    expect(second).toMatchObject({ id, state: 'delivered' });
    expect(stage.seen).toHaveLength(2);
    expect(stage.seen[1]?.body).toBe('the whole body');
    expect(await store.quota.use('account', dayOf(Date.now())), 'retries are charged').toMatchObject({ used: 2 });
  });

  it.each([
    ['503, after which it is unknown what the instance shows', 503, 'owed'],
    ['429, after which the instance still shows the previous data', 429, 'unchanged'],
  ] as const)('determines whether the shown data must be sent again: %s', async (_, status, state) => {
    const { destination, gateway } = open();
    await owe(gateway, destination, 'i', 'shown');
    await deliver(gateway);
    await owe(gateway, destination, 'i', 'newer');
    stage.script.push(say(status));
    expect(await deliver(gateway)).toMatchObject([{ state: 'waiting_retry' }]);
    expect(await commitText(gateway, { job: jobFor(destination, 'i'), text: 'shown' })).toMatchObject({ state });
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
  it.each(ends)("of %i %s ends the attempts with the service's message", async (status, code, expected) => {
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

  it.each([400, 401, 413])('of %i is read even if it arrives before the whole body has been sent', async (status) => {
    const { destination, gateway } = open({ uploadLimitBytes: 100_000_000 });
    await owe(gateway, destination, 'i', 'x'.repeat(50_000_000));
    stage.script.push((request, response, seen) => {
      answer(status, { code: 'early', words: 'no thanks', headers: { connection: 'close' } })(request, response, seen);
    });
    const [result] = await deliver(gateway);
    expect(result).toMatchObject({ problem: { message: expect.stringContaining('no thanks') } });
    expect(result?.state).toBe(status === 401 ? 'waiting_login' : 'dead');
    while (openPayloads().length > 0) await wait(5);
  });

  it.each([
    ['no response', hang],
    ['a reset before the body was read', reset],
  ])('of %s to a large payload leaves no file open', async (_, play) => {
    const { destination, gateway } = open({ timeoutMs: play === hang ? 2_000 : 60_000 });
    await owe(gateway, destination, 'i', 'x'.repeat(5_000_000));
    stage.script.push(play);
    expect(await deliver(gateway)).toMatchObject([{ state: 'waiting_retry' }]);
    while (openPayloads().length > 0) await wait(5);
  });

  it("of 400 doesn't mark a payload as dead if newer data has superseded it during the upload", async () => {
    const { destination, gateway } = open();
    const id = await owe(gateway, destination, 'i', 'old');
    stage.script.push(async (request, response, seen) => {
      await readBody(request, seen);
      await owe(gateway, destination, 'i', 'new');
      answer(400)(request, response, seen);
    });
    expect(await deliver(gateway, { only: [id] })).toMatchObject([{ id, state: 'superseded' }]);
    expect(heard.names()).not.toContain('payload.dead');
  });

  it("of 200 with success: false isn't a receipt", async () => {
    const { destination, gateway } = open();
    await owe(gateway, destination, 'i');
    stage.script.push(say(200, { meta: { success: false, error_desc: 'not today' } }));
    expect(await deliver(gateway)).toMatchObject([{ state: 'dead', problem: { code: 'DELIVERY_REFUSED' } }]);
  });

  it('never leaks a secret into the store, an event or a result', async () => {
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
