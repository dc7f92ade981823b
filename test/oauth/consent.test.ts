import { createHash } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { redact } from '../../src/lib/redact.ts';
import { Consent } from '../../src/oauth/consent.ts';
import { isLocal, Listener } from '../../src/oauth/listener.ts';
import type { OAuthDescription } from '../../src/sdk/oauth.ts';
import { openDesk, personLogin } from './rig.ts';
import { tokenAddress } from './token-address.ts';

/** An attempt to get consent, from a vendor that accepts every code. */
async function attempt(more: Partial<OAuthDescription> = {}) {
  const { url, heard } = await tokenAddress({ body: { access_token: 'the-token', expires_in: 60 } });
  const authorize_url = 'https://acme.example/authorize';
  const own = { grants: ['authorization_code'], authorize_url, token_url: url, refresh: 'none', ...more } as const;
  const login = personLogin({ description: own });
  const { entry } = await openDesk({ login });
  const consent = await Consent.begin(login, login.redirectUri);
  const asked = new URL(consent.url).searchParams;
  const answer = (parameters: Record<string, string>) =>
    consent.redeem(new URL(`${login.redirectUri}?${new URLSearchParams(parameters)}`), entry.tokenClient);
  return { consent, asked, answer, heard, state: asked.get('state')!, back: login.redirectUri };
}

describe("the browser's response", () => {
  it("is redeemed only if it has this attempt's state", async () => {
    const { answer, heard, state } = await attempt();
    const others: Record<string, string>[] = [
      {},
      { state: '' },
      { state: 'of-another-attempt' },
      { state: `${state}x` },
    ];
    for (const other of others) {
      await expect(answer({ code: 'code-of-a-stranger', ...other })).rejects.toMatchObject({
        code: 'LOGIN_STATE',
        family: 'login',
      });
    }
    expect(heard).toEqual([]);
    expect(await answer({ code: 'code-of-this-attempt', state })).toMatchObject({ accessToken: 'the-token' });
    expect(redact('code-of-this-attempt code-of-a-stranger')).toBe('[redacted] [redacted]');
  });

  it('is redeemed with the verifier that matches the PKCE challenge', async () => {
    const { answer, heard, state, asked } = await attempt({ pkce: true });
    await answer({ code: 'the-code', state });
    const sent = new URLSearchParams(heard[0]!.body);
    const verifier = sent.get('code_verifier')!;
    expect(createHash('sha256').update(verifier).digest('base64url')).toBe(asked.get('code_challenge'));
    expect(sent.get('code')).toBe('the-code');
    expect(redact(verifier)).toBe('[redacted]');
  });

  it.each([
    ['access_denied', /consent was refused/i],
    ['invalid_scope', /vendor refused/i],
  ])('with the error %s is reported, and no token is requested', async (error, words) => {
    const { answer, heard, state } = await attempt();
    const refused = answer({ error, error_description: 'not now', state });
    await expect(refused).rejects.toMatchObject({
      code: 'LOGIN_DENIED',
      message: expect.stringMatching(words),
      seen: 'not now',
    });
    expect(heard).toEqual([]);
  });
});

describe('pasted input', () => {
  it("must be the browser's URL, with a code or an error", async () => {
    const { consent, back } = await attempt();
    for (const query of ['code=abc&state=x', 'error=access_denied']) {
      expect(consent.read(` ${back}?${query}\n`).href).toBe(`${back}?${query}`);
    }
    for (const other of [back, 'https://acme.example/?state=x', '', 'a-bare-code']) {
      expect(() => consent.read(other), other).toThrow(expect.objectContaining({ code: 'LOGIN_PASTED' }));
    }
  });

  it('can be just the code if PKCE ties it to this attempt', async () => {
    const { consent, back, state } = await attempt({ pkce: true });
    expect(consent.read('a-bare/code+1=').href).toBe(`${back}?code=a-bare%2Fcode%2B1%3D&state=${state}`);
    for (const other of ['abc', 'two words', back]) expect(() => consent.read(other), other).toThrow('not the URL');
  });
});

describe('the listener for the browser', () => {
  it('accepts one response at its path, and ignores responses to other attempts', async () => {
    const listener = await Listener.open('http://127.0.0.1:0/back');
    onTestFinished(() => listener.close());
    const redeemed: string[] = [];
    const waiting = listener.wait((address) => {
      const code = address.searchParams.get('code');
      if (code !== 'ours') return undefined;
      redeemed.push(code);
      return Promise.resolve('redeemed');
    }, new AbortController().signal);
    const status = async (path: string, method = 'GET') =>
      (await fetch(new URL(path, listener.redirectUri), { method })).status;
    expect(await status('/back?code=ours', 'POST')).toBe(404);
    expect(await status('/other?code=ours')).toBe(404);
    expect(await status('/back?code=theirs')).toBe(400);
    expect(redeemed).toEqual([]);
    expect(await status('/back?code=ours')).toBe(200);
    expect(await waiting).toBe('redeemed');
  });

  it("reports why a response couldn't be redeemed, and stops when its signal is aborted", async () => {
    const refused = await Listener.open('http://127.0.0.1:0/back');
    const ended = refused.wait(() => Promise.reject(new Error('refused')), new AbortController().signal);
    const outcome = expect(ended).rejects.toThrow('refused');
    expect((await fetch(`${refused.redirectUri}?code=x`)).status).toBe(400);
    await outcome;
    const stop = new AbortController();
    const stopped = (await Listener.open('http://127.0.0.1:0/back')).wait(() => undefined, stop.signal);
    stop.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
  });

  it.each([
    ['http://127.0.0.1:8123/back', true],
    ['http://localhost/back', true],
    ['http://[::1]:0/back', true],
    ['https://localhost/back', false],
    ['http://127.0.0.1.acme.example/back', false],
    ['http://acme.example/back', false],
  ])('can receive a redirect to %s: %s', (redirectUri, expected) => {
    expect(isLocal(redirectUri)).toBe(expected);
  });
});
