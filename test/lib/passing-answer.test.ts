import { describe, expect, it } from 'vitest';
import { isPassingStatus, passingAnswer, retryAfterMs, spentLimit } from '../../src/lib/passing-answer.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

describe('transient statuses', () => {
  it('are 408, 425, 429 and every 5xx except 501 and 505', () => {
    const all = Array.from({ length: 500 }, (_, i) => 100 + i);
    const passing = all.filter(isPassingStatus);
    expect(passing.filter((status) => status < 500)).toEqual([408, 425, 429]);
    expect(all.filter((status) => status >= 500 && !isPassingStatus(status))).toEqual([501, 505]);
  });
});

describe('Retry-After', () => {
  it.each<[string | undefined, number | undefined]>([
    ['120', 120_000],
    ['0', 0],
    ['1.5', 1500],
    ['0.0001', 1],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 00:00:00 GMT', undefined],
    ['soon', undefined],
    ['in 5 minutes', undefined],
    ['-1', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%j means %j ms', (header, milliseconds) => {
    expect(retryAfterMs({ 'retry-after': header }, now)).toBe(milliseconds);
  });

  it("compares a date with the server's clock", () => {
    const headers = { 'retry-after': 'Thu, 01 Jan 2026 05:00:30 GMT', date: 'Thu, 01 Jan 2026 05:00:00 GMT' };
    expect(retryAfterMs(headers, now)).toBe(30_000);
  });
});

describe('a used-up limit', () => {
  it.each<[Record<string, string>, number | undefined]>([
    [{ 'ratelimit-remaining': '0', 'ratelimit-reset': '7' }, 7000],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(now / 1000 + 90) }, 90_000],
    [{ 'x-rate-limit-remaining': '0', 'x-rate-limit-reset': String(now + 90) }, 90],
    [{ 'x-ratelimit-remaining': '0' }, undefined],
    [{ ratelimit: 'limit=100, remaining=0, reset=30' }, 30_000],
    [{ ratelimit: '"default";r=0;t=30', 'ratelimit-policy': '"default";q=100;w=60' }, 30_000],
    [{ ratelimit: '"default";r=0', 'ratelimit-policy': '"hour";q=9;w=3600, "default";q=100;w=60' }, 60_000],
    [{ ratelimit: '"burst";r=0;t=5, "day";r=0;t=900, "year";r=9;t=9999' }, 900_000],
    [{ ratelimit: '"default";r=0' }, undefined],
  ])('is detected from %j', (headers, resetMs) => {
    expect(spentLimit(headers, now)).toEqual({ resetMs });
  });

  it.each<[Record<string, string>]>([
    [{}],
    [{ 'ratelimit-remaining': '1', 'ratelimit-reset': '7' }],
    [{ ratelimit: '"default";r=50;t=30' }],
    [{ ratelimit: 'limit=100, remaining=03, reset=30' }],
    [{ 'ratelimit-policy': '"default";q=100;w=60' }],
  ])("isn't detected from %j", (headers) => {
    expect(spentLimit(headers, now)).toBe(undefined);
  });
});

describe("a response's classification", () => {
  it.each<[number, Record<string, string>, ReturnType<typeof passingAnswer>]>([
    [429, {}, { isRateLimit: true, retryAfterMs: undefined }],
    [429, { ratelimit: '"a";r=0;t=8' }, { isRateLimit: true, retryAfterMs: 8000 }],
    [429, { ratelimit: '"a";r=0;t=8', 'retry-after': '9' }, { isRateLimit: true, retryAfterMs: 9000 }],
    [503, { 'retry-after': '9' }, { isRateLimit: false, retryAfterMs: 9000 }],
    [403, { 'retry-after': '9' }, { isRateLimit: true, retryAfterMs: 9000 }],
    [403, { 'x-ratelimit-remaining': '0' }, { isRateLimit: true, retryAfterMs: undefined }],
    [403, { 'x-ratelimit-remaining': '8' }, undefined],
    [403, {}, undefined],
    [401, { 'retry-after': '9' }, undefined],
    [501, {}, undefined],
  ])('recognizes whether status %i with %j is transient', (status, headers, passing) => {
    expect(passingAnswer(status, headers, now)).toEqual(passing);
  });
});
