import { describe, expect, it } from 'vitest';
import { configSchema } from '../../src/config/docs/json-schema.ts';
import { addressFault } from '../../src/config/parse/oauth-description.ts';
import { redact } from '../../src/lib/redact.ts';
import type { Connector } from '../../src/sdk/connector.ts';
import { defineConnector } from '../../src/sdk/connector.ts';
import { option } from '../../src/sdk/option.ts';
import { load as loadText } from './fixtures.ts';

const nothing = { check: async () => 'fine', extract: () => Promise.reject(new Error('not here')) };

const shop = defineConnector({
  id: 'shop',
  title: 'Shop',
  summary: 'Reads a shop.',
  source: {
    host: option.text({ about: 'Its host.', default: 'https://shop.example' }),
    token: option.text({ about: 'A token instead of a login.', secret: true }),
  },
  query: {},
  oauth: ({ token }) =>
    token === undefined
      ? {
          grants: ['authorization_code', 'client_credentials', 'jwt_bearer'],
          authorize_url: '{host}/authorize',
          token_url: '{host}/token',
          scopes: ['orders', 'customers'],
          person_scopes: ['offline'],
          refresh: 'rotating',
        }
      : undefined,
  ...nothing,
});

const plain = defineConnector({
  id: 'plain',
  title: 'Plain',
  summary: 'Has no login.',
  source: {},
  query: {},
  ...nothing,
});

const address = (name: string) => option.text({ about: 'An address.', default: `https://vendor.example/${name}` });

const vendor = defineConnector({
  id: 'vendor',
  title: 'Vendor',
  summary: 'Has every address and grant.',
  source: {
    token: address('token'),
    authorize: address('authorize'),
    refresh: address('refresh'),
    revoke: address('revoke'),
    device: address('device'),
    symmetric: option.boolean({ about: 'Signs with the secret.', default: false }),
    signed: option.boolean({ about: 'Identifies the app with its key.', default: false }),
  },
  query: {},
  oauth: ({ token, authorize, refresh, revoke, device, symmetric, signed }) => ({
    grants: ['authorization_code', 'client_credentials', 'jwt_bearer', 'password'],
    token_url: token,
    authorize_url: authorize,
    refresh_url: refresh,
    revoke_url: revoke,
    device: { url: device },
    refresh: 'static',
    ...(symmetric ? { assertion: { algorithm: 'HS256' as const } } : {}),
    ...(signed ? { client_authentication: 'private_key_jwt' as const } : {}),
  }),
  ...nothing,
});

const connectors = new Map([shop, plain, vendor].map((connector) => [connector.id, connector as unknown as Connector]));

interface Given {
  readonly sources: object;
  readonly top?: object;
  readonly env?: Record<string, string>;
}

/** Loads a config with these sources; JSON is valid YAML. */
function load({ sources, top = {}, env = {} }: Given) {
  const destinations = { main: { url: 'https://app.example.com/api/1.0', api_key: 'k'.repeat(40) } };
  const catalog = async () => ({
    ids: [...connectors.keys()],
    problems: [],
    load: async (id: string) => connectors.get(id),
    origin: () => 'sluice',
    file: () => undefined,
  });
  return loadText(JSON.stringify({ ...top, destinations, sources, jobs: {} }), { env, catalog });
}

const sourcesOf = (sources: object) => load({ sources });

describe("a source's login", () => {
  it("contains the connector's description with its options, the user's values, and a default grant", async () => {
    const { config, problems } = await sourcesOf({
      a: {
        connector: 'shop',
        host: 'https://mine.example',
        login: { client_id: 'me', client_secret: 's3cr3t-of-app' },
      },
    });
    expect(problems).toEqual([]);
    expect(config?.sources.get('a')?.login).toMatchObject({
      name: 'a',
      grant: 'authorization_code',
      clientId: 'me',
      scopes: ['orders', 'customers', 'offline'],
      description: { token_url: 'https://mine.example/token' },
    });
    expect(redact('s3cr3t-of-app')).toBe('[redacted]');
  });

  it("requires the user's values for a login with consent, but not for an app's own login", async () => {
    const login = { client_id: 'me', client_secret: 's', grant: 'client_credentials' };
    const { config } = await sourcesOf({ a: { connector: 'shop', login } });
    expect(config?.sources.get('a')?.login?.scopes).toEqual(['orders', 'customers']);
  });

  it('keeps an empty list of scopes', async () => {
    const login = { client_id: 'me', client_secret: 's', scopes: [] };
    const { config } = await sourcesOf({ a: { connector: 'shop', login } });
    expect(config?.sources.get('a')?.login?.scopes).toEqual([]);
  });

  it('uses the jwt_bearer grant if an account file is set', async () => {
    const { config } = await sourcesOf({ a: { connector: 'shop', login: { account_file: 'key.json' } } });
    expect(config?.sources.get('a')?.login?.grant).toBe('jwt_bearer');
  });

  it.each([
    ['client_credentials', ['client_id', 'private_key']],
    ['authorization_code', ['client_id', 'private_key']],
    ['password', ['client_id', 'private_key', 'username', 'password']],
    ['jwt_bearer', ['client_id', 'private_key']],
  ])('requires the key instead of a secret if the app identifies itself with it: %s', async (grant, names) => {
    const { problems } = await sourcesOf({ a: { connector: 'vendor', signed: true, login: { grant } } });
    expect(problems.map(({ message }) => /"(\w+)" is missing/.exec(message)?.[1])).toEqual(names);
    const login = { grant, client_id: 'me', private_key: 'key of the app', username: 'u', password: 'p' };
    expect((await sourcesOf({ a: { connector: 'vendor', signed: true, login } })).problems).toEqual([]);
  });

  it('is reported as missing if the connector requires one', async () => {
    const { problems } = await sourcesOf({ a: { connector: 'shop' } });
    expect(problems.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'CONFIG_MISSING_OPTION "login" is missing: Shop requires a login',
    ]);
  });

  it("is rejected if other options contain the credentials, or if the connector doesn't support logins", async () => {
    const login = { client_id: 'me' };
    const { problems } = await sourcesOf({
      a: { connector: 'shop', token: 'given-token', login },
      b: { connector: 'plain', login },
    });
    expect(problems.map(({ code }) => code)).toEqual(['CONFIG_LOGIN', 'CONFIG_UNKNOWN_OPTION']);
  });

  it('is rejected if its grant is unsupported or incomplete, or if a URL would reveal secrets', async () => {
    const { problems } = await sourcesOf({
      a: { connector: 'shop', login: { grant: 'client_credentials' } },
      b: { connector: 'shop', login: { grant: 'password', client_id: 'me' } },
      c: { connector: 'shop', host: 'http://mine.example', login: { client_id: 'me' } },
    });
    const said = problems.map(({ message }) => message).join('\n');
    expect(said).toContain('"client_id" is missing from "login": the client_credentials grant requires it');
    expect(said).toContain('"client_secret" is missing from "login"');
    expect(said).toContain('Shop does not support the "password" grant');
    expect(said).toContain('http://mine.example/token would send secrets unencrypted');
  });

  it('can be shared by name, and then requests the scopes of all its sources', async () => {
    const login = { name: 'acme', client_id: 'me' };
    const { config, problems } = await sourcesOf({
      a: { connector: 'shop', login },
      b: { connector: 'shop', login: { ...login, scopes: ['stock'] } },
    });
    expect(problems).toEqual([]);
    expect(config?.sources.get('a')?.login?.scopes).toEqual(['orders', 'customers', 'offline', 'stock']);
  });

  it.each<[string, object, object]>([
    ['app', { client_id: 'you' }, {}],
    ['user', { username: 'bob' }, {}],
    ['subject', { subject: 'bob' }, {}],
    ['account file', { account_file: 'bob.json' }, {}],
    ['grant', { grant: 'client_credentials', client_secret: 'secret' }, {}],
    ['vendor', {}, { token: 'https://other.example/token' }],
  ])("can't be shared by sources with another %s", async (_, other, options) => {
    const login = { name: 'acme', grant: 'password', client_id: 'me', username: 'ada', password: 'p4ss' };
    const { config, problems } = await sourcesOf({
      a: { connector: 'vendor', login },
      b: { connector: 'vendor', login: { ...login, ...other }, ...options },
      c: { connector: 'vendor', login },
    });
    expect(problems.map(({ message }) => message)).toEqual([
      'The a and b sources share a login name, but log in as different users',
    ]);
    expect([...config!.sources.keys()]).toEqual(['a', 'c']);
  });

  it.each(['token', 'authorize', 'refresh', 'revoke', 'device'])('rejects an unencrypted URL for: %s', async (at) => {
    const login = { client_id: 'me' };
    const { problems } = await sourcesOf({ a: { connector: 'vendor', [at]: 'http://vendor.example/x', login } });
    expect(problems.map(({ message }) => message)).toEqual(['http://vendor.example/x would send secrets unencrypted']);
  });

  it.each<[string, string, object]>([
    ['password', 'client_id, username, password', { client_id: 'me', username: 'ada', password: 'p4ss' }],
    ['jwt_bearer', 'client_id, private_key', { client_id: 'me', private_key: 'PEM of a key' }],
    ['client_credentials', 'client_id, client_secret', { client_id: 'me', client_secret: 's3cr3t' }],
    ['authorization_code', 'client_id', { client_id: 'me' }],
  ])('with the grant %s requires %s', async (grant, names, whole) => {
    const messages = async (login: object) =>
      (await sourcesOf({ a: { connector: 'vendor', login: { grant, ...login } } })).problems.map(
        ({ message }) => message,
      );
    expect(await messages(whole)).toEqual([]);
    const missing = (name: string) => `"${name}" is missing from "login": the ${grant} grant requires it`;
    expect(await messages({})).toEqual(names.split(', ').map(missing));
  });

  it('has the grant that its options imply, and can be signed with a secret if the connector supports it', async () => {
    const grantOf = async (login: object, more: object = {}) => {
      const { config, problems } = await sourcesOf({ a: { connector: 'vendor', ...more, login } });
      return config?.sources.get('a')?.login?.grant ?? problems.map(({ message }) => message);
    };
    expect(await grantOf({ client_id: 'me', username: 'ada', password: 'p4ss' })).toBe('password');
    expect(await grantOf({ client_id: 'me', private_key: 'PEM of a key' })).toBe('jwt_bearer');
    const symmetric = { symmetric: true };
    expect(await grantOf({ grant: 'jwt_bearer', client_id: 'me', client_secret: 's3cr3t' }, symmetric)).toBe(
      'jwt_bearer',
    );
    expect(await grantOf({ grant: 'jwt_bearer', client_id: 'me', private_key: 'PEM' }, symmetric)).toEqual([
      '"client_secret" is missing from "login": the jwt_bearer grant requires it',
    ]);
  });

  it('appears in the editor schema only if the connector supports it', () => {
    const some = ['shop', 'plain'].map((id) => connectors.get(id)!);
    const text = JSON.stringify(configSchema({ connectors: some, formats: [], transforms: [] }));
    expect(text.match(/"login":/g)).toHaveLength(1);
  });
});

describe('a URL to which secrets are sent', () => {
  it.each<[string, string | undefined]>([
    ['https://vendor.example/token', undefined],
    ['http://localhost:8080/token', undefined],
    ['http://127.0.0.1/token', undefined],
    ['http://[::1]:8080/token', undefined],
    ['http://vendor.example/token', 'would send secrets unencrypted'],
    ['http://localhost.vendor.example/token', 'would send secrets unencrypted'],
    ['http://127.0.0.1.vendor.example/token', 'would send secrets unencrypted'],
    ['http://127.0.0.1@vendor.example/token', 'would send secrets unencrypted'],
    ['ftp://localhost/token', 'is not a URL'],
    ['vendor.example/token', 'is not a URL'],
  ])('must be encrypted or on this machine: %s', (url, fault) => {
    expect(addressFault(url)).toBe(fault === undefined ? undefined : `${url} ${fault}`);
  });
});

describe('the key for logins', () => {
  it("comes from the config, or else from SLUICE_KEY, and is rejected if it's too short", async () => {
    const own = await load({ sources: {}, top: { login_key: 'x'.repeat(32) }, env: { SLUICE_KEY: 'y'.repeat(32) } });
    expect(own.config?.sealKeys?.current).toBe('x'.repeat(32));
    const env = await load({ sources: {}, env: { SLUICE_KEY: 'y'.repeat(32) } });
    expect(env.config?.sealKeys?.current).toBe('y'.repeat(32));
    const short = await load({ sources: {}, top: { login_key: 'short-and-secret' } });
    expect(short.problems.map(({ message }) => message)).toEqual(['Invalid value for "login_key"']);
    expect(short.problems[0]?.seen).not.toContain('short');
  });
});
