import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { S3Client } from '../../src/state/blobs/s3-client.ts';
import { folderWith } from '../config/fixtures.ts';
import { describeWithWebServer } from '../servers/describe-web-servers.ts';
import { startMoto } from '../servers/moto.ts';
import type { WebServer } from '../servers/web-server.ts';

/** Installing the server takes minutes on first use. */
const firstUseMs = 10 * 60_000;
const role = 'sluice';
const arn = `arn:aws:iam::123456789012:role/${role}`;

describeWithWebServer('moto', 'a bucket that a role may use', () => {
  let server: WebServer;
  beforeAll(async () => {
    server = await startMoto();
  }, firstUseMs);
  afterAll(() => server?.stop());
  afterEach(() => vi.unstubAllEnvs());

  /** Makes a bucket, and a role that may do this with it. */
  async function newBucket(actions: readonly string[]): Promise<S3Client> {
    await ask('/moto-api/reset', '');
    await ask('/moto-api/reset-auth', '1000');
    await fetch(`${server.url}/rows`, { method: 'PUT' });
    await ask('/', form({ Action: 'CreateRole', RoleName: role, AssumeRolePolicyDocument: '{}' }), 'iam');
    const Statement = [{ Effect: 'Allow', Action: actions, Resource: '*' }];
    const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
    await ask('/', form({ Action: 'PutRolePolicy', RoleName: role, PolicyName: 'own', PolicyDocument }), 'iam');
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
    const token = join(await folderWith({}), 'token');
    await writeFile(token, 'a-token-of-the-cluster');
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', token);
    vi.stubEnv('AWS_ROLE_ARN', arn);
    vi.stubEnv('AWS_ENDPOINT_URL_STS', server.url);
    const bucket = { bucket: 'rows', prefix: '', endpoint: server.url, region: 'us-east-1', isPathStyle: true };
    const client = new S3Client(bucket);
    onTestFinished(() => client.close());
    // Moto doesn't recognize unsigned requests to the token service once it verifies requests.
    expect(await client.has('nothing')).toBe(false);
    await ask('/moto-api/reset-auth', '0');
    return client;
  }

  async function ask(path: string, body: string, service = 'sts'): Promise<void> {
    const authorization = `AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/${service}/aws4_request, SignedHeaders=host, Signature=a`;
    const type = body.includes('=') ? 'application/x-www-form-urlencoded' : 'text/plain';
    const headers = { authorization, 'content-type': type };
    const response = await fetch(`${server.url}${path}`, { method: 'POST', headers, body });
    expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
  }
  const form = (fields: Record<string, string>): string =>
    new URLSearchParams({ ...fields, Version: '2010-05-08' }).toString();

  const text = 'id,name\n1,Zoë\n';
  const body = {
    bytes: Buffer.byteLength(text),
    sha256: createHash('sha256').update(text).digest('hex'),
    pieces: async function* () {
      yield Buffer.from(text);
    },
  };

  // No character of a name is one that moto encodes in another way; s3.test.ts has these.
  it('is written, listed, read and emptied with the temporary credentials of a web identity', async () => {
    const client = await newBucket(['s3:*']);
    await client.put('a/1.csv', body);
    expect(await Array.fromAsync(client.list('a'))).toEqual(['a/1.csv']);
    expect(Buffer.concat(await Array.fromAsync(client.get('a/1.csv'))).toString()).toBe(text);
    await client.delete('a/1.csv');
    expect(await client.has('a/1.csv')).toBe(false);
  });

  it('refuses what the role may not do', async () => {
    const client = await newBucket(['s3:GetObject', 's3:ListBucket']);
    await expect(client.put('a', body)).rejects.toMatchObject({
      code: 'PAYLOADS_REFUSED',
      seen: expect.stringContaining('AccessDenied'),
    });
  });
});
