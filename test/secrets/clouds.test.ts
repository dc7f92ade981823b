import { generateKeyPairSync } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { forgetSecrets, redact } from '../../src/lib/redact.ts';
import { folderWith } from '../config/fixtures.ts';
import { type Asked, busy, Double, loadPasswords, passwordsIn, type Reply, variable } from './double.ts';

afterEach(forgetSecrets);

const codesOf = (problems: readonly { code: string }[]) => problems.map(({ code }) => code);

describe('a secret in AWS Secrets Manager', () => {
  const arn = 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:shop-AbCdEf';
  const secrets: Record<string, object> = {
    'prod/shop': { SecretString: '{"user":"etl","password":"aws-p-1"}' },
    [arn]: { SecretString: 'aws-p-2' },
    binary: { SecretBinary: Buffer.from('aws-p-3').toString('base64') },
  };
  const error = (type: string): Reply => ({ status: 400, body: { __type: type, Message: `about ${type}` } });

  /** Accepts these key IDs and checks the rest of a signed request. */
  function answer({ body, headers }: Asked, keys: ReadonlySet<string>): Reply {
    const { authorization = '', 'x-amz-security-token': session = '' } = headers;
    const { SecretId: name } = JSON.parse(body);
    const region = name === arn ? 'eu-west-1' : 'eu-central-1';
    const [, id, scope] = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\d{8}\/([^,]+)/.exec(authorization) ?? [];
    if (
      headers['x-amz-target'] !== 'secretsmanager.GetSecretValue' ||
      scope !== `${region}/secretsmanager/aws4_request`
    )
      return error('InvalidSignatureException');
    // Only a temporary login has a session.
    if (!keys.has(id!) || id!.startsWith('ASIA') !== String(session).endsWith('-session'))
      return error('ExpiredTokenException');
    if (name === 'forbidden') return error('AccessDeniedException');
    return name in secrets ? { body: secrets[name] } : error('ResourceNotFoundException');
  }

  const fixed = { AWS_ACCESS_KEY_ID: 'AKIA', AWS_SECRET_ACCESS_KEY: 'aws-secret-key', AWS_REGION: 'eu-central-1' };

  it('is read by name or ARN with a signed request, even after throttling, and errors name the missing permission', async () => {
    const server = await Double.start((asked) => answer(asked, new Set(['AKIA'])));
    server.answers.push(error('ThrottlingException'), busy(503));
    const env = { ...fixed, AWS_ENDPOINT_URL_SECRETS_MANAGER: server.url };
    const written = ['prod/shop#password', arn, 'binary', 'prod/shop#user'].map((one) => variable(`aws-sm:${one}`));
    const loaded = await loadPasswords(written, { env });
    expect(loaded.problems).toEqual([]);
    expect(passwordsIn(loaded)).toEqual(['aws-p-1', 'aws-p-2', 'aws-p-3', 'etl']);
    expect(redact('aws-p-1 aws-p-2 aws-secret-key')).toBe('[redacted] [redacted] [redacted]');
    const wrong = ['nowhere', 'forbidden', 'prod/shop#x'].map((one) => variable(`aws-sm:${one}`));
    const { problems } = await loadPasswords(wrong, { env });
    expect(codesOf(problems)).toEqual(['CONFIG_SECRET_MISSING', 'CONFIG_SECRET_DENIED', 'CONFIG_SECRET_MISSING']);
    expect(problems[1]?.seen).toBe('status 400: AccessDeniedException: about AccessDeniedException');
    expect(codesOf((await loadPasswords([written[0]!], { env: {} })).problems)).toEqual(['CONFIG_SECRET_SETTINGS']);
  });

  it("is read with an EC2 instance's role, and with a new session if the old one has expired", async () => {
    let sessions = 0;
    const server = await Double.start((asked): Reply => {
      const { method, path, headers } = asked;
      if (path === '/') return answer(asked, new Set(['ASIA2']));
      if (path === '/latest/api/token') return method === 'PUT' ? { body: 'imds-session' } : { status: 405 };
      if (headers['x-aws-ec2-metadata-token'] !== 'imds-session') return { status: 401 };
      if (path.endsWith('security-credentials/')) return { body: 'sluice-role\n' };
      return { body: { AccessKeyId: `ASIA${++sessions}`, SecretAccessKey: 'imds-key', Token: 'role-session' } };
    });
    const env = {
      AWS_REGION: 'eu-central-1',
      AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: server.url,
    };
    const loaded = await loadPasswords([variable('aws-sm:prod/shop#password')], { env });
    expect(loaded.problems).toEqual([]);
    expect(passwordsIn(loaded)).toEqual(['aws-p-1']);
    expect(sessions).toBe(2);
    expect(redact('imds-session imds-key role-session')).toBe('[redacted] [redacted] [redacted]');
    const off = { ...env, AWS_EC2_METADATA_DISABLED: 'true' };
    const { problems } = await loadPasswords([variable('aws-sm:prod/shop')], { env: off });
    expect(codesOf(problems)).toEqual(['CONFIG_SECRET_SETTINGS']);
  });

  it("is read with a container's role or a web identity", async () => {
    const server = await Double.start((asked): Reply => {
      const { path, headers, body } = asked;
      if (path === '/role') {
        if (headers.authorization !== 'pod-token') return { status: 403 };
        return { body: { AccessKeyId: 'ASIA', SecretAccessKey: 'pod-key', Token: 'pod-session' } };
      }
      if (!body.startsWith('Action=')) return answer(asked, new Set(['ASIA', 'AKIA']));
      if (!body.includes('WebIdentityToken=cluster-token'))
        return { status: 400, body: '<Error><Code>AccessDenied</Code></Error>' };
      return {
        body: '<C><AccessKeyId>ASIA</AccessKeyId><SecretAccessKey>web-key</SecretAccessKey><SessionToken>web-session</SessionToken></C>',
      };
    });
    const folder = await folderWith({ cluster: 'cluster-token\n', pod: 'pod-token\n', other: 'no' });
    const around = { AWS_REGION: 'eu-central-1', AWS_ENDPOINT_URL: server.url };
    const web = (file: string) => ({
      ...around,
      AWS_ROLE_ARN: 'arn:r',
      AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, file),
    });
    const container = {
      ...around,
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${server.url}/role`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(folder, 'pod'),
    };
    for (const env of [web('cluster'), container]) {
      expect(passwordsIn(await loadPasswords([variable('aws-sm:prod/shop#password')], { env }))).toEqual(['aws-p-1']);
    }
    expect(redact('cluster-token web-key web-session')).toBe('[redacted] [redacted] [redacted]');
    expect(redact('pod-token pod-key pod-session')).toBe('[redacted] [redacted] [redacted]');
    // The first available login in AWS's order is used, and no other login is requested.
    const logins = () => [server.to(/role/).length, server.asked.filter(({ body }) => body.startsWith('A')).length];
    expect(logins()).toEqual([1, 1]);
    await loadPasswords([variable('aws-sm:prod/shop')], { env: { ...container, ...web('cluster') } });
    expect(logins()).toEqual([1, 2]);
    const both = { ...container, ...web('cluster'), ...fixed };
    expect(passwordsIn(await loadPasswords([variable('aws-sm:binary')], { env: both }))).toEqual(['aws-p-3']);
    expect(logins()).toEqual([1, 2]);
    const { problems } = await loadPasswords([variable('aws-sm:prod/shop')], { env: web('other') });
    expect(problems[0]).toMatchObject({ code: 'CONFIG_SECRET_DENIED', seen: 'status 400: AccessDenied' });
  });
});

describe('a secret in Google Secret Manager', () => {
  const versions: Record<string, string> = {
    'projects/acme/secrets/shop/versions/latest': 'gcp-p-1\n',
    'projects/acme/secrets/shop/versions/3': 'gcp-p-3',
  };

  function answer({ path, headers }: Asked, tokens: ReadonlySet<string>): Reply {
    if (!tokens.has((headers.authorization ?? '').replace('Bearer ', '')))
      return { status: 401, body: { error: { status: 'UNAUTHENTICATED' } } };
    const name = path.replace('/v1/', '').replace(':access', '');
    if (name.includes('forbidden'))
      return { status: 403, body: { error: { status: 'PERMISSION_DENIED', message: 'no' } } };
    const value = versions[name];
    if (value === undefined) return { status: 404, body: { error: { status: 'NOT_FOUND' } } };
    return { body: { payload: { data: Buffer.from(value).toString('base64') } } };
  }

  it("is read with a service account's key, even after throttling", async () => {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    const server = await Double.start((asked): Reply => {
      if (asked.path !== '/token') return answer(asked, new Set(['google-token']));
      return asked.body.includes('assertion=')
        ? { body: { access_token: 'google-token', expires_in: 3600 } }
        : { status: 400, body: { error: 'invalid_grant' } };
    });
    const account = {
      type: 'service_account',
      project_id: 'acme',
      client_email: 'a@b',
      private_key: privateKey,
      token_uri: `${server.url}/token`,
    };
    const folder = await folderWith({ 'key.json': JSON.stringify(account), 'user.json': '{"type":"authorized_user"}' });
    const top = `secrets: {gcp-sm: {endpoint: '${server.url}', account_file: '${folder}/key.json'}}`;
    const written = ['shop', 'shop/3', 'projects/acme/secrets/shop'].map((one) => variable(`gcp-sm:${one}`));
    const loaded = await loadPasswords(written, { top });
    expect(loaded.problems).toEqual([]);
    expect(passwordsIn(loaded)).toEqual(['gcp-p-1', 'gcp-p-3', 'gcp-p-1']);
    expect(server.to(/token/)).toHaveLength(1);
    expect(redact('gcp-p-3 google-token')).toBe('[redacted] [redacted]');
    const wrong = await loadPasswords(
      ['nowhere', 'forbidden'].map((one) => variable(`gcp-sm:${one}`)),
      { top },
    );
    expect(codesOf(wrong.problems)).toEqual(['CONFIG_SECRET_MISSING', 'CONFIG_SECRET_DENIED']);
    const user = top.replace('key.json', 'user.json');
    expect((await loadPasswords([written[0]!], { top: user })).problems[0]).toMatchObject({
      code: 'CONFIG_SECRET_SETTINGS',
      seen: `${folder}/user.json: type authorized_user`,
    });
  });

  it("is read with the machine's account, and with a new token if the old one has expired", async () => {
    let tokens = 0;
    const server = await Double.start((asked): Reply => {
      if (!asked.path.startsWith('/computeMetadata')) return answer(asked, new Set(['machine-2']));
      if (asked.headers['metadata-flavor'] !== 'Google') return { status: 403 };
      return asked.path.endsWith('project-id') ? { body: 'acme' } : { body: { access_token: `machine-${++tokens}` } };
    });
    server.answers.push({ body: 'acme' }, { body: { access_token: 'machine-1' } }, busy(429));
    tokens = 1;
    const top = `secrets: {gcp-sm: {endpoint: '${server.url}'}}`;
    const loaded = await loadPasswords([variable('gcp-sm:shop')], {
      top,
      env: { GCE_METADATA_HOST: server.url.replace('http://', '') },
    });
    expect(loaded.problems).toEqual([]);
    expect(passwordsIn(loaded)).toEqual(['gcp-p-1']);
    expect(tokens).toBe(2);
    expect(redact('machine-1 machine-2')).toBe('[redacted] [redacted]');
    server.answers.push({ status: 404, body: '<html>no such page</html>' });
    const unknown = await loadPasswords([variable('gcp-sm:shop')], {
      top,
      env: { GCE_METADATA_HOST: server.url.replace('http://', '') },
    });
    expect(unknown.problems).toMatchObject([
      { code: 'CONFIG_SECRET_SETTINGS', seen: 'status 404 for the project ID request', where: { source: 's0' } },
    ]);
    const nowhere = await loadPasswords([variable('gcp-sm:shop')], { top, env: { GCE_METADATA_HOST: '127.0.0.1:1' } });
    expect(codesOf(nowhere.problems)).toEqual(['CONFIG_SECRET_SETTINGS']);
  });
});

describe('a secret in Azure Key Vault', () => {
  function answer({ path, headers }: Asked, token: string): Reply {
    if (headers.authorization !== `Bearer ${token}`) return { status: 401, body: { error: { code: 'Unauthorized' } } };
    if (path === '/secrets/shop?api-version=7.4') return { body: { value: 'azure-p-1' } };
    if (path.startsWith('/secrets/forbidden'))
      return { status: 403, body: { error: { code: 'Forbidden', message: 'no get' } } };
    return { status: 404, body: { error: { code: 'SecretNotFound' } } };
  }

  it("is read with an app's credentials, even after throttling", async () => {
    const server = await Double.start((asked): Reply => {
      if (asked.path !== '/tenant/oauth2/v2.0/token') return answer(asked, 'app-token');
      const fields = new URLSearchParams(asked.body);
      const isRight =
        fields.get('client_secret') === 'app-secret' && fields.get('scope') === 'https://vault.azure.net/.default';
      return isRight
        ? { body: { access_token: 'app-token', token_type: 'Bearer' } }
        : { status: 401, body: { error: 'invalid_client' } };
    });
    const env = {
      AZURE_TENANT_ID: 'tenant',
      AZURE_CLIENT_ID: 'app',
      AZURE_CLIENT_SECRET: 'app-secret',
      AZURE_KEYVAULT_URL: `${server.url}/`,
      AZURE_AUTHORITY_HOST: server.url,
    };
    const written = ['shop', `${server.url}/secrets/shop`].map((one) => variable(`azure-kv:${one}`));
    const loaded = await loadPasswords(written, { env });
    expect(loaded.problems).toEqual([]);
    expect(passwordsIn(loaded)).toEqual(['azure-p-1', 'azure-p-1']);
    expect(redact('app-secret app-token azure-p-1')).toBe('[redacted] [redacted] [redacted]');
    const wrong = await loadPasswords(
      ['nowhere', 'forbidden'].map((one) => variable(`azure-kv:${one}`)),
      { env },
    );
    expect(codesOf(wrong.problems)).toEqual(['CONFIG_SECRET_MISSING', 'CONFIG_SECRET_DENIED']);
    const refused = await loadPasswords([written[0]!], { env: { ...env, AZURE_CLIENT_SECRET: 'other-secret' } });
    expect(codesOf(refused.problems)).toEqual(['CONFIG_SECRET_DENIED']);
    const incomplete = await loadPasswords([written[0]!], { env: { ...env, AZURE_TENANT_ID: undefined } });
    expect(codesOf(incomplete.problems)).toEqual(['CONFIG_SECRET_SETTINGS']);
  });

  it('is read with a managed identity, and with a new token if the old one has expired', async () => {
    let tokens = 0;
    const server = await Double.start((asked): Reply => {
      if (asked.path.startsWith('/secrets/')) return answer(asked, 'identity-2');
      const isRight = asked.headers.metadata === 'true' || asked.headers['x-identity-header'] === 'own-header';
      return isRight && asked.path.includes('resource=https')
        ? { body: { access_token: `identity-${++tokens}` } }
        : { status: 400 };
    });
    const machine = { AZURE_KEYVAULT_URL: server.url, AZURE_POD_IDENTITY_AUTHORITY_HOST: server.url };
    expect(passwordsIn(await loadPasswords([variable('azure-kv:shop')], { env: machine }))).toEqual(['azure-p-1']);
    expect(tokens).toBe(2);
    expect(redact('identity-1 identity-2')).toBe('[redacted] [redacted]');
    tokens = 0;
    const service = {
      AZURE_KEYVAULT_URL: server.url,
      IDENTITY_ENDPOINT: `${server.url}/msi`,
      IDENTITY_HEADER: 'own-header',
    };
    server.answers.push(busy(429));
    expect(passwordsIn(await loadPasswords([variable('azure-kv:shop')], { env: service }))).toEqual(['azure-p-1']);
    expect(redact('own-header')).toBe('[redacted]');
  });
});

describe('a secret in a sops file', () => {
  /**
   * The program may be missing on this machine, so a script takes its place and decrypts files that start with a mark.
   */
  async function withSops() {
    const folder = await folderWith({});
    const script = `#!/bin/sh
[ "$1 $2 $3" = "--decrypt --output-type json" ] || exit 64
echo "$4" >> '${folder}/calls'
read -r mark < "$4"
[ "$mark" = encrypted ] || { echo 'sops-p-1 is no key' >&2; exit 128; }
echo '{"database":{"users":["etl"],"password":"sops-p-1","pin":12345678901234567890}}'
`;
    await writeFile(join(folder, 'sops'), script);
    await chmod(join(folder, 'sops'), 0o755);
    return { env: { PATH: `${folder}:/usr/bin:/bin` }, calls: join(folder, 'calls') };
  }

  it('is read by its path in the file, which is decrypted only once', async () => {
    const { env, calls } = await withSops();
    const files = { 'prod.yaml': 'encrypted\n', 'plain.yaml': 'a: 1\n' };
    const written = ['prod.yaml#database.password', 'prod.yaml#database.users.0', 'prod.yaml#database.pin'];
    const loaded = await loadPasswords(
      written.map((one) => variable(`sops:${one}`)),
      { env, files },
    );
    expect(loaded.problems).toEqual([]);
    expect(passwordsIn(loaded)).toEqual(['sops-p-1', 'etl', '12345678901234567890']);
    const { readFile } = await import('node:fs/promises');
    expect((await readFile(calls, 'utf8')).trim().split('\n')).toHaveLength(1);
    const wrong = ['nowhere.yaml#a', 'plain.yaml#a', 'prod.yaml#database.x', 'prod.yaml#database'];
    const { problems } = await loadPasswords(
      wrong.map((one) => variable(`sops:${one}`)),
      { env, files },
    );
    expect(codesOf(problems)).toEqual([
      ...['CONFIG_SECRET_MISSING', 'CONFIG_SECRET_DENIED', 'CONFIG_SECRET_MISSING', 'CONFIG_SECRET_MISSING'],
    ]);
    expect(problems[1]?.seen).toBe('The command "sops" exited with code 128');
    expect(JSON.stringify(problems)).not.toContain('sops-p-1');
    const missing = await loadPasswords([variable('sops:prod.yaml#a')], { env: { PATH: '/nowhere' }, files });
    expect(missing.problems[0]).toMatchObject({
      code: 'CONFIG_SECRET_SETTINGS',
      message: 'The command "sops" was not found',
    });
  });
});
