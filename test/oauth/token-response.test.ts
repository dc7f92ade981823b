import { describe, expect, it } from 'vitest';
import type { Login } from '../../src/config/config.ts';
import { identityOf } from '../../src/oauth/identity.ts';
import { readTokenResponse } from '../../src/oauth/token-response.ts';
import type { OAuthDescription } from '../../src/sdk/oauth.ts';

const token_url = 'https://acme.example/token';
const description: OAuthDescription = { grants: ['password'], token_url, refresh: 'static' };

const read = (answer: object, more: Partial<OAuthDescription> = {}) =>
  readTokenResponse({ access_token: 'the-token', ...answer }, { ...description, ...more }, 7)!;

describe('a token response', () => {
  it.each<[string, object, Partial<OAuthDescription>, number | undefined]>([
    ['a number', { expires_in: 60 }, {}, 60_000],
    ['a text', { expires_in: '60.5' }, {}, 60_500],
    ['zero', { expires_in: 0 }, { lifetime_seconds: 5 }, 5000],
    ['in a field of its own', { expires: 60, expires_in: 5 }, { lifetime_field: 'expires' }, 60_000],
    ['absent', {}, { lifetime_seconds: 5 }, 5000],
    ['negative', { expires_in: -1 }, { lifetime_seconds: 5 }, 5000],
    ['no number', { expires_in: 'soon' }, { lifetime_seconds: 5 }, 5000],
    ['unlimited', {}, {}, undefined],
  ])('has the lifetime that the vendor reports: %s', (_, answer, more, lifetimeMs) => {
    expect(read(answer, more)).toMatchObject({ accessToken: 'the-token', askedAt: 7, lifetimeMs });
  });

  it('is read as scopes separated by spaces', () => {
    const scopes = [['a', 'b'], 'a b', 'a,b', '', 5].map((scope) => read({ scope }).scopes);
    expect(scopes).toEqual(['a b', 'a b', 'a b', undefined, undefined]);
  });

  it('has a refresh token only if the field is a nonempty string', () => {
    const tokens = ['r1', '', null, 5].map((refresh_token) => read({ refresh_token }).refreshToken);
    expect(tokens).toEqual(['r1', undefined, undefined, undefined]);
  });

  it("names its owner in a configured field, or in the ID token's email address, name or subject", () => {
    const whoIn = (claims: unknown) =>
      read({ id_token: `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.y`, user: 12 }).who;
    expect(whoIn({ email: 'e', preferred_username: 'n', sub: 's' })).toBe('e');
    expect(whoIn({ preferred_username: 'n', sub: 's' })).toBe('n');
    expect(whoIn({ sub: 's' })).toBe('s');
    expect([whoIn({}), whoIn(null), read({ id_token: 'no token' }).who]).toEqual([undefined, undefined, undefined]);
    expect(read({ user: 12, id_token: 'x' }, { who_field: 'user' }).who).toBe('12');
  });

  it('keeps the fields that the connector requests, and no others', () => {
    const { kept } = read({ a: 'x', b: 2, c: null, d: 'y' }, { keep: ['a', 'b', 'c', 'e'] });
    expect(kept).toEqual({ a: 'x', b: '2' });
    expect(readTokenResponse({ access_token: '' }, description, 7)).toBeUndefined();
  });
});

describe('the identity of stored tokens', () => {
  const login = { description, grant: 'password', clientId: 'app', username: 'ada', name: 'acme' } as Login;
  const { username: _, ...unnamed } = login;
  const elsewhere = { ...description, token_url: 'https://other.example/token' };

  it.each<[string, Partial<Login>]>([
    ['vendor', { description: elsewhere }],
    ['grant', { grant: 'client_credentials' }],
    ['app', { clientId: 'other' }],
    ['user', { username: 'bob' }],
    ['account file', { accountFile: 'bob.json' }],
    ['subject', { subject: 'bob' }],
  ])('differs for another %s', (_what, more) => {
    expect(identityOf({ ...login, ...more })).not.toBe(identityOf(login));
    expect(identityOf({ ...unnamed, ...more } as Login)).not.toBe(identityOf(unnamed as Login));
  });

  it("doesn't depend on the login's name, secret or scopes", () => {
    expect(identityOf({ ...login, name: 'b', clientSecret: 's', scopes: ['x'] })).toBe(identityOf(login));
  });
});
