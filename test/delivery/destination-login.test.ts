import { describe, expect, it } from 'vitest';
import type { Destination } from '../../src/config/config.ts';
import { DestinationLogin } from '../../src/delivery/destination-login.ts';
import { VerifiedCache } from '../../src/delivery/verified-cache.ts';
import { Problem } from '../../src/lib/problem.ts';
import { SteppingClock } from '../clocks.ts';

const refusal = new Problem({ code: 'LOGIN_NEEDED', family: 'login', message: 'refused' });

type Renewable = { -readonly [K in 'credentials' | 'renew']: Destination[K] };

/** A destination whose key can be replaced; `renewed` counts how often it was read again. */
function setUp({ next }: { next?: string } = {}) {
  const destination: Renewable = { credentials: { kind: 'api_key', key: 'first' }, renew: undefined };
  let renewed = 0;
  if (next !== undefined)
    destination.renew = async () => {
      renewed++;
      destination.credentials = { kind: 'api_key', key: next };
    };
  const login = new DestinationLogin(destination as Destination);
  /** Sends a request with the current key and gets this response. A 401 blocks the login. */
  const answer = async (status: number): Promise<boolean> => {
    await login.answered(status, login.credentials);
    return status === 401 && login.block(refusal);
  };
  return { destination, login, answer, renewed: () => renewed };
}

describe("a destination's credentials", () => {
  it('block all requests once they are refused, until they change or are retried', async () => {
    const { destination, login, answer } = setUp();
    expect(await answer(200)).toBe(false);
    expect(login.problem).toBeUndefined();
    expect(await answer(401)).toBe(true);
    expect(login.problem).toBe(refusal);
    destination.credentials = { kind: 'api_key', key: 'second' };
    expect(login.problem).toBeUndefined();
    destination.credentials = { kind: 'api_key', key: 'first' };
    expect(login.problem).toBe(refusal);
    login.reset();
    expect(login.problem).toBeUndefined();
  });

  it('are re-read once after a refusal, and block requests only if the new ones are also refused', async () => {
    const { login, answer, renewed } = setUp({ next: 'second' });
    expect(await answer(401), 'the refused credentials are no longer used').toBe(false);
    expect([renewed(), login.problem]).toEqual([1, undefined]);
    expect(await answer(401)).toBe(true);
    expect([renewed(), login.problem]).toEqual([1, refusal]);
    login.reset();
    await answer(401);
    expect(renewed()).toBe(2);
  });

  it('are re-read after each refusal that follows an accepted request', async () => {
    const { answer, renewed } = setUp({ next: 'second' });
    await answer(401);
    await answer(200);
    await answer(401);
    expect(renewed()).toBe(2);
  });

  it("aren't re-read because of an older request with previous credentials", async () => {
    const { login, renewed } = setUp({ next: 'second' });
    await login.answered(401, 'others');
    expect(renewed()).toBe(0);
    expect(login.block(refusal)).toBe(false);
  });
});

it('a verified payload is trusted for less than a minute, and only until its attempt ends', () => {
  const clock = new SteppingClock();
  const verified = new VerifiedCache(clock);
  expect(verified.has(1)).toBe(false);
  verified.add(1);
  clock.advance(59_999);
  expect([verified.has(1), verified.has(2)]).toEqual([true, false]);
  clock.advance(1);
  expect(verified.has(1)).toBe(false);
  verified.add(1);
  verified.end(1);
  expect(verified.has(1)).toBe(false);
});
