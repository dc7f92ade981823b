import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Login } from '../../src/config/config.ts';
import { redact } from '../../src/lib/redact.ts';
import { authorize } from '../../src/oauth/authorize.ts';
import { Consent } from '../../src/oauth/consent.ts';
import { needsPerson, reportLogins } from '../../src/oauth/report.ts';
import type { OAuthDescription } from '../../src/sdk/oauth.ts';
import { folderForTest, openDesk, opens, personLogin, vendorForTest } from './rig.ts';
import { type Answer, type Heard, tokenAddress } from './token-address.ts';

const good: Answer = { body: { access_token: 'the-token', token_type: 'bearer', expires_in: 3600 } };

/** A login without a user, in a vendor's style. */
function loginOf(url: string, style: Partial<OAuthDescription>, more: Partial<Login> = {}): Login {
  const description: OAuthDescription = { grants: ['client_credentials'], token_url: url, refresh: 'none', ...style };
  const app = { clientId: 'the id', clientSecret: 'the+secret/', scopes: ['a', 'b'] };
  return personLogin({ description }, { grant: description.grants[0]!, ...app, ...more });
}

async function askFor(login: Login, folder?: string) {
  const desk = await openDesk({ login, ...(folder === undefined ? {} : { folder }) });
  return { desk, token: await desk.entry.tokenManager.token() };
}

describe('a token request', () => {
  it("is a form with the app's credentials in the body, unless the vendor requires something else", async () => {
    const { url, heard } = await tokenAddress(good);
    await askFor(loginOf(url, { token_parameters: { audience: 'all' } }));
    expect(heard[0]).toMatchObject({ method: 'POST', type: expect.stringContaining('x-www-form-urlencoded') });
    expect(Object.fromEntries(new URLSearchParams(heard[0]!.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'the id',
      client_secret: 'the+secret/',
      scope: 'a b',
      audience: 'all',
    });
  });

  it("can have the app's credentials in the Authorization header, encoded according to RFC 6749", async () => {
    const { url, heard } = await tokenAddress(good);
    await askFor(loginOf(url, { client_authentication: 'basic', scope_separator: ',' }));
    const pair = Buffer.from(heard[0]!.authorization!.replace('Basic ', ''), 'base64').toString();
    expect(pair).toBe('the+id:the%2Bsecret%2F');
    expect(Object.fromEntries(new URLSearchParams(heard[0]!.body))).toEqual({
      grant_type: 'client_credentials',
      scope: 'a,b',
    });
  });

  it('contains unencoded credentials if the vendor does not decode them', async () => {
    const { url, heard } = await tokenAddress(good);
    await askFor(loginOf(url, { client_authentication: 'basic_plain' }));
    const pair = Buffer.from(heard[0]!.authorization!.replace('Basic ', ''), 'base64').toString();
    expect(pair).toBe('the id:the+secret/');
    expect(heard[0]!.body).not.toContain('secret');
  });

  it('can be JSON, or a GET request with all parameters in the query', async () => {
    const json = await tokenAddress(good);
    await askFor(loginOf(json.url, { token_request: 'json' }));
    expect(json.heard[0]!.type).toBe('application/json');
    expect(JSON.parse(json.heard[0]!.body)).toMatchObject({ grant_type: 'client_credentials', client_id: 'the id' });
    const query = await tokenAddress(good);
    await askFor(loginOf(query.url, { token_method: 'GET' }));
    expect(query.heard[0]).toMatchObject({ method: 'GET', body: '', query: { client_secret: 'the+secret/' } });
  });

  it.each([408, 429, 500, 503])(
    "isn't treated as refused if the status is %i, whatever the body says",
    async (status) => {
      const headers = { 'content-type': 'application/json', 'retry-after': '90' };
      const { url } = await tokenAddress({ status, headers, body: { error: 'invalid_grant' } });
      await expect(askFor(loginOf(url, {}))).rejects.toMatchObject({
        code: 'LOGIN_UNREACHABLE',
        family: 'try_later',
        seen: `status ${status}`,
        retryAfterMs: 90_000,
      });
    },
  );

  it('uses the user name and password again after the refresh token has expired', async () => {
    const first = { body: { access_token: 'one', expires_in: 3600, refresh_token: 'r1' } };
    const ended = { status: 400, body: { error: 'invalid_grant' } };
    const { url, heard } = await tokenAddress(first, ended, { body: { access_token: 'two' } });
    const login = loginOf(url, { grants: ['password'], refresh: 'static' }, { username: 'me', password: 'p4ssword' });
    const { desk, token } = await askFor(login);
    await desk.entry.tokenManager.refused(token);
    expect((await desk.entry.tokenManager.token()).access_token).toBe('two');
    expect(heard.map(({ body }) => new URLSearchParams(body).get('grant_type'))).toEqual([
      'password',
      'refresh_token',
      'password',
    ]);
  });
});

describe("an app's own signature", () => {
  it.each(['RS256', 'RS384', 'PS256', 'ES256', 'ES384'] as const)(
    'is accepted by a certified server: %s',
    async (algorithm) => {
      const isCurve = algorithm.startsWith('ES');
      const { privateKey, publicKey } = isCurve
        ? generateKeyPairSync('ec', { namedCurve: algorithm === 'ES256' ? 'P-256' : 'P-384' })
        : generateKeyPairSync('rsa', { modulusLength: 2048 });
      const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig' };
      const signer = {
        client_id: 'signer',
        token_endpoint_auth_method: 'private_key_jwt' as const,
        token_endpoint_auth_signing_alg: algorithm,
        jwks: { keys: [jwk as never] },
      };
      const vendor = await vendorForTest({ signer });
      const style = {
        client_authentication: 'private_key_jwt' as const,
        assertion: { algorithm, audience: vendor.url },
      };
      const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
      const app = { clientId: 'signer', privateKey: key, keyId: 'k1', clientSecret: undefined, scopes: ['read'] };
      const { token } = await askFor(loginOf(`${vendor.url}/token`, style, app as Partial<Login>));
      expect(await opens(vendor, token.access_token)).toBe(true);
      const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
      const wrong = isCurve ? 'no key' : (other.export({ type: 'pkcs8', format: 'pem' }) as string);
      const refused = askFor(loginOf(`${vendor.url}/token`, style, { ...app, privateKey: wrong } as Partial<Login>));
      await expect(refused).rejects.toMatchObject({
        code: 'LOGIN_PRIVATE_KEY',
        allowed: expect.stringContaining(isCurve ? 'EC' : 'RSA'),
      });
    },
  );

  it("isn't shown if the server repeats it in its error", async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const { url, heard } = await tokenAddress((request: Heard) => ({
      status: 400,
      body: { error: 'invalid_client', error_description: new URLSearchParams(request.body).get('client_assertion') },
    }));
    const style = { client_authentication: 'private_key_jwt' as const, assertion: { algorithm: 'ES256' as const } };
    const asked = askFor(loginOf(url, style, { privateKey: key }));
    await expect(asked).rejects.toMatchObject({ code: 'LOGIN_CLIENT', seen: 'invalid_client: [redacted]' });
    expect(heard[0]!.body).not.toContain('client_secret');
  });
});

describe('a signed request', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const assertionOf = ({ body }: Heard) => new URLSearchParams(body).get('assertion')!;
  const part = (jwt: string, i: number) => JSON.parse(Buffer.from(jwt.split('.')[i]!, 'base64url').toString());

  it("contains issuer, audience, subject and scope, signed with the account file's key", async () => {
    const folder = await folderForTest();
    const account = { client_email: 'robot@acme.example', private_key: privateKey, private_key_id: 'k1' };
    await writeFile(join(folder, 'account.json'), JSON.stringify(account));
    const { url, heard } = await tokenAddress(good);
    const style = {
      grants: ['jwt_bearer'] as const,
      assertion: { algorithm: 'RS256' as const, audience: 'https://a' },
    };
    await askFor(
      loginOf(url, style, { clientId: '', accountFile: 'account.json', subject: 'me@acme.example' }),
      folder,
    );
    const jwt = assertionOf(heard[0]!);
    expect(part(jwt, 0)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'k1' });
    expect(part(jwt, 1)).toMatchObject({
      iss: account.client_email,
      aud: 'https://a',
      sub: 'me@acme.example',
      scope: 'a b',
    });
    const [head, claims, signature] = jwt.split('.');
    const bytes = Buffer.from(signature!, 'base64url');
    expect(verify('sha256', Buffer.from(`${head}.${claims}`), createPublicKey(publicKey), bytes)).toBe(true);
    expect(redact(`- ${privateKey} -`)).toBe('- [redacted] -');
  });

  it.each([
    [600, 600],
    [7200, 3600],
    [undefined, 3600],
  ])('is valid for at most an hour: a lifetime of %s gives %i seconds', async (lifetime_seconds, seconds) => {
    const { url, heard } = await tokenAddress(good);
    const assertion = { algorithm: 'HS256' as const, ...(lifetime_seconds === undefined ? {} : { lifetime_seconds }) };
    await askFor(loginOf(url, { grants: ['jwt_bearer'], assertion }));
    const { iat, exp } = part(assertionOf(heard[0]!), 1);
    expect(exp - iat).toBe(seconds);
  });

  it("that is refused isn't repeated if the clocks agree", async () => {
    const { url, heard } = await tokenAddress({ status: 400, body: { error: 'invalid_grant' } });
    const style = { grants: ['jwt_bearer'] as const, assertion: { algorithm: 'HS256' as const } };
    await expect(askFor(loginOf(url, style))).rejects.toMatchObject({ code: 'LOGIN_ENDED' });
    expect(heard).toHaveLength(1);
  });

  it("is signed with the vendor's time if the local clock is wrong", async () => {
    const ahead = new Date(Date.now() + 7_200_000);
    const refusal = { status: 400, body: { error: 'invalid_grant' }, headers: { date: ahead.toUTCString() } };
    const { url, heard } = await tokenAddress(refusal, good);
    const style = { grants: ['jwt_bearer'] as const, assertion: { algorithm: 'HS256' as const } };
    expect((await askFor(loginOf(url, style))).token.access_token).toBe('the-token');
    expect(heard[0]!.body).not.toContain('client_secret');
    const apart = part(assertionOf(heard[1]!), 1).iat - part(assertionOf(heard[0]!), 1).iat;
    expect(Math.abs(apart - 7200)).toBeLessThan(30);
  });

  it("isn't sent if the account file is invalid, and the error doesn't show the file's content", async () => {
    const folder = await folderForTest();
    await writeFile(join(folder, 'account.json'), '{"private_key": "half of a secr');
    const { url } = await tokenAddress(good);
    const style = { grants: ['jwt_bearer'] as const };
    const asked = askFor(loginOf(url, style, { accountFile: 'account.json' }), folder);
    await expect(asked).rejects.toMatchObject({
      code: 'LOGIN_ACCOUNT_FILE',
      message: expect.not.stringContaining('half'),
    });
  });
});

describe('a token response', () => {
  it.each<[string, Answer, Partial<OAuthDescription>]>([
    ['has no type and no lifetime', { body: { access_token: 'the-token' } }, {}],
    ['is a form', { body: 'access_token=the-token&expires_in=60', headers: { 'content-type': 'text/plain' } }, {}],
    ['has its lifetime as a string', { body: { access_token: 'the-token', expires_in: '60' } }, {}],
    ['has null as the refresh token', { body: { access_token: 'the-token', refresh_token: null } }, {}],
    ['lists its scopes', { body: { access_token: 'the-token', scope: ['a', 'b'] } }, {}],
    [
      'names its lifetime differently',
      { body: { access_token: 'the-token', expires: 60 } },
      { lifetime_field: 'expires' },
    ],
  ])('is understood if it %s', async (_, answer, style) => {
    const { url } = await tokenAddress(answer);
    expect((await askFor(loginOf(url, style))).token.access_token).toBe('the-token');
  });

  it('without a lifetime gives a token that never expires', async () => {
    const { url, heard } = await tokenAddress({ body: { access_token: 'the-token' } });
    const { desk } = await askFor(loginOf(url, {}));
    for (let i = 0; i < 5; i++) await desk.entry.tokenManager.token();
    expect(heard).toHaveLength(1);
  });

  it('gives the connector the fields that it requests, even after a restart', async () => {
    const { url } = await tokenAddress({
      body: { access_token: 't0ken', instance_url: 'https://eu1.acme', more: 'x' },
    });
    const login = loginOf(url, { keep: ['instance_url'] });
    const { desk, token } = await askFor(login);
    expect(token.kept).toEqual({ instance_url: 'https://eu1.acme' });
    const { token: again } = await askFor(login, desk.store.folder);
    expect(again.kept).toEqual({ instance_url: 'https://eu1.acme' });
  });

  it.each<[string, Answer, string]>([
    ['an object as its error', { status: 400, body: { error: { message: 'no', code: 190 } } }, 'LOGIN_REFUSED'],
    ['a token at another place', { body: { data: { accessToken: 'hidden-token' } } }, 'LOGIN_REFUSED'],
    ['a redirect', { status: 307, headers: { location: 'https://id.acme.example/token' }, body: '' }, 'LOGIN_REFUSED'],
    ['an error with status 200', { body: { error: 'invalid_client' } }, 'LOGIN_CLIENT'],
    ['a list', { body: [] as never }, 'LOGIN_UNREACHABLE'],
    ['nothing', { body: '' }, 'LOGIN_UNREACHABLE'],
  ])('with %s causes a problem with that error', async (_, answer, code) => {
    const { url } = await tokenAddress(answer);
    await expect(askFor(loginOf(url, {}))).rejects.toMatchObject({ code });
  });

  it('that is a redirect or has no token tells what to change', async () => {
    const redirect = { status: 307, headers: { location: 'https://id.acme.example/token' }, body: '' };
    const moved = await tokenAddress(redirect);
    await expect(askFor(loginOf(moved.url, {}))).rejects.toMatchObject({
      seen: 'status 307: redirected to https://id.acme.example/token',
      next: expect.stringContaining('token_url'),
    });
    const odd = await tokenAddress({ body: { data: { accessToken: 'hidden-token' }, expires: 5 } });
    await expect(askFor(loginOf(odd.url, {}))).rejects.toMatchObject({
      seen: 'status 200: no access_token, but these fields: data, expires',
      next: expect.stringContaining('login_call'),
    });
  });

  it("with the vendor's own error code for an ended grant ends the login", async () => {
    const { url } = await tokenAddress({ status: 400, body: { status: 'BAD_REFRESH_TOKEN', message: 'gone' } });
    const asked = askFor(loginOf(url, { ended_codes: ['BAD_REFRESH_TOKEN'] }));
    await expect(asked).rejects.toMatchObject({ code: 'LOGIN_ENDED', seen: 'BAD_REFRESH_TOKEN: gone' });
  });
});

describe("a user's login", () => {
  const state = (url: string) => new URL(url).searchParams.get('state')!;

  async function loggedIn(login: Login) {
    const desk = await openDesk({ login });
    const consent = await Consent.begin(login, login.redirectUri);
    const address = new URL(`${login.redirectUri}?code=the-code-of-consent&state=${state(consent.url)}`);
    const ask = () => consent.redeem(address, desk.entry.tokenClient);
    await authorize(desk.entry, { login, store: desk.store, ask });
    return desk;
  }

  const person = { grants: ['authorization_code'] as const, authorize_url: 'https://acme.example/authorize' };

  it('exchanges a short-lived token for a long-lived one, and warns a week before the long-lived one expires', async () => {
    const long = { body: { access_token: 'long', expires_in: 3 * 86_400 } };
    const { url, heard } = await tokenAddress({ body: { access_token: 'short', expires_in: 3600 } }, long);
    const parameters = { grant_type: 'fb_exchange_token' };
    const exchange = { parameters, token_parameter: 'fb_exchange_token' };
    const login = loginOf(url, { ...person, token_method: 'GET', exchange }, { name: 'ads' });
    const desk = await loggedIn(login);
    expect((await desk.entry.tokenManager.token()).access_token).toBe('long');
    expect(heard[1]!.query).toMatchObject({ ...parameters, fb_exchange_token: 'short', client_id: 'the id' });
    const source = { name: 'ads', login, options: {}, connector: {} as never };
    const now = Date.now();
    expect(await reportLogins([source], desk.store, now)).toMatchObject([{ state: 'ends soon' }]);
    expect(await reportLogins([source], desk.store, now + 4 * 86_400_000)).toMatchObject([{ state: 'needs a person' }]);
  });

  it("isn't the login of another app at the same vendor", async () => {
    const { url } = await tokenAddress(good);
    const login = loginOf(url, person);
    const { store } = await loggedIn(login);
    const sources = [login, { ...login, clientId: 'other' }].map((one) => ({
      name: 'ads',
      login: one,
      options: {},
      connector: {} as never,
    }));
    const [own, other] = await Promise.all(sources.map((source) => reportLogins([source], store, Date.now())));
    expect(own).toMatchObject([{ state: 'ends soon' }]);
    expect(other).toMatchObject([{ state: 'needs a person', scopes: [], message: expect.stringContaining('another') }]);
    expect([...own!, ...other!].map(needsPerson)).toEqual([true, true]);
  });

  it("reports that a user must log in again if the token has expired and can't be renewed", async () => {
    const { url } = await tokenAddress({ body: { access_token: 'one', expires_in: 3600 } });
    const desk = await loggedIn(loginOf(url, person));
    await desk.entry.tokenManager.refused(await desk.entry.tokenManager.token());
    await expect(desk.entry.tokenManager.token()).rejects.toMatchObject({ code: 'LOGIN_ENDED', family: 'login' });
  });

  it('tries the previous refresh token once, because some vendors still accept it', async () => {
    const answer = (n: number) => ({ body: { access_token: `a${n}`, refresh_token: `r${n}`, expires_in: 3600 } });
    const ended = { status: 400, body: { error: 'invalid_grant' } };
    const { url, heard } = await tokenAddress(answer(1), answer(2), ended, answer(3));
    const desk = await loggedIn(loginOf(url, { ...person, refresh: 'rotating' }));
    const { tokenManager } = desk.entry;
    await tokenManager.refused(await tokenManager.token());
    await tokenManager.refused(await tokenManager.token());
    expect((await tokenManager.token()).access_token).toBe('a3');
    const used = heard.slice(1).map(({ body }) => new URLSearchParams(body).get('refresh_token'));
    expect(used).toEqual(['r1', 'r2', 'r1']);
    expect(await desk.store.logins.find('acme')).toMatchObject({ state: 'good', asked_at: null });
  });

  it('uses PKCE only if the vendor supports it, and sends the exact redirect URL and a new state each time', async () => {
    const login = loginOf('https://acme.example/token', {
      ...person,
      pkce: true,
      authorize_parameters: { access_type: 'offline' },
    });
    const one = new URL((await Consent.begin(login, login.redirectUri)).url).searchParams;
    const two = new URL((await Consent.begin(login, login.redirectUri)).url).searchParams;
    expect(Object.fromEntries(one)).toMatchObject({
      response_type: 'code',
      client_id: 'the id',
      redirect_uri: login.redirectUri,
      scope: 'a b',
      access_type: 'offline',
      code_challenge_method: 'S256',
    });
    expect(one.get('state')).not.toBe(two.get('state'));
    expect(one.get('code_challenge')).not.toBe(two.get('code_challenge'));
    const plain = await Consent.begin(loginOf('https://acme.example/token', person), login.redirectUri);
    expect(plain.url).not.toContain('code_challenge');
    expect(() => plain.read('a-bare-code')).toThrow(expect.objectContaining({ code: 'LOGIN_PASTED' }));
  });
});
