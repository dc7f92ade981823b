import { expect, it } from 'vitest';
import type { Login } from '../../src/config/config.ts';
import { redact } from '../../src/lib/redact.ts';
import { authorize } from '../../src/oauth/authorize.ts';
import { DeviceConsent } from '../../src/oauth/device-consent.ts';
import type { DeviceCodes } from '../../src/sdk/oauth.ts';
import { noon, SteppingClock } from '../clocks.ts';
import { enterCode } from './person.ts';
import { openDesk, opens, personLogin, vendorForTest } from './rig.ts';
import { type Answer, tokenAddress } from './token-address.ts';

const never = new AbortController().signal;
const codes: Answer = {
  body: {
    device_code: 'd3v1c3-c0d3',
    user_code: 'WDJB-MJHT',
    verification_uri: 'https://acme.example/enter',
    expires_in: 60,
  },
};
const no = (error: string): Answer => ({ status: 400, body: { error } });
const good: Answer = { body: { access_token: 'the-token', refresh_token: 'r1', expires_in: 3600 } };

/** The result of a device login at a URL that returns these responses, one after another. */
async function logInAt(
  answers: Answer[],
  device: Partial<DeviceCodes> = {},
  onSleep = (_: number): unknown => undefined,
) {
  const { url, heard } = await tokenAddress(...answers);
  const description = { grants: ['authorization_code'], token_url: url, refresh: 'static' } as const;
  const login: Login = personLogin(
    { description: { ...description, device: { url, ...device } } },
    { scopes: ['a', 'b'] },
  );
  const { entry } = await openDesk({ login });
  const clock = new SteppingClock(noon, { onSleep });
  const forms = () => heard.map(({ body }) => Object.fromEntries(new URLSearchParams(body)));
  const consent = await DeviceConsent.begin(entry.tokenClient, clock);
  return { consent, slept: clock.slept, forms, granted: (signal = never) => consent.wait(signal) };
}

it('a device login returns tokens once a user has entered the code on another machine, and renews them later', async () => {
  const vendor = await vendorForTest();
  const login = personLogin(vendor);
  const { entry, store } = await openDesk({ login });
  let consent: DeviceConsent | undefined;
  const clock = new SteppingClock(noon, {
    onSleep: (nth) => nth === 3 && enterCode(consent!.code.address, consent!.code.userCode),
  });
  consent = await DeviceConsent.begin(entry.tokenClient, clock);
  expect(consent.code.fullAddress).toContain(consent.code.userCode);
  await authorize(entry, { login, store, ask: () => consent.wait(never) });
  expect(clock.slept).toEqual([5000, 5000, 5000]);
  const first = await entry.tokenManager.token();
  expect(await opens(vendor, first.access_token)).toBe(true);
  await entry.tokenManager.refused(first);
  const second = await entry.tokenManager.token();
  expect(second.access_token).not.toBe(first.access_token);
  expect(await store.logins.find('acme')).toMatchObject({ state: 'good', who: 'alice' });
});

it('a device login reports that the user canceled on the code page', async () => {
  const vendor = await vendorForTest();
  const { entry } = await openDesk({ login: personLogin(vendor) });
  const consent = await DeviceConsent.begin(entry.tokenClient, new SteppingClock());
  await enterCode(consent.code.address, consent.code.userCode, 'abort');
  await expect(consent.wait(never)).rejects.toMatchObject({ code: 'LOGIN_DENIED', family: 'login' });
});

it("a device login polls at the vendor's interval, and slows down if the vendor asks it to", async () => {
  const answers = [codes, no('authorization_pending'), no('slow_down'), no('authorization_pending'), good];
  const { granted, slept, forms } = await logInAt(answers);
  expect(await granted()).toMatchObject({ accessToken: 'the-token', refreshToken: 'r1' });
  expect(slept).toEqual([5000, 5000, 10_000, 10_000]);
  expect(forms()[0]).toMatchObject({ client_id: 'web', scope: 'a b' });
  expect(forms()[1]).toMatchObject({
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: 'd3v1c3-c0d3',
    client_id: 'web',
  });
  expect(redact('it is d3v1c3-c0d3')).not.toContain('d3v1c3-c0d3');
});

it('a device login keeps polling a temporarily unavailable vendor, but more slowly', async () => {
  const { granted, slept } = await logInAt([codes, { status: 503, body: 'busy' }, no('authorization_pending'), good]);
  expect(await granted()).toMatchObject({ accessToken: 'the-token' });
  expect(slept).toEqual([5000, 10_000, 10_000]);
});

it('a device login ends when the code has expired, whether or not the vendor says so', async () => {
  const silent = await logInAt([codes, no('authorization_pending')]);
  await expect(silent.granted()).rejects.toMatchObject({ code: 'LOGIN_EXPIRED' });
  expect(silent.slept).toHaveLength(12);
  const told = await logInAt([codes, no('expired_token')]);
  await expect(told.granted()).rejects.toMatchObject({ code: 'LOGIN_EXPIRED' });
});

it('a device login can be canceled', async () => {
  const stop = new AbortController();
  const { granted } = await logInAt([codes, no('authorization_pending')], {}, (nth) => nth === 2 && stop.abort());
  await expect(granted(stop.signal)).rejects.toMatchObject({ name: 'AbortError' });
});

it('a device login supports the field names of vendors whose device codes predate the standard', async () => {
  const { body } = codes;
  const { verification_uri, expires_in: _, ...rest } = body as Record<string, unknown>;
  const old = { body: { ...rest, verification_url: verification_uri, interval: '7' } };
  const { consent, granted, slept, forms } = await logInAt([old, good], {
    parameters: { response_type: 'device_code' },
    grant_type: 'device',
    code_parameter: 'code',
    lifetime_seconds: 480,
  });
  expect(consent.code).toMatchObject({ address: 'https://acme.example/enter', lifetimeMs: 480_000 });
  await granted();
  expect(slept).toEqual([7000]);
  expect(forms()[0]).toMatchObject({ response_type: 'device_code', client_id: 'web' });
  expect(forms()[1]).toMatchObject({ grant_type: 'device', code: 'd3v1c3-c0d3' });
});

it("a device login rejects a verification URL that isn't a web URL", async () => {
  const { body } = codes;
  const odd = { body: { ...(body as object), verification_uri: 'javascript:alert(1)' } };
  await expect(logInAt([odd])).rejects.toMatchObject({ code: 'LOGIN_UNREACHABLE', family: 'try_later' });
});

it("a device login reports if the app isn't allowed to use device codes", async () => {
  const refused = logInAt([no('unauthorized_client')]);
  await expect(refused).rejects.toMatchObject({ meaning: 'client', error: 'unauthorized_client' });
});
