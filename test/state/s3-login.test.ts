import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { forgetSecrets, redact } from '../../src/lib/redact.ts';
import { S3Client } from '../../src/state/blobs/s3-client.ts';
import { S3Login } from '../../src/state/blobs/s3-login.ts';
import type { PayloadsBucket } from '../../src/state/engine/state-database.ts';
import { folderWith } from '../config/fixtures.ts';
import { until } from '../journey/process.ts';
import { type Asked, Double, type Reply } from '../secrets/double.ts';

const minuteMs = 60_000;

beforeEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  forgetSecrets();
});

/** AWS's token service, and a bucket that accepts only the newest of its credentials. */
class Cloud {
  sessions = 0;
  isRefusing = false;
  /** How long its credentials are valid. */
  validMs = 60 * minuteMs;
  /** The first credentials that the bucket accepts. */
  firstValid = 1;
  readonly now = Date.now();
  server!: Double;

  static async start(): Promise<Cloud> {
    const cloud = new Cloud();
    cloud.server = await Double.start((asked) => (asked.path === '/' ? cloud.#login(asked) : cloud.#store(asked)));
    const file = join(await folderWith({}), 'token');
    await writeFile(file, 'cluster-token');
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', file);
    vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::123456789012:role/sluice');
    vi.stubEnv('AWS_ENDPOINT_URL_STS', cloud.server.url);
    return cloud;
  }

  get bucket(): PayloadsBucket {
    return { bucket: 'rows', prefix: '', endpoint: this.server.url, region: 'eu-central-1', isPathStyle: true };
  }

  #login({ body }: Asked): Reply {
    if (this.isRefusing || !body.includes('WebIdentityToken=cluster-token')) return { status: 403, body: '<Error/>' };
    const until = new Date(this.now + this.validMs).toISOString();
    const n = ++this.sessions;
    const fields = `<SecretAccessKey>role-secret${n}</SecretAccessKey><SessionToken>role-session${n}</SessionToken>`;
    const id = `<AccessKeyId>ASIA${n}</AccessKeyId>`;
    return { body: `<Credentials>${id}${fields}<Expiration>${until}</Expiration></Credentials>` };
  }

  #store({ headers }: Asked): Reply {
    const id = /Credential=ASIA(\d+)/.exec(headers.authorization ?? '')?.[1];
    const isKnown = headers['x-amz-security-token'] === `role-session${id}` && Number(id) >= this.firstValid;
    return isKnown ? { body: '' } : { status: 400, body: '<Error><Code>ExpiredToken</Code></Error>' };
  }
}

async function put(bucket: PayloadsBucket): Promise<void> {
  const client = new S3Client(bucket);
  onTestFinished(() => client.close());
  const sha256 = createHash('sha256').update('rows').digest('hex');
  const body = {
    bytes: 4,
    sha256,
    pieces: async function* () {
      yield Buffer.from('rows');
    },
  };
  await client.put('a', body);
}

async function loginTo(bucket: PayloadsBucket): Promise<S3Login> {
  const login = new S3Login(bucket);
  onTestFinished(() => login.close());
  return login;
}

describe('a bucket without a key in the config', () => {
  it("is used with the role of the process's web identity, which is kept secret", async () => {
    const cloud = await Cloud.start();
    await put(cloud.bucket);
    expect(cloud.server.to(/rows\/a/)).toHaveLength(1);
    expect(redact('cluster-token role-secret1 role-session1')).toBe('[redacted] [redacted] [redacted]');
  });

  it("isn't kept secret for good: only its last credentials are", async () => {
    const cloud = await Cloud.start();
    const login = await loginTo(cloud.bucket);
    for (let n = 1; n <= 6; n++) login.forget(await login.get(cloud.now), 'ExpiredToken');
    expect(cloud.sessions).toBe(6);
    expect(redact('role-secret1 role-session2')).toBe('role-secret1 role-session2');
    expect(redact('cluster-token role-secret6 role-session5')).toBe('[redacted] [redacted] [redacted]');
  });

  it('is used with new credentials if the server says that the former ones have expired', async () => {
    const cloud = await Cloud.start();
    cloud.firstValid = 2;
    await put(cloud.bucket);
    expect(cloud.sessions).toBe(2);
    expect(cloud.server.to(/rows\/a/)).toHaveLength(2);
  });

  it('is reported as refused if new credentials are refused too', async () => {
    const cloud = await Cloud.start();
    cloud.firstValid = 3;
    await expect(put(cloud.bucket)).rejects.toMatchObject({ code: 'PAYLOADS_REFUSED' });
    expect(cloud.sessions).toBe(2);
  });

  it('gets new credentials before the former ones expire, once for all requests', async () => {
    const cloud = await Cloud.start();
    const login = await loginTo(cloud.bucket);
    const idAt = async (minutes: number) => (await login.get(cloud.now + minutes * minuteMs)).accessKeyId;
    expect(await Promise.all([idAt(0), idAt(0), idAt(54)])).toEqual(['ASIA1', 'ASIA1', 'ASIA1']);
    cloud.validMs = 120 * minuteMs;
    await Promise.all([idAt(56), idAt(56)]);
    await until('the new credentials', async () => (await idAt(56)) === 'ASIA2');
    expect(await idAt(100)).toBe('ASIA2');
    expect(cloud.sessions).toBe(2);
  });

  it('is used with the former credentials until they expire if there are no new ones', async () => {
    const cloud = await Cloud.start();
    const login = await loginTo(cloud.bucket);
    const idAt = async (minutes: number) => (await login.get(cloud.now + minutes * minuteMs)).accessKeyId;
    expect(await idAt(0)).toBe('ASIA1');
    cloud.isRefusing = true;
    for (const [minutes, requests] of [
      [56, 2],
      [56.1, 2],
      [59, 3],
      [59.9, 4],
    ] as const) {
      expect(await idAt(minutes)).toBe('ASIA1');
      // Not one request per request to the bucket.
      await until('the renewal', async () => cloud.server.to(/^\/$/).length === requests);
    }
    // Less than the usual pause after the last attempt.
    await expect(idAt(60.1)).rejects.toMatchObject({ code: 'PAYLOADS_REFUSED' });
    await expect(idAt(61)).rejects.toMatchObject({
      code: 'PAYLOADS_REFUSED',
      next: expect.stringContaining('AWS_ROLE_ARN'),
    });
    cloud.isRefusing = false;
    cloud.validMs = 120 * minuteMs;
    expect(await idAt(61)).toBe('ASIA2');
  });

  it("isn't delayed by a token service that doesn't answer while the former credentials are valid", async () => {
    const cloud = await Cloud.start();
    const login = await loginTo(cloud.bucket);
    await login.get(cloud.now);
    let attempts = 0;
    const silent = createServer((socket) => {
      attempts++;
      socket.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    onTestFinished(() => void silent.close());
    vi.stubEnv('AWS_ENDPOINT_URL_STS', `http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    expect(await login.get(cloud.now + 56 * minuteMs)).toMatchObject({ accessKeyId: 'ASIA1' });
    await until('the renewal', () => attempts > 0);
    expect(await login.get(cloud.now + 57 * minuteMs)).toMatchObject({ accessKeyId: 'ASIA1' });
    // After three attempts, the renewal would have failed.
    expect(attempts).toBeLessThan(3);
  });

  it('asks for no credentials once it is closed', async () => {
    const cloud = await Cloud.start();
    const client = new S3Client(cloud.bucket);
    await client.close();
    await expect(client.has('a')).rejects.toMatchObject({ code: 'PAYLOADS_UNREACHABLE', family: 'try_later' });
    expect(cloud.server.asked).toEqual([]);
  });

  it('is reported with the reason if the address of its credentials is invalid', async () => {
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', 'nowhere');
    const bucket = { bucket: 'rows', prefix: '', endpoint: 'http://127.0.0.1:1', region: 'r', isPathStyle: true };
    await expect(put(bucket)).rejects.toMatchObject({
      code: 'PAYLOADS_REFUSED',
      next: expect.not.stringContaining('undefined'),
    });
  });

  it("is reported as unreachable while the machine's own service has no credentials yet", async () => {
    const server = await Double.start(() => ({ status: 503 }));
    vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', server.url);
    const bucket = { bucket: 'rows', prefix: '', endpoint: 'http://127.0.0.1:1', region: 'r', isPathStyle: true };
    await expect(put(bucket)).rejects.toMatchObject({ code: 'PAYLOADS_UNREACHABLE', family: 'try_later' });
  });

  it('is reported with what is missing if this machine has no credentials', async () => {
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    const bucket = { bucket: 'rows', prefix: '', endpoint: 'http://127.0.0.1:1', region: 'r', isPathStyle: true };
    await expect(put(bucket)).rejects.toMatchObject({
      code: 'PAYLOADS_REFUSED',
      family: 'config',
      message: expect.stringContaining('No AWS credentials were found'),
      next: expect.stringContaining('s3.access_key_id'),
    });
  });
});
