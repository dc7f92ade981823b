import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Certificates, makeCertificates } from '../servers/certificates.ts';
import { packagesOf, reportMissing } from '../servers/describe.ts';
import { hasMariadb, startMariadb } from '../servers/mariadb.ts';
import { hasPostgres, startPostgres } from '../servers/postgres.ts';
import type { TestServer } from '../servers/server.ts';
import { check, countRows, extract, problemOf } from './db-reader.ts';

for (const [kind, isInstalled, start, many] of [
  ['PostgreSQL', hasPostgres, startPostgres, 'select g, repeat($$x$$, 100) from generate_series(1, 100000) g'],
  ['MariaDB', hasMariadb, startMariadb, "select seq, repeat('x', 100) as x from seq_1_to_100000"],
] as const) {
  if (!isInstalled()) {
    reportMissing(`a TLS connection to ${kind}`, [kind], packagesOf([kind]));
    continue;
  }
  describe(`a TLS connection to ${kind}`, () => {
    let folder: string;
    let server: TestServer;
    let certificates: Certificates;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sluice-tls-'));
      certificates = await makeCertificates(['IP:127.0.0.1', 'DNS:db.test']);
      const stranger = await makeCertificates(['IP:127.0.0.1']);
      await writeFile(join(folder, 'ca.pem'), certificates.ca);
      await writeFile(join(folder, 'stranger.pem'), stranger.ca);
      const { client } = certificates;
      for (const [name, text] of [
        ['client.pem', client.cert],
        ['client.key', client.key],
        ['stranger-client.pem', stranger.client.cert],
        ['stranger-client.key', stranger.client.key],
      ] as const)
        await writeFile(join(folder, name), text);
      server = await start({ tls: certificates });
      await (kind === 'PostgreSQL' ? demandOfPostgres(server) : demandOfMariadb(server));
    });

    afterAll(async () => {
      // Undefined if `beforeAll` failed; then only its error should be shown.
      await server?.stop();
      await rm(folder, { recursive: true });
    });

    const over = (tls: object) => check({ url: server.url, tls }, { folder });
    /** By a name that the certificate doesn't contain. */
    const named = (tls: object) => check({ url: server.url.replace('127.0.0.1', 'localhost'), tls }, { folder });

    it("trusts a certificate from the configured authority for the server's address", async () => {
      expect(await over({ mode: 'verify', ca_file: 'ca.pem' })).toContain(kind);
    });

    it('accepts a certificate for another name if that name is configured', async () => {
      expect(await over({ mode: 'verify', ca_file: 'ca.pem', servername: 'db.test' })).toContain(kind);
    });

    it.each([
      ['another authority', { ca_file: 'stranger.pem' }],
      ['an unknown authority', {}],
      ['another name', { ca_file: 'ca.pem', servername: 'other.test' }],
    ])('rejects a certificate from %s', async (_title, tls) => {
      const problem = await problemOf(over({ mode: 'verify', ...tls }));
      expect(problem).toMatchObject({ code: 'DB_TLS_REFUSED', family: 'config' });
    });

    it('accepts any certificate in `require` mode with `verify: false`', async () => {
      expect(await over({ mode: 'require', verify: false })).toContain(kind);
    });

    it('verifies the server in `require` mode like in `verify` mode, or like in `verify-ca` mode with an authority', async () => {
      const problem = await problemOf(over({ mode: 'require' }));
      expect(problem).toMatchObject({ code: 'DB_TLS_REFUSED', next: expect.stringContaining('verify: false') });
      for (const mode of ['require', 'verify-ca']) {
        expect(await problemOf(over({ mode, ca_file: 'stranger.pem' }))).toMatchObject({ code: 'DB_TLS_REFUSED' });
        expect(await named({ mode, ca_file: 'ca.pem' })).toContain(kind);
      }
      expect(await problemOf(named({ mode: 'verify', ca_file: 'ca.pem' }))).toMatchObject({ code: 'DB_TLS_REFUSED' });
    });

    it("reads the TLS mode from the URL, as the server's own clients do", async () => {
      const [mode, ca, values] =
        kind === 'PostgreSQL'
          ? (['sslmode', 'sslrootcert', ['require', 'verify-ca', 'verify-full']] as const)
          : (['ssl-mode', 'ssl-ca', ['REQUIRED', 'VERIFY_CA', 'VERIFY_IDENTITY']] as const);
      for (const value of values) {
        const url = `${server.url}?${mode}=${value}`;
        expect(await check({ url: `${url}&${ca}=ca.pem` }, { folder })).toContain(kind);
        const problem = await problemOf(check({ url: `${url}&${ca}=stranger.pem` }, { folder }));
        expect(problem).toMatchObject({ code: 'DB_TLS_REFUSED' });
      }
      const url = `${server.url}?${mode}=${values[0]}`;
      expect(await problemOf(check({ url }))).toMatchObject({ code: 'DB_TLS_REFUSED' });
      expect(await check({ url, tls: { verify: false } })).toContain(kind);
    });

    it('returns every row', async () => {
      const source = { url: server.url, tls: { mode: 'verify', ca_file: 'ca.pem' } };
      const { batches } = await extract(source, many, { folder });
      expect(await countRows(batches)).toBe(100_000);
    });

    it('can be closed early', async () => {
      const { batches } = await extract({ url: server.url, tls: { mode: 'require', verify: false } }, many);
      for await (const batch of batches) {
        expect(batch.length).toBeGreaterThan(0);
        break;
      }
    });

    const as = (user: string, tls: object) => check({ url: server.url.replace('sluice', user), tls }, { folder });
    const verify = { mode: 'verify', ca_file: 'ca.pem' };
    const ours = { cert_file: 'client.pem', key_file: 'client.key' };

    it('presents its client certificate to a server that requires one', async () => {
      expect(await as('certified', { ...verify, ...ours })).toContain('as certified');
    });

    it('is refused without a client certificate, or with one from another authority', async () => {
      // MariaDB doesn't distinguish a missing certificate from a wrong password.
      const wanted =
        kind === 'PostgreSQL'
          ? { code: 'DB_CLIENT_CERTIFICATE', family: 'config', next: expect.stringContaining('cert_file') }
          : { code: 'DB_LOGIN_REFUSED', family: 'login' };
      expect(await problemOf(as('certified', verify))).toMatchObject(wanted);
      const strange = { cert_file: 'stranger-client.pem', key_file: 'stranger-client.key' };
      const problem = await problemOf(as('certified', { ...verify, ...strange }));
      expect(['login', 'config', 'try_later']).toContain(problem.family);
    });

    it('reports that a server requires TLS', async () => {
      const problem = await problemOf(check({ url: server.url.replace('sluice', 'encrypted') }));
      const wanted =
        kind === 'PostgreSQL'
          ? { code: 'DB_HOST_REFUSED', family: 'config' }
          : { code: 'DB_LOGIN_REFUSED', family: 'login' };
      expect(problem).toMatchObject({ ...wanted, next: expect.stringContaining('tls: { mode: verify }') });
      expect(await as('encrypted', verify)).toContain('as encrypted');
    });

    it("names a certificate or key file that can't be read", async () => {
      const problem = await problemOf(over({ mode: 'verify', ca_file: 'missing.pem' }));
      expect(problem).toMatchObject({ code: 'DB_TLS_FILE', family: 'config' });
      expect(problem.message).toContain('missing.pem');
    });

    it("doesn't continue without TLS if the server doesn't support it", async () => {
      const plain = await start(kind === 'PostgreSQL' ? {} : { settings: { 'skip-ssl': 1 } });
      try {
        const problem = await problemOf(check({ url: plain.url, tls: { mode: 'require' } }));
        expect(problem).toMatchObject({ code: 'DB_TLS_REFUSED', family: 'config' });
      } finally {
        await plain.stop();
      }
    });
  });
}

const users = ['certified', 'encrypted'];

/** After this, one user needs a certificate, and the other needs TLS. */
async function demandOfPostgres(server: TestServer): Promise<void> {
  const admin = new pg.Client(server.url);
  await admin.connect();
  for (const user of users) await admin.query(`create role ${user} login password '${server.password}'`);
  const lines = [
    'hostssl all certified 127.0.0.1/32 scram-sha-256 clientcert=verify-ca',
    'hostssl all encrypted 127.0.0.1/32 scram-sha-256',
    'host all sluice 127.0.0.1/32 scram-sha-256',
  ];
  const { rows } = await admin.query('show hba_file');
  const values = lines.map((line) => `('${line}')`).join(', ');
  await admin.query(`copy (select * from (values ${values}) lines) to '${rows[0].hba_file}'`);
  await admin.query('select pg_reload_conf()');
  await admin.end();
}

async function demandOfMariadb(server: TestServer): Promise<void> {
  const admin = await mysql.createConnection(server.url);
  for (const [user, need] of [
    ['certified', 'x509'],
    ['encrypted', 'ssl'],
  ])
    await admin.query(`create user ${user}@'127.0.0.1' identified by '${server.password}' require ${need}`);
  for (const user of users) await admin.query(`grant select on test.* to ${user}@'127.0.0.1'`);
  await admin.end();
}
