import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { redact } from '../../src/lib/redact.ts';
import { ShiftedClock, SteppingClock } from '../clocks.ts';
import { agreeAt, openDesk, opens, personLogin, robotLogin, vendorForTest } from './rig.ts';

const tokenOf = async (desk: Awaited<ReturnType<typeof openDesk>>) =>
  (await desk.entry.tokenManager.token()).access_token;

/**
 * Time that only the test advances, both here and at the vendor, so that a token is valid as long as the test needs it.
 */
function standingTime() {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const clock = new SteppingClock(Date.now());
  const pass = (milliseconds: number): void => {
    clock.advance(milliseconds);
    vi.setSystemTime(clock.now());
  };
  return { clock, pass };
}

describe("a user's login", () => {
  it("gets a token through consent with PKCE and state, and stores the user's name", async () => {
    const vendor = await vendorForTest();
    const desk = await openDesk({ login: personLogin(vendor) });
    await expect(desk.entry.tokenManager.token()).rejects.toMatchObject({ code: 'LOGIN_NEEDED', family: 'login' });
    await agreeAt(desk);
    expect(await opens(vendor, await tokenOf(desk))).toBe(true);
    expect(await desk.store.logins.find('acme')).toMatchObject({ who: 'alice', state: 'good', asked_at: null });
    expect(vendor.asked).toHaveLength(1);
  });

  it('is renewed repeatedly before it expires, even if each refresh token is valid only once', async () => {
    const { clock, pass } = standingTime();
    const vendor = await vendorForTest({ accessTtl: 60 });
    const desk = await openDesk({ login: personLogin(vendor), clock });
    await agreeAt(desk);
    const seen = new Set<string>();
    while (seen.size < 3) {
      const token = await tokenOf(desk);
      seen.add(token);
      expect(await opens(vendor, token)).toBe(true);
      pass(7_000);
    }
    expect(vendor.asked.length).toBe(seen.size);
  });

  it.each([
    ['a fifth of its lifetime', 60, 12],
    ['five minutes', 7200, 300],
  ])('is renewed %s before it expires', async (_, accessTtl, ahead) => {
    const { clock, pass } = standingTime();
    const vendor = await vendorForTest({ accessTtl });
    const desk = await openDesk({ login: personLogin(vendor), clock });
    await agreeAt(desk);
    const first = await tokenOf(desk);
    pass((accessTtl - ahead - 1) * 1000);
    expect(await tokenOf(desk)).toBe(first);
    pass(2000);
    expect(await tokenOf(desk)).not.toBe(first);
  });

  it("keeps its refresh token if the vendor doesn't return a new one", async () => {
    const vendor = await vendorForTest({ rotate: false });
    const desk = await openDesk({ login: personLogin(vendor) });
    await agreeAt(desk);
    for (let i = 0; i < 3; i++) await desk.entry.tokenManager.refused(await desk.entry.tokenManager.token());
    expect(await opens(vendor, await tokenOf(desk))).toBe(true);
  });

  it('sends only one request if many callers need a token at the same time', async () => {
    const vendor = await vendorForTest();
    const desk = await openDesk({ login: personLogin(vendor) });
    await agreeAt(desk);
    await desk.entry.tokenManager.refused(await desk.entry.tokenManager.token());
    const tokens = await Promise.all(Array.from({ length: 20 }, () => tokenOf(desk)));
    expect(new Set(tokens).size).toBe(1);
    expect(vendor.asked).toHaveLength(2);
    expect(await opens(vendor, tokens[0]!)).toBe(true);
  });

  it('is renewed only once if two processes need it at the same time', async () => {
    const vendor = await vendorForTest();
    const one = await openDesk({ login: personLogin(vendor) });
    await agreeAt(one);
    const two = await openDesk({ login: personLogin(vendor), folder: one.store.folder });
    for (const { entry } of [one, two]) await entry.tokenManager.refused(await entry.tokenManager.token());
    const [here, there] = await Promise.all([tokenOf(one), tokenOf(two)]);
    expect(here).toBe(there);
    expect(vendor.asked).toHaveLength(2);
  });

  it("isn't stored while another process renews it", async () => {
    const vendor = await vendorForTest();
    const desk = await openDesk({ login: personLogin(vendor) });
    const other = await openDesk({ login: personLogin(vendor), folder: desk.store.folder });
    const lease = await other.store.leases.take('login:acme');
    const agreed = agreeAt(desk);
    while (vendor.asked.length === 0) await wait(5);
    await wait(100);
    expect(await desk.store.logins.find('acme')).toBeUndefined();
    await lease!.release();
    await agreed;
    expect(await desk.store.logins.find('acme')).toMatchObject({ state: 'good' });
  });

  it('uses a token that another process has renewed instead of renewing it again', async () => {
    const vendor = await vendorForTest();
    const one = await openDesk({ login: personLogin(vendor) });
    await agreeAt(one);
    const two = await openDesk({ login: personLogin(vendor), folder: one.store.folder });
    const old = await one.entry.tokenManager.token();
    await two.entry.tokenManager.refused(await two.entry.tokenManager.token());
    const renewed = await tokenOf(two);
    await one.entry.tokenManager.refused(old);
    expect(await tokenOf(one)).toBe(renewed);
    expect(vendor.asked).toHaveLength(2);
  });

  it('stores the new refresh token before it returns the access token', async () => {
    const vendor = await vendorForTest();
    const desk = await openDesk({ login: personLogin(vendor) });
    await agreeAt(desk);
    await desk.entry.tokenManager.refused(await desk.entry.tokenManager.token());
    const token = await tokenOf(desk);
    expect(desk.events).toEqual(['token.asked', 'token.answered', 'token.stored']);
    expect((await desk.entry.tokenStore.load())?.granted.accessToken).toBe(token);
  });

  it('redacts its newest tokens in all output, but no longer the expired ones', async () => {
    const vendor = await vendorForTest();
    const desk = await openDesk({ login: personLogin(vendor) });
    await agreeAt(desk);
    const tokens: string[] = [];
    for (let i = 0; i < 6; i++) {
      const token = await desk.entry.tokenManager.token();
      tokens.push(token.access_token);
      expect(redact(`sent ${token.access_token}`)).toBe('sent [redacted]');
      await desk.entry.tokenManager.refused(token);
    }
    // Another process may still be using the token before the newest one.
    const isShown = tokens.map((token) => redact(token) === token);
    expect(isShown).toEqual([true, true, true, false, false, false]);
  });

  it('keeps using its current token while the vendor is unavailable', async () => {
    const vendor = await vendorForTest({ accessTtl: 20 });
    const desk = await openDesk({ login: personLogin(vendor) });
    await agreeAt(desk);
    const first = await desk.entry.tokenManager.token();
    const clock = new ShiftedClock();
    const later = await openDesk({ login: personLogin(vendor), folder: desk.store.folder, clock });
    vendor.fault = (_, response) => void response.writeHead(503).end('busy') === undefined;
    clock.advance(17_000);
    expect(await later.entry.tokenManager.token()).toEqual(first);
    expect(later.events).toContain('token.failed');
    clock.advance(23_000);
    await expect(later.entry.tokenManager.token()).rejects.toMatchObject({
      code: 'LOGIN_UNREACHABLE',
      family: 'try_later',
    });
    const before = vendor.asked.length;
    await expect(later.entry.tokenManager.token()).rejects.toMatchObject({ family: 'try_later' });
    expect(vendor.asked.length).toBe(before);
    vendor.fault = undefined;
    clock.advance(50_000);
    expect(await opens(vendor, await tokenOf(later))).toBe(true);
    expect(await desk.store.logins.find('acme')).toMatchObject({ state: 'good' });
  });

  it('never returns a token with less than two seconds left, even if the vendor is unavailable', async () => {
    const vendor = await vendorForTest();
    const desk = await openDesk({ login: personLogin(vendor) });
    await agreeAt(desk);
    const { accessToken, askedAt, lifetimeMs } = (await desk.entry.tokenStore.load())!.granted;
    const clock = new SteppingClock(askedAt + lifetimeMs! - 2001);
    const later = await openDesk({ login: personLogin(vendor), folder: desk.store.folder, clock });
    vendor.fault = (_, response) => void response.writeHead(503).end('busy') === undefined;
    expect(await tokenOf(later)).toBe(accessToken);
    clock.advance(1);
    await expect(later.entry.tokenManager.token()).rejects.toMatchObject({
      code: 'LOGIN_UNREACHABLE',
      family: 'try_later',
    });
  });

  it.each([
    ['breaks the connection', (response: { destroy(): void }) => response.destroy()],
    [
      'responds with a page',
      (response: Answer) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>x</p>'),
    ],
    ['refuses without a reason', (response: Answer) => response.writeHead(400).end('<p>no</p>')],
    ['limits the rate', (response: Answer) => response.writeHead(429, { 'retry-after': '1' }).end()],
  ])("isn't lost if the vendor %s", async (_, answer) => {
    const vendor = await vendorForTest();
    const desk = await openDesk({ login: personLogin(vendor) });
    await agreeAt(desk);
    await desk.entry.tokenManager.refused(await desk.entry.tokenManager.token());
    vendor.fault = (_request, response) => {
      answer(response as never);
      return true;
    };
    await expect(desk.entry.tokenManager.token()).rejects.not.toMatchObject({ family: 'login' });
    vendor.fault = undefined;
    const again = await openDesk({ login: personLogin(vendor), folder: desk.store.folder });
    expect(await desk.store.logins.find('acme')).toMatchObject({ state: 'good' });
    expect((await again.entry.tokenStore.load())?.granted.refreshToken).toBeDefined();
  });

  it('sends a refresh token only once if the response is lost', async () => {
    const vendor = await vendorForTest();
    const desk = await openDesk({ login: personLogin(vendor) });
    await agreeAt(desk);
    await desk.entry.tokenManager.refused(await desk.entry.tokenManager.token());
    let requests = 0;
    vendor.fault = (_, response) => {
      requests += 1;
      response.destroy();
      return true;
    };
    await expect(desk.entry.tokenManager.token()).rejects.toMatchObject({ family: 'try_later' });
    expect(requests).toBe(1);
  });

  it('requires a new login once the vendor has revoked it, keeps its tokens, and sends the vendor no more requests', async () => {
    const vendor = await vendorForTest();
    const desk = await openDesk({ login: personLogin(vendor) });
    await agreeAt(desk);
    const token = await desk.entry.tokenManager.token();
    await vendor.revokeAll();
    await desk.entry.tokenManager.refused(token);
    await expect(desk.entry.tokenManager.token()).rejects.toMatchObject({
      code: 'LOGIN_ENDED',
      family: 'login',
      next: 'sluice login acme',
    });
    const asked = vendor.asked.length;
    await expect(desk.entry.tokenManager.token()).rejects.toMatchObject({
      code: 'LOGIN_NEEDED',
      next: 'sluice login acme',
    });
    const other = await openDesk({ login: personLogin(vendor), folder: desk.store.folder });
    await expect(other.entry.tokenManager.token()).rejects.toMatchObject({ code: 'LOGIN_NEEDED' });
    expect(vendor.asked.length).toBe(asked);
    expect((await desk.entry.tokenStore.load())?.granted.refreshToken).toBeDefined();
    await agreeAt(desk);
    expect(await opens(vendor, await tokenOf(desk))).toBe(true);
  });

  it("stays valid if the app is refused, and works again once the app's secret is fixed", async () => {
    const vendor = await vendorForTest();
    const desk = await openDesk({ login: personLogin(vendor) });
    await agreeAt(desk);
    await desk.entry.tokenManager.refused(await desk.entry.tokenManager.token());
    const wrong = await openDesk({
      login: personLogin(vendor, { clientSecret: 'something-else-entirely' }),
      folder: desk.store.folder,
    });
    await wrong.entry.tokenManager.refused(await wrong.entry.tokenManager.token());
    await expect(wrong.entry.tokenManager.token()).rejects.toMatchObject({ code: 'LOGIN_CLIENT', family: 'login' });
    expect(await opens(vendor, await tokenOf(desk))).toBe(true);
  });

  it('is not used for another app', async () => {
    const vendor = await vendorForTest();
    const desk = await openDesk({ login: personLogin(vendor) });
    await agreeAt(desk);
    const other = await openDesk({ login: personLogin(vendor, { clientId: 'other' }), folder: desk.store.folder });
    await expect(other.entry.tokenManager.token()).rejects.toMatchObject({ code: 'LOGIN_NEEDED' });
  });

  it('is renewed if the clock was set back to before the token was stored', async () => {
    const vendor = await vendorForTest();
    const desk = await openDesk({ login: personLogin(vendor) });
    await agreeAt(desk);
    const clock = new ShiftedClock({ wall: -86_400_000 });
    const back = await openDesk({ login: personLogin(vendor), folder: desk.store.folder, clock });
    expect(await opens(vendor, await tokenOf(back))).toBe(true);
    expect(vendor.asked).toHaveLength(2);
  });
});

describe("the app's own login", () => {
  it('requires no user, and all processes share its token', async () => {
    const vendor = await vendorForTest();
    const one = await openDesk({ login: robotLogin(vendor) });
    const token = await tokenOf(one);
    expect(await opens(vendor, token)).toBe(true);
    const two = await openDesk({ login: robotLogin(vendor), folder: one.store.folder });
    expect(await tokenOf(two)).toBe(token);
    expect(vendor.asked).toHaveLength(1);
  });

  it('is requested again after a transient error, but not after any other error', async () => {
    const vendor = await vendorForTest();
    const clock = new SteppingClock(Date.now());
    const desk = await openDesk({ login: robotLogin(vendor), clock });
    let faults = 3;
    vendor.fault = (_, response) => faults-- > 0 && void response.writeHead(503).end('busy') === undefined;
    expect(await opens(vendor, await tokenOf(desk))).toBe(true);
    expect(faults).toBe(-1);
    let requests = 0;
    vendor.fault = (_, response) => {
      requests += 1;
      return void response.writeHead(400).end('{"error": "invalid_client"}') === undefined;
    };
    const other = await openDesk({ login: robotLogin(vendor), clock });
    await expect(other.entry.tokenManager.token()).rejects.toMatchObject({ family: 'login' });
    expect(requests).toBe(1);
  });

  it("isn't requested again until the time that a busy vendor asks for", async () => {
    const vendor = await vendorForTest();
    const clock = new SteppingClock();
    const desk = await openDesk({ login: robotLogin(vendor), clock });
    let requests = 0;
    vendor.fault = (_, response) => {
      requests += 1;
      return void response.writeHead(429, { 'retry-after': '90' }).end() === undefined;
    };
    for (const [laterMs, asked] of [
      [0, 1],
      [89_000, 1],
      [1_000, 2],
    ] as const) {
      clock.advance(laterMs);
      await expect(tokenOf(desk)).rejects.toMatchObject({ code: 'LOGIN_UNREACHABLE', retryAfterMs: 90_000 });
      expect(requests).toBe(asked);
    }
    expect(clock.slept).toEqual([]);
  });

  it('gets a new token if the old one has expired', async () => {
    const { clock, pass } = standingTime();
    const vendor = await vendorForTest({ accessTtl: 60 });
    const desk = await openDesk({ login: robotLogin(vendor), clock });
    const first = await tokenOf(desk);
    pass(61_000);
    const second = await tokenOf(desk);
    expect(second).not.toBe(first);
    expect(await opens(vendor, second)).toBe(true);
  });
});

type Answer = { writeHead(status: number, headers?: object): { end(text?: string): void } };
