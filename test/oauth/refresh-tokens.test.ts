import { describe, expect, it } from 'vitest';
import { forgetSecrets, redact } from '../../src/lib/redact.ts';
import { authorize } from '../../src/oauth/authorize.ts';
import type { OAuthDescription } from '../../src/sdk/oauth.ts';
import { openDesk, personLogin } from './rig.ts';
import { type Answer, tokenAddress } from './token-address.ts';

const over: Answer = { status: 400, body: { error: 'invalid_grant' } };
const given = (number: number, more: object = {}): Answer => ({
  body: { access_token: `access-${number}`, token_type: 'bearer', expires_in: 3600, ...more },
});

/** A user who has consented, at a vendor that has a script for responses to token requests. */
async function deskAt(refresh: 'static' | 'rotating', ...answers: Answer[]) {
  const { url, heard } = await tokenAddress(...answers);
  const description: OAuthDescription = {
    grants: ['authorization_code'],
    authorize_url: url,
    token_url: url,
    refresh_url: url.replace('/token', '/refresh'),
    refresh,
  };
  const desk = await openDesk({ login: personLogin({ description }) });
  const { entry, login, store } = desk;
  const agreed = {
    accessToken: 'access-0',
    refreshToken: 'refresh-0',
    askedAt: Date.now(),
    lifetimeMs: 3_600_000,
    kept: {},
  };
  await authorize(entry, { login, store, ask: async () => agreed });
  const renew = async () => {
    await entry.tokenManager.refused(await entry.tokenManager.token());
    return (await entry.tokenManager.token()).access_token;
  };
  const asked = () => heard.map(({ body }) => new URLSearchParams(body).get('refresh_token'));
  const paths = () => heard.map(({ path }) => path);
  return { ...desk, renew, asked, paths };
}

describe('a refresh token', () => {
  it("is kept if the vendor doesn't return a new one", async () => {
    const { renew, asked } = await deskAt(
      'static',
      given(1),
      given(2),
      given(3, { refresh_token: 'refresh-3' }),
      given(4),
    );
    for (const number of [1, 2, 3, 4]) expect(await renew()).toBe(`access-${number}`);
    expect(asked()).toEqual(['refresh-0', 'refresh-0', 'refresh-0', 'refresh-3']);
  });

  it('that is refused is replaced by the previous one, which some vendors still accept', async () => {
    const first = given(1, { refresh_token: 'refresh-1' });
    const { renew, asked, store } = await deskAt('rotating', first, over, given(2, { refresh_token: 'refresh-2' }));
    expect(await renew()).toBe('access-1');
    expect(await renew()).toBe('access-2');
    expect(asked()).toEqual(['refresh-0', 'refresh-1', 'refresh-0']);
    expect(await store.logins.find('acme')).toMatchObject({ state: 'good', asked_at: null });
  });

  it("isn't replaced by the previous one after a lost response, because reusing the previous one may end the login", async () => {
    const lost = { status: 503, body: 'busy' };
    const { renew, asked, store } = await deskAt('rotating', given(1, { refresh_token: 'refresh-1' }), lost);
    expect(await renew()).toBe('access-1');
    await expect(renew()).rejects.toMatchObject({ family: 'try_later' });
    expect(asked()).toEqual(['refresh-0', 'refresh-1']);
    expect(await store.logins.find('acme')).toMatchObject({ state: 'good', asked_at: expect.any(Number) });
  });

  it.each([
    ['rotating', 'LOGIN_LOST'],
    ['static', 'LOGIN_ENDED'],
  ] as const)('that is refused after a lost response was used up only if it is rotating: %s', async (kind, code) => {
    const { renew, login, store } = await deskAt(kind, given(1), { status: 503, body: 'busy' }, over);
    expect(await renew()).toBe('access-1');
    await expect(renew()).rejects.toMatchObject({ family: 'try_later' });
    const { tokenManager } = (await openDesk({ login, folder: store.folder })).entry;
    await tokenManager.refused(await tokenManager.token());
    await expect(tokenManager.token()).rejects.toMatchObject({ family: 'login', code });
  });

  it('yields no access token if the response is truncated', async () => {
    const headers = { 'content-type': 'text/plain', 'content-length': '99', connection: 'close' };
    const { renew } = await deskAt('static', { body: 'access_token=acce', headers });
    await expect(renew()).rejects.toMatchObject({ code: 'LOGIN_UNREACHABLE', family: 'try_later' });
  });

  it('and the previous one are redacted as soon as a process has read them', async () => {
    const { renew, login, store } = await deskAt('rotating', given(1, { refresh_token: 'refresh-1' }));
    await renew();
    forgetSecrets();
    const { entry } = await openDesk({ login, folder: store.folder });
    await entry.tokenStore.load();
    expect(redact('refresh-0 refresh-1 access-1')).toBe('[redacted] [redacted] [redacted]');
  });

  it("is sent to the vendor's refresh URL if there is one", async () => {
    const { renew, paths } = await deskAt('static', given(1));
    await renew();
    expect(paths()).toEqual(['/refresh']);
  });

  it('that is refused ends the login if the previous one is refused as well', async () => {
    const { renew, asked, store } = await deskAt('rotating', given(1, { refresh_token: 'refresh-1' }), over);
    expect(await renew()).toBe('access-1');
    await expect(renew()).rejects.toMatchObject({ family: 'login', code: 'LOGIN_ENDED' });
    expect(asked()).toEqual(['refresh-0', 'refresh-1', 'refresh-0']);
    expect(await store.logins.find('acme')).toMatchObject({ state: 'refused', asked_at: null });
  });
});
