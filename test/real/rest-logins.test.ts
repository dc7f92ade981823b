import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import rest from '../../connectors/simple_rest/index.ts';
import type { Login } from '../../src/config/config.ts';
import { batchText } from '../../src/sdk/index.ts';
import { contextOf } from '../connectors/harness.ts';
import { folderForTest, openDesk, personLogin } from '../oauth/rig.ts';
import { startAuthlib } from '../servers/authlib.ts';
import { describeWithWebServer } from '../servers/describe-web-servers.ts';
import type { WebServer } from '../servers/web-server.ts';

/** Installing the library takes minutes on first use. */
const firstUseMs = 10 * 60_000;
/** Has characters that a form encodes. */
const secret = 's:e/c+r%t ä&=-4711';
const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keys = pair();
const pem = (key: ReturnType<typeof pair>['privateKey']) => key.export({ type: 'pkcs8', format: 'pem' }) as string;
const privateKey = pem(keys.privateKey);
const user = { username: 'ann', password: 'pass of ann' };
const signed = { client_authentication: 'private_key_jwt', algorithm: 'ES256' };

describeWithWebServer('Authlib', 'OAuth logins at Authlib', () => {
  let server: WebServer;
  beforeAll(async () => {
    const publicKey = keys.publicKey.export({ type: 'spki', format: 'pem' }) as string;
    server = await startAuthlib({ secret, publicKey });
  }, firstUseMs);
  afterAll(() => server?.stop());

  async function read(auth: Record<string, unknown>, login: Partial<Login>) {
    const folder = await folderForTest();
    const source = { url: server.url, auth: { token_url: `${server.url}/token`, scopes: ['read'], ...auth } };
    const context = contextOf(rest, {
      source,
      query: { path: '/rows' },
      folder,
      scratch: await mkdtemp(join(folder, 's-')),
    });
    const description = rest.oauth!(context.source)!;
    const grant = description.grants[0]!;
    const whole = personLogin({ description }, { grant, clientSecret: undefined, ...login } as Partial<Login>);
    const desk = await openDesk({ login: whole, folder });
    const { batches } = await rest.extract({ ...context, login: desk.entry.tokenManager });
    const rows: (string | null)[][] = [];
    for await (const batch of batches) rows.push(...batchText(batch));
    return rows;
  }

  it.each<[string, Record<string, unknown>, Partial<Login>]>([
    ['a secret in the body', { kind: 'client_credentials' }, { clientId: 'post', clientSecret: secret }],
    [
      'an unencoded secret in a header',
      { kind: 'client_credentials', client_authentication: 'basic_plain' },
      { clientId: 'basic', clientSecret: secret },
    ],
    ["the app's signature", { kind: 'client_credentials', ...signed }, { clientId: 'signer', privateKey }],
    ['a password', { kind: 'password' }, { clientId: 'post', clientSecret: secret, ...user }],
    [
      "a password and the app's signature",
      { kind: 'password', ...signed },
      { clientId: 'signer', privateKey, ...user },
    ],
    [
      'a signed assertion',
      { kind: 'jwt_bearer', algorithm: 'ES256' },
      { clientId: 'post', privateKey, subject: 'ann' },
    ],
  ])('rows are read with %s', async (_, auth, login) => {
    expect(await read(auth, login)).toEqual([['1'], ['2']]);
  });

  it('an encoded secret is refused, because Authlib does not decode it', async () => {
    const auth = { kind: 'client_credentials', client_authentication: 'basic' };
    const asked = read(auth, { clientId: 'basic', clientSecret: secret });
    await expect(asked).rejects.toMatchObject({
      code: 'LOGIN_CLIENT',
      seen: expect.stringContaining('invalid_client'),
    });
  });

  it('the signature of another key is refused', async () => {
    const other = { clientId: 'signer', privateKey: pem(pair().privateKey) };
    await expect(read({ kind: 'client_credentials', ...signed }, other)).rejects.toMatchObject({
      code: 'LOGIN_CLIENT',
    });
  });
});
