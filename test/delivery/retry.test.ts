import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../src/delivery/answer.ts';
import { backoffMs, decide, limitReached, pauseMs } from '../../src/delivery/retry.ts';
import fc from '../property.ts';

const envelope = JSON.stringify({ meta: { success: true, status: 200 }, data: {} });
const decided = (status: number, text: string, complete: boolean) =>
  decide({ answer: readAnswer({ status, headers: {}, text, complete }, 0) });

describe('a truncated response with status 200', () => {
  it.each([
    ['before its first byte', ''],
    ['in the middle', envelope.slice(0, 20)],
    ['after its content', envelope],
  ])('counts as neither success nor failure, so the request is repeated: %s', (_, text) => {
    expect(decided(200, text, false)).toMatchObject({
      action: 'retry',
      ambiguous: true,
      problem: { code: 'DELIVERY_NO_ANSWER' },
    });
    expect(decided(200, envelope, true)).toMatchObject({ action: 'settle' });
  });
});

describe('the delay before the next attempt', () => {
  it('is never shorter than the service asked for, and is otherwise at most 15 minutes', () => {
    const luck = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.nat(100), fc.nat(3_600_000), luck, (attempts, asked, random) => {
        const waits = [backoffMs(attempts, asked, () => random), backoffMs(attempts, 0, () => random)];
        expect(waits[0]).toBeGreaterThanOrEqual(asked);
        expect(waits[0]).toBe(Math.max(asked, waits[1]!));
        expect(waits[1]).toBeGreaterThanOrEqual(100);
        expect(waits[1]).toBeLessThanOrEqual(15 * 60_000 + 100);
      }),
    );
  });
});

/** The decision after a service response with this status. */
function answered(status: number, { code, after }: { code?: string; after?: string } = {}) {
  const text = JSON.stringify({ meta: { success: false, status, error_code: code } });
  const headers: Record<string, string> = after === undefined ? {} : { 'retry-after': after };
  const answer = readAnswer({ status, headers, text, complete: true }, 0);
  const { action, ambiguous, problem, retryAfterMs } = decide({ answer });
  return { action, ambiguous, code: problem?.code, retryAfterMs, limit: limitReached(answer) };
}

describe('a failed request', () => {
  it.each([
    [200, 'dead', false],
    [299, 'dead', false],
    [301, 'dead', false],
    [399, 'dead', false],
    [400, 'dead', false],
    [401, 'login', false],
    [403, 'dead', false],
    [404, 'dead', false],
    [408, 'retry', true],
    [410, 'dead', false],
    [413, 'dead', false],
    [425, 'retry', true],
    [500, 'retry', true],
    [501, 'dead', false],
    [503, 'retry', true],
    [505, 'dead', false],
  ])('with status %i leads to %s; it may have been carried out: %s', (status, action, ambiguous) => {
    expect(answered(status)).toMatchObject({ action, ambiguous, limit: undefined });
  });

  it.each([
    [200, 'The service reported a failure'],
    [300, 'The service has moved'],
    [408, 'The service timed out waiting for the request'],
    [425, 'The service timed out waiting for the request'],
    [500, 'The service failed'],
    [599, 'The service failed'],
  ])('with status %i is explained: %s', (status, message) => {
    const text = JSON.stringify({ meta: { success: false, status } });
    const decision = decide({ answer: readAnswer({ status, headers: {}, text, complete: true }, 0) });
    expect(decision.problem?.message.split(/[;:]/)[0]).toBe(message);
  });

  it('may have been carried out if a proxy or a login page responded', () => {
    const page = { status: 200, headers: { 'content-type': 'text/html' }, text: '<html>', complete: true };
    expect(decide({ answer: readAnswer(page, 0) })).toMatchObject({
      action: 'retry',
      ambiguous: true,
      problem: { code: 'DELIVERY_STRANGE_ANSWER', message: expect.stringContaining('<html>') },
    });
  });

  it.each([
    ['ECONNREFUSED', 'away', false],
    ['ENOTFOUND', 'away', false],
    ['EAI_AGAIN', 'away', false],
    ['ENETUNREACH', 'away', false],
    ['EHOSTUNREACH', 'away', false],
    ['UND_ERR_CONNECT_TIMEOUT', 'away', false],
    ['ECONNRESET', 'retry', true],
    ['UND_ERR_HEADERS_TIMEOUT', 'retry', true],
    ['', 'retry', true],
  ])('without a response because of %j leads to %s; it may have been carried out: %s', (code, action, ambiguous) => {
    expect(decide({ error: Object.assign(new Error('gone'), { code }) })).toMatchObject({ action, ambiguous });
  });

  it('counts as over the daily limit if the service says so or asks for a wait of more than 15 minutes', () => {
    const day = { action: 'wait_for_day', ambiguous: false, code: 'QUOTA_SPENT', limit: 'day' };
    expect(answered(429, { code: 'daily_limit_reached', after: '1' })).toMatchObject({ ...day, retryAfterMs: 1000 });
    expect(answered(429, { after: '901' })).toMatchObject({ ...day, retryAfterMs: 901_000 });
    const second = { action: 'pause', ambiguous: false, code: 'RATE_LIMITED', limit: 'second' };
    expect(answered(429, { after: '900' })).toMatchObject({ ...second, retryAfterMs: 900_000 });
    expect(answered(429)).toMatchObject({ ...second, retryAfterMs: undefined });
    expect(answered(503, { code: 'daily_limit_reached', after: '901' })).toMatchObject({ action: 'retry' });
  });
});

describe("an account's pause after rate limits", () => {
  it('is never shorter than the service asked for, and otherwise grows to two minutes', () => {
    const most = (refusals: number, asked: number | undefined) => pauseMs(refusals, asked, () => 1);
    expect([0, 1, 3, 50].map((refusals) => most(refusals, 1000))).toEqual([1100, 2100, 8100, 120_100]);
    expect(pauseMs(50, 300_000, () => 1)).toBe(300_000);
    expect(pauseMs(3, 1000, () => 0)).toBe(1000);
  });

  it("grows like the pause after any failure if the service didn't ask for one", () => {
    for (const refusals of [1, 3, 50]) {
      expect(pauseMs(refusals, undefined, () => 0.5)).toBe(backoffMs(refusals, 0, () => 0.5));
    }
    expect(pauseMs(50, undefined, () => 1)).toBe(15 * 60_000 + 100);
  });
});
