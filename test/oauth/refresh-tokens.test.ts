import { describe, expect, it } from 'vitest';
import { authorize } from '../../src/oauth/authorize.ts';
import type { OAuthDescription } from '../../src/sdk/oauth.ts';
import { openDesk, personLogin } from './rig.ts';
import { type Answer, tokenAddress } from './token-address.ts';

const over: Answer = { status: 400, body: { error: 'invalid_grant' } };
const given = (number: number, more: object = {}): Answer => ({
  body: { access_token: `access-${number}`, token_type: 'bearer', expires_in: 3600, ...more },
});

/** A user who has agreed, at a vendor with scripted responses to token requests. */
async function deskAt(refresh: 'static' | 'rotating', ...answers: Answer[]) {
  const { url, heard } = await tokenAddress(...answers);
  const description: OAuthDescription = {
    grants: ['authorization_code'],
    authorize_url: url,
    token_url: url,
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
  return { ...desk, renew, asked };
}

describe('a refresh token', () => {
  it('is kept if the vendor returns no new one', async () => {
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

  it('that is refused is replaced by the previous one, which some vendors still accept, before a user must log in', async () => {
    const first = given(1, { refresh_token: 'refresh-1' });
    const { renew, asked, store } = await deskAt('rotating', first, over, given(2, { refresh_token: 'refresh-2' }));
    expect(await renew()).toBe('access-1');
    expect(await renew()).toBe('access-2');
    expect(asked()).toEqual(['refresh-0', 'refresh-1', 'refresh-0']);
    expect(await store.logins.find('acme')).toMatchObject({ state: 'good', asked_at: null });
  });

  it('that is refused ends the login if the previous one is refused, too', async () => {
    const { renew, asked } = await deskAt('rotating', given(1, { refresh_token: 'refresh-1' }), over);
    expect(await renew()).toBe('access-1');
    await expect(renew()).rejects.toMatchObject({ family: 'login', code: 'LOGIN_ENDED' });
    expect(asked()).toEqual(['refresh-0', 'refresh-1', 'refresh-0']);
  });
});
