import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stateLocationOf } from '../../src/cli/state-location.ts';
import type { LoadOptions } from '../../src/config/load.ts';
import { showConfig } from '../../src/config/show/show-config.ts';
import { redact } from '../../src/lib/redact.ts';
import { configWith, folderWith, goodJob, load } from './fixtures.ts';

const key = 'k'.repeat(32);

/** Loads a config with this state, and returns its location and what's wrong with it. */
async function loadState(state: string, more = '', options: LoadOptions = {}, files: Record<string, string> = {}) {
  const top = `state: ${JSON.stringify(state)}\nlogin_key: ${key}\n${more}`;
  const loaded = await load(configWith(goodJob, top), options, files);
  const faults = loaded.problems.map(({ code, message, seen }) => [code, message, seen]);
  return { ...loaded, faults, state: loaded.config?.state, database: loaded.config?.stateDatabase };
}

describe('a state in a PostgreSQL database', () => {
  it('is described by a URL, and its payloads are in the cache folder', async () => {
    const { config, state, database, faults } = await loadState('postgres://sluice:s%2Fecret@db.internal:6432/rows');
    expect(faults).toEqual([]);
    expect(database).toEqual({
      host: 'db.internal',
      port: 6432,
      user: 'sluice',
      password: 's/ecret',
      database: 'rows',
      schema: 'sluice',
      tls: { verifyIdentity: true },
    });
    expect(state).toBe(join(config!.folder, 'sluice-cache'));
    expect(redact('s/ecret and s%2Fecret')).not.toContain('ecret');
  });

  it('can have its cache folder anywhere', async () => {
    expect((await loadState('postgres://a@db/rows', 'cache: /var/cache/sluice')).state).toBe('/var/cache/sluice');
  });

  it('can have its payloads in a folder', async () => {
    const { config, database, made } = await loadState('postgres://a@db/rows', 'payloads: /mnt/sluice');
    expect(database).toMatchObject({ payloadsFolder: '/mnt/sluice' });
    expect(JSON.stringify(showConfig(config!, made!))).toContain('"payloads":"/mnt/sluice"');
    const usual = await loadState('postgres://a@db/rows', 'payloads: postgres');
    expect(usual.database).not.toHaveProperty('payloadsFolder');
    expect(usual.faults).toEqual([]);
    expect((await loadState('./folder', 'payloads: /mnt/sluice')).faults).toEqual([
      ['CONFIG_PAYLOADS', expect.anything(), undefined],
    ]);
    const unknown = await loadState('postgres://a@db/rows', 'payloads: ftp://a/b');
    expect(unknown.faults).toEqual([['CONFIG_PAYLOADS', expect.anything(), undefined]]);
  });

  it('can have its payloads in a bucket', async () => {
    const login = 'access_key_id: me, secret_access_key: "bucket-secret"';
    const loadBucket = (payloads: string, s3: string) =>
      loadState('postgres://a@db/rows', `payloads: ${payloads}\ns3: {${s3}}`);
    const own = `endpoint: https://minio:9000/, region: eu-1, ${login}`;
    const { config, database, faults, made } = await loadBucket('s3://rows/a/b/', own);
    expect(faults).toEqual([]);
    expect(database!.payloadsBucket).toEqual({
      ...{ bucket: 'rows', prefix: 'a/b/', endpoint: 'https://minio:9000', region: 'eu-1', isPathStyle: true },
      key: { accessKeyId: 'me', secretAccessKey: 'bucket-secret' },
    });
    const shown = JSON.stringify(showConfig(config!, made!));
    expect(shown).toContain('"payloads":"s3://rows/a/b"');
    expect(shown).not.toContain('bucket-secret');
    expect(redact('bucket-secret')).not.toContain('bucket-secret');
    const ofAws = await loadBucket('s3://rows', `region: eu-central-1, ${login}`);
    expect(ofAws.database!.payloadsBucket).toMatchObject({
      ...{ prefix: '', endpoint: 'https://s3.eu-central-1.amazonaws.com', isPathStyle: false },
    });
    const styled = await loadBucket('s3://rows', `${own}, path_style: false`);
    expect(styled.database!.payloadsBucket).toMatchObject({ isPathStyle: false });
  });

  it('can have its payloads in a bucket that is used with the credentials of the machine', async () => {
    const ofAws = await loadState('postgres://a@db/rows', 'payloads: s3://rows');
    expect(ofAws.faults).toEqual([]);
    expect(ofAws.database!.payloadsBucket).toEqual({
      ...{ bucket: 'rows', prefix: '', endpoint: 'https://s3.us-east-1.amazonaws.com', region: 'us-east-1' },
      isPathStyle: false,
    });
    const own = await loadState('postgres://a@db/rows', 'payloads: s3://rows\ns3: {endpoint: "https://minio:9000"}');
    expect(own.faults).toEqual([]);
    expect(own.database!.payloadsBucket).not.toHaveProperty('key');
  });

  it.each([
    ['a bucket with half a key', 'payloads: s3://rows\ns3: {access_key_id: me}'],
    ['a bucket without a name', 'payloads: s3://\ns3: {access_key_id: me, secret_access_key: some-secret}'],
    [
      'a prefix that leaves the bucket',
      'payloads: s3://rows/../a\ns3: {access_key_id: me, secret_access_key: some-secret}',
    ],
  ])("doesn't accept %s", async (_, more) => {
    const { faults } = await loadState('postgres://a@db/rows', more);
    expect(faults.map(([code]) => code)).toEqual(['CONFIG_PAYLOADS']);
  });

  it.each([
    ['postgres://a@localhost/rows', { host: 'localhost', port: 5432, tls: undefined }],
    ['postgresql://a@127.8.0.1/rows', { host: '127.8.0.1', tls: undefined }],
    ['postgres://a@[::1]:5433/rows', { host: '::1', port: 5433, tls: undefined }],
    ['postgres://a@%2Frun%2Fpostgresql/rows', { host: '/run/postgresql', tls: undefined }],
    ['postgres://a@127.0.0.1.example.com/rows', { tls: { verifyIdentity: true } }],
    ['postgres://a@db/rows?sslmode=disable', { tls: undefined }],
    ['postgres://a@db/rows?sslmode=require', { tls: { verifyIdentity: true } }],
    ['postgres://a@db/rows?sslmode=require&sslrootcert=system', { tls: { verifyIdentity: true } }],
    ['postgres://a@localhost/rows?sslmode=verify-full', { tls: { verifyIdentity: true } }],
    ['postgres://a@db/rows?schema=sluice_2', { schema: 'sluice_2' }],
  ])('is at the place and has the encryption that %s requests', async (url, wanted) => {
    const { database, faults } = await loadState(url);
    expect(faults).toEqual([]);
    expect({ tls: undefined, ...database }).toMatchObject(wanted);
  });

  it('reads certificates from files next to the config', async () => {
    const files = { 'ca.pem': 'the ca', 'cert.pem': 'the cert', 'key.pem': 'the private key' };
    const url = 'postgres://a@db/rows?sslrootcert=ca.pem&sslcert=cert.pem&sslkey=key.pem';
    for (const mode of ['require', 'verify-ca']) {
      const { database } = await loadState(`${url}&sslmode=${mode}`, '', {}, files);
      expect(database?.tls).toMatchObject({ verifyIdentity: false, ca: 'the ca' });
    }
    const { database } = await loadState(url, '', {}, files);
    expect(database?.tls).toEqual({ verifyIdentity: true, ca: 'the ca', cert: 'the cert', key: 'the private key' });
    expect(redact('the private key')).toBe('[redacted]');
  });

  it.each([
    ['mysql://a:hidden-1@db/rows', 'The state cannot be stored in this kind of database', 'mysql://…@db/rows'],
    ['postgres://a:hidden/1@db/rows', 'Invalid state URL', 'postgres://…@db/rows'],
    ['postgres://a:hidden#1@db/rows', 'Invalid state URL', 'postgres://…@db/rows'],
    ['postgres://a:hidden%zz@db/rows', 'Invalid state URL', 'postgres://…@db/rows'],
    ['postgres://a:hidden/1', 'Invalid state URL', undefined],
    ['postgres://db/rows', 'Invalid state URL: it has no user', 'postgres://db/rows'],
    ['postgres://a:hidden-1@db', 'Invalid state URL: it has no database', 'postgres://…@db'],
    ['postgres://a@db1,db2/rows', 'Invalid state URL: it has several hosts', 'postgres://…@db1,db2/rows'],
    ['postgres://a@db/rows?pool=3', 'Unknown parameter "pool" in the state URL', undefined],
    ['postgres://a@db/rows?password=hidden-1', 'Unknown parameter "password" in the state URL', undefined],
    ['postgres://a@db/rows?schema=a&schema=b', 'The state URL sets "schema" more than once', undefined],
    ['postgres://a@db/rows?sslmode=prefer', 'Invalid value for "sslmode" in the state URL', '"prefer"'],
    ['postgres://a@db/rows?schema=pg_own', 'Invalid value for "schema" in the state URL', '"pg_own"'],
    ['postgres://a@db/rows?schema=A"b', 'Invalid value for "schema" in the state URL', '"A\\"b"'],
    ['postgres://a@%2Frun/rows?sslmode=require', 'Connections to a Unix socket cannot be encrypted', undefined],
    [
      'postgres://a@localhost/rows?sslrootcert=ca.pem',
      'sslrootcert has no effect, because the connection is not encrypted',
      undefined,
    ],
    [
      'postgres://a@db/rows?sslmode=verify-ca',
      'The state URL has sslmode=verify-ca, but no file in sslrootcert',
      undefined,
    ],
    ['postgres://a@db/rows?sslkey=key.pem', 'The state URL needs both sslcert and sslkey', undefined],
  ])('is refused if it is %s', async (url, message, seen) => {
    const { problems, config } = await loadState(url);
    expect(config).toBeUndefined();
    expect(problems).toMatchObject([{ code: 'CONFIG_STATE_URL', message, where: { line: 2 } }]);
    expect(problems[0]!.seen).toBe(seen);
    expect(problems[0]!.allowed ?? problems[0]!.next).toBeDefined();
    expect(JSON.stringify(problems[0])).not.toContain('hidden');
  });

  it('is refused if a certificate cannot be read', async () => {
    const { problems } = await loadState('postgres://a@db/rows?sslrootcert=missing.pem');
    expect(problems).toMatchObject([{ code: 'CONFIG_STATE_URL', seen: expect.stringMatching(/\/missing\.pem$/) }]);
  });

  it('is checked without secrets as far as it can be', async () => {
    const url = `postgres://a:\${file:/run/secrets/none}@\${env:HOST}/rows?sslrootcert=/run/none.pem`;
    const { problems, database } = await loadState(url, '', { withoutSecrets: true });
    expect(problems).toEqual([]);
    expect(database).toMatchObject({ database: 'rows', tls: { verifyIdentity: true } });
  });

  it('needs an encryption key for logins from the config or the environment', async () => {
    const text = configWith(goodJob, 'state: postgres://a@db/rows');
    expect((await load(text)).problems).toMatchObject([{ code: 'LOGIN_KEY_REQUIRED', where: { line: 2 } }]);
    expect((await load(text, { env: { SLUICE_KEY: key } })).problems).toEqual([]);
    expect((await load(text, { withoutSecrets: true })).problems).toEqual([]);
  });

  it('is shown without its user and password', async () => {
    const { config, made } = await loadState('postgres://ann:hidden-2@db/rows?schema=own&sslmode=disable');
    const { values } = showConfig(config!, made!);
    expect(values).toMatchObject({ state: 'postgres://db:5432/rows?schema=own', cache: config!.state });
  });
});

describe('a state in a folder', () => {
  it("doesn't use the cache folder", async () => {
    const { config, faults, state, database } = await loadState('./state', 'cache: ./cache');
    expect(faults).toEqual([]);
    expect(state).toBe(join(config!.folder, 'state'));
    expect(database).toBeUndefined();
  });
});

describe("the state's location", () => {
  async function configFile(text: string): Promise<string> {
    const folder = await folderWith({});
    await writeFile(join(folder, 'sluice.yaml'), text);
    return join(folder, 'sluice.yaml');
  }

  it('is found in a config that has other errors', async () => {
    const file = await configFile('state: postgres://a:hidden-3@localhost/rows\nnonsense: true\nsecrets: 7\n');
    expect((await stateLocationOf(file)).stateDatabase).toMatchObject({ password: 'hidden-3', database: 'rows' });
    expect(redact('hidden-3')).toBe('[redacted]');
  });

  it('is not shown with its password if it is wrong', async () => {
    const file = await configFile('state: postgres://a:hidden-4@localhost\n');
    await expect(stateLocationOf(file)).rejects.toMatchObject({ code: 'CONFIG_STATE_URL' });
    expect(redact('hidden-4')).toBe('[redacted]');
  });
});
