import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../src/delivery/answer.ts';
import { backoffMs, decide } from '../../src/delivery/retry.ts';

const envelope = JSON.stringify({ meta: { success: true, status: 200 }, data: {} });
const decided = (status: number, text: string, complete: boolean) =>
  decide({ answer: readAnswer({ status, headers: {}, text, complete }, 0) });

describe('a truncated response with status 200', () => {
  it.each([
    ['before its first byte', ''],
    ['in the middle', envelope.slice(0, 20)],
    ['after its content', envelope],
  ])('%s is neither success nor failure: the request is repeated', (_, text) => {
    expect(decided(200, text, false)).toMatchObject({
      action: 'retry',
      ambiguous: true,
      problem: { code: 'DELIVERY_NO_ANSWER' },
    });
    expect(decided(200, envelope, true)).toMatchObject({ action: 'settle' });
  });
});

describe('the delay before the next attempt', () => {
  it('is never shorter than what the service asked for, nor longer than 15 minutes by itself', () => {
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
