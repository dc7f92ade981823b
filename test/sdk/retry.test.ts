import { describe, expect, it } from 'vitest';
import { Problem, type ProblemOptions } from '../../src/lib/problem.ts';
import { pauseMs, withRetries } from '../../src/sdk/http/retry.ts';

const busy = (more: Partial<ProblemOptions> = {}) =>
  new Problem({ code: 'SERVICE_BUSY', family: 'try_later', message: 'busy', retryAfterMs: 0, ...more });

/** Retries requests that end like this, one after another, and then succeed. */
async function retried(ends: readonly Error[], options: Partial<Parameters<typeof withRetries>[0]> = {}) {
  const left = [...ends];
  const pauses: number[] = [];
  let requests = 0;
  const given = { retries: 3, signal: new AbortController().signal, ...options };
  const onPause = (_: Problem, milliseconds: number) => void pauses.push(milliseconds);
  const end = await withRetries({ onPause, ...given }, async () => {
    requests++;
    const next = left.shift();
    if (next !== undefined) throw next;
    return 'done';
  }).catch((error: unknown) => error);
  return { end, requests, pauses };
}

describe('a request that fails', () => {
  it('temporarily is retried until it succeeds, up to the allowed number of retries', async () => {
    const error = busy();
    const three = [error, error, error];
    expect(await retried(three)).toEqual({ end: 'done', requests: 4, pauses: [0, 0, 0] });
    expect(await retried(three, { retries: 2 })).toEqual({ end: error, requests: 3, pauses: [0, 0] });
    expect(await retried(three, { retries: 0 })).toEqual({ end: error, requests: 1, pauses: [] });
  });

  it.each([
    ['permanently', busy({ family: 'job' })],
    ['because of its login', busy({ family: 'login' })],
    ['because of a daily limit', busy({ isDailyLimit: true })],
    ['with an unknown error', new Error('unknown')],
  ])("%s isn't retried", async (_, error) => {
    expect(await retried([error])).toEqual({ end: error, requests: 1, pauses: [] });
  });

  it("is retried only if the server doesn't ask for a longer pause than allowed", async () => {
    const error = busy({ retryAfterMs: 6 });
    expect(await retried([error], { maxPauseMs: 6 })).toEqual({ end: 'done', requests: 2, pauses: [6] });
    expect(await retried([error], { maxPauseMs: 5 })).toEqual({ end: error, requests: 1, pauses: [] });
    const long = busy({ retryAfterMs: 60_001 });
    expect(await retried([long])).toEqual({ end: long, requests: 1, pauses: [] });
  });

  it("isn't retried after an abort, even one during the pause", async () => {
    const before = AbortSignal.abort('stopped');
    expect(await retried([], { signal: before })).toMatchObject({ end: 'stopped', requests: 0 });
    const during = new AbortController();
    const onPause = () => during.abort('stopped');
    const long = busy({ retryAfterMs: 60_000 });
    expect(await retried([long], { signal: during.signal, onPause })).toMatchObject({ end: 'stopped', requests: 1 });
  });
});

it('the pause grows from half a second to half a minute, unless the server asks for a specific one', () => {
  const longest = (tries: number) => pauseMs(busy({ retryAfterMs: undefined }), tries, () => 1);
  expect([0, 1, 2, 20].map(longest)).toEqual([500, 1000, 2000, 30_000]);
  expect(pauseMs(busy({ retryAfterMs: 7 }), 20, () => 1)).toBe(7);
});
