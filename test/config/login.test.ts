import { describe, expect, it } from 'vitest';
import { configSchema } from '../../src/config/docs/json-schema.ts';
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

const connectors = new Map([shop, plain].map((connector) => [connector.id, connector as unknown as Connector]));

interface Given {
  readonly sources: object;
  readonly top?: object;
  readonly env?: Record<string, string>;
}

/** Loads a config with these sources; JSON is YAML. */
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
  it("contains the description with its options, the user's values, and a default grant", async () => {
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

  it("requires the user's values for a login with consent, and not for an app's own login", async () => {
    const login = { client_id: 'me', client_secret: 's', grant: 'client_credentials' };
    const { config } = await sourcesOf({ a: { connector: 'shop', login } });
    expect(config?.sources.get('a')?.login?.scopes).toEqual(['orders', 'customers']);
  });

  it('keeps an empty list of scopes', async () => {
    const login = { client_id: 'me', client_secret: 's', scopes: [] };
    const { config } = await sourcesOf({ a: { connector: 'shop', login } });
    expect(config?.sources.get('a')?.login?.scopes).toEqual([]);
  });

  it('is signed if an account file is set', async () => {
    const { config } = await sourcesOf({ a: { connector: 'shop', login: { account_file: 'key.json' } } });
    expect(config?.sources.get('a')?.login?.grant).toBe('jwt_bearer');
  });

  it("is required if the connector has one and the source doesn't set it", async () => {
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

  it('reports missing options of its grant, an unsupported grant, and a URL that would reveal secrets', async () => {
    const { problems } = await sourcesOf({
      a: { connector: 'shop', login: { grant: 'client_credentials' } },
      b: { connector: 'shop', login: { grant: 'password', client_id: 'me' } },
      c: { connector: 'shop', host: 'http://mine.example', login: { client_id: 'me' } },
    });
    const said = problems.map(({ message }) => message).join('\n');
    expect(said).toContain('"client_id" is missing from "login": the grant client_credentials needs it');
    expect(said).toContain('"client_secret" is missing from "login"');
    expect(said).toContain('Shop does not support the grant "password"');
    expect(said).toContain('http://mine.example/token would send secrets unencrypted');
  });

  it('may be shared by name; then it requests the scopes of all sources', async () => {
    const login = { name: 'acme', client_id: 'me' };
    const { config, problems } = await sourcesOf({
      a: { connector: 'shop', login },
      b: { connector: 'shop', login: { ...login, scopes: ['stock'] } },
    });
    expect(problems).toEqual([]);
    expect(config?.sources.get('a')?.login?.scopes).toEqual(['orders', 'customers', 'offline', 'stock']);
  });

  it("can't be shared by sources with different apps", async () => {
    const { config, problems } = await sourcesOf({
      a: { connector: 'shop', login: { name: 'acme', client_id: 'me' } },
      b: { connector: 'shop', login: { name: 'acme', client_id: 'you' } },
    });
    expect(problems.map(({ message }) => message)).toEqual(['The sources a and b use one login for different users']);
    expect([...config!.sources.keys()]).toEqual(['a']);
  });

  it('is in the schema for editors only if the connector supports it', () => {
    const text = JSON.stringify(configSchema({ connectors: [...connectors.values()], formats: [], transforms: [] }));
    expect(text.match(/"login":/g)).toHaveLength(1);
  });
});

describe('the key for logins', () => {
  it("is the config's, otherwise SLUICE_KEY; a short one is rejected", async () => {
    const own = await load({ sources: {}, top: { login_key: 'x'.repeat(32) }, env: { SLUICE_KEY: 'y'.repeat(32) } });
    expect(own.config?.sealKeys?.current).toBe('x'.repeat(32));
    const env = await load({ sources: {}, env: { SLUICE_KEY: 'y'.repeat(32) } });
    expect(env.config?.sealKeys?.current).toBe('y'.repeat(32));
    const short = await load({ sources: {}, top: { login_key: 'short-and-secret' } });
    expect(short.problems.map(({ message }) => message)).toEqual(['Invalid value for "login_key"']);
    expect(short.problems[0]?.seen).not.toContain('short');
  });
});
