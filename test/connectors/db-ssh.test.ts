import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDefaults } from '#sdk';
import db from '../../connectors/db/index.ts';
import { type Certificates, makeCertificates } from '../servers/certificates.ts';
import { packagesOf, reportMissing } from '../servers/describe.ts';
import { hasMariadb, startMariadb } from '../servers/mariadb.ts';
import { hasPostgres, startPostgres } from '../servers/postgres.ts';
import type { TestServer } from '../servers/server.ts';
import { hasSshd, type SshServer, startSshd } from '../servers/sshd.ts';
import { check, countRows, extract, firstOf, problemOf, read } from './db-reader.ts';
import { type Cut, openTcpProxy } from './ftp-proxy.ts';

const series = {
  PostgreSQL: (n: number) => `select i, repeat('x', 100) as fill from generate_series(1, ${n}) i`,
  MariaDB: (n: number) => `select i, fill from (select seq as i, repeat('x', 100) as fill from seq_1_to_${n}) one`,
};

for (const [kind, isInstalled, start] of [
  ['PostgreSQL', hasPostgres, startPostgres],
  ['MariaDB', hasMariadb, startMariadb],
] as const) {
  if (!isInstalled() || !hasSshd()) {
    reportMissing(`${kind} by SSH`, [kind, 'sshd'], `${packagesOf([kind])} openssh-server`);
    continue;
  }
  describe(`${kind} through an SSH tunnel`, () => {
    let folder: string;
    let certificates: Certificates;
    let server: TestServer;
    let gate: SshServer;
    /** Stops whatever has started. If a later start fails, only its error should be shown. */
    const ends: (() => Promise<unknown>)[] = [];

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sluice-tunnel-'));
      ends.push(() => rm(folder, { recursive: true }));
      certificates = await makeCertificates(['IP:127.0.0.1', 'DNS:db.test']);
      await writeFile(join(folder, 'ca.pem'), certificates.ca);
      server = await start({ tls: certificates });
      ends.push(() => server.stop());
      gate = await startSshd();
      ends.push(() => gate.stop());
      await writeFile(join(folder, 'known_hosts'), `[127.0.0.1]:${gate.port} ${gate.hostKey}\n`);
    });

    afterAll(async () => {
      for (const end of ends.toReversed()) await end();
    });

    const ssh = (more: object = {}) => ({
      host: gate.host,
      port: gate.port,
      user: gate.user,
      private_key_file: gate.key,
      known_hosts_file: 'known_hosts',
      ...more,
    });
    const source = (more: object = {}) => ({ url: server.url, ssh: ssh(), ...more });
    const folders = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('sluice-ssh-'));

    it("connects without TLS, and with TLS that verifies the database's host name", async () => {
      expect(await check(source(), { folder })).toContain(kind);
      const tls = { mode: 'verify', ca_file: 'ca.pem' };
      expect(await check(source({ tls }), { folder })).toContain(kind);
      expect(await check(source({ tls: { ...tls, servername: 'db.test' } }), { folder })).toContain(kind);
      const other = check(source({ tls: { ...tls, servername: 'other.test' } }), { folder });
      expect(await problemOf(other)).toMatchObject({ code: 'DB_TLS_REFUSED' });
      const byName = server.url.replace('127.0.0.1', 'localhost');
      expect(await problemOf(check({ url: byName, ssh: ssh(), tls }, { folder }))).toMatchObject({
        code: 'DB_TLS_REFUSED',
      });
    });

    it('returns every row, and leaves no socket or folder behind', async () => {
      const { batches } = await extract(source(), series[kind](50_000), { folder });
      expect(await countRows(batches)).toBe(50_000);
      const early = await firstOf(await extract(source(), series[kind](200_000), { folder }));
      await early.return?.();
      await problemOf(extract(source(), 'select nothing from nowhere', { folder }));
      const stop = new AbortController();
      await extract(source(), series[kind](200_000), { folder, signal: stop.signal });
      stop.abort(new Error('stopped'));
      await expect.poll(folders).toEqual([]);
    });

    it('resumes a chunked read if the tunnel breaks', async () => {
      const cuts: Cut[] = [{ afterBytes: 1_500_000, how: 'reset' }];
      const proxy = await openTcpProxy(gate.port, cuts);
      try {
        await writeFile(join(folder, 'proxied'), `[127.0.0.1]:${proxy.port} ${gate.hostKey}\n`);
        const through = source({ ssh: ssh({ port: proxy.port, known_hosts_file: 'proxied' }) });
        const query = { sql: series[kind](30_000), chunks: { column: 'i', rows: 10_000 } };
        const { rows } = await read(through, query, { folder });
        expect(rows.map(([i]) => Number(i))).toEqual(Array.from({ length: 30_000 }, (_, i) => i + 1));
        expect(proxy.carried()).toBe(2);
      } finally {
        await proxy.close();
      }
    });

    it('reports a broken tunnel as such, not only as a broken connection', async () => {
      const proxy = await openTcpProxy(gate.port, [{ afterBytes: 1_000_000, how: 'reset' }]);
      try {
        const through = source({ ssh: ssh({ port: proxy.port, host_key: undefined, known_hosts_file: 'proxied' }) });
        await writeFile(join(folder, 'proxied'), `[127.0.0.1]:${proxy.port} ${gate.hostKey}\n`);
        const { batches } = await extract(through, series[kind](50_000), { folder });
        expect(await problemOf(countRows(batches))).toMatchObject({ code: 'DB_SSH_LOST', family: 'try_later' });
      } finally {
        await proxy.close();
      }
    });

    it.each([
      ['an unknown host key', { known_hosts_file: 'nowhere' }, 'DB_SSH_HOST_KEY_UNKNOWN', 'config'],
      ['another host key', { host_key: `SHA256:${'A'.repeat(43)}` }, 'DB_SSH_HOST_KEY_CHANGED', 'config'],
      ['an unknown user', { user: 'unknown-user' }, 'DB_SSH_LOGIN_REFUSED', 'login'],
      ['a missing key', { private_key_file: 'none' }, 'DB_SSH_OPTION_FILE', 'config'],
      ['a closed port', { port: 1 }, 'DB_SSH_UNREACHABLE', 'try_later'],
    ])('reports %s', async (_title, more, code, family) => {
      const problem = await problemOf(check(source({ ssh: ssh(more) }), { folder }));
      expect(problem).toMatchObject({ code, family });
    });

    it('logs in with an encrypted key, and accepts a pinned host key', async () => {
      const locked = ssh({ private_key_file: gate.lockedKey, passphrase: gate.password });
      expect(await check(source({ ssh: locked }), { folder })).toContain(kind);
      const wrong = { ...locked, passphrase: 'not this one' };
      expect(await problemOf(check(source({ ssh: wrong }), { folder }))).toMatchObject({ code: 'DB_SSH_OPTION_FILE' });
    });

    it("reports that the SSH server can't connect to the database", async () => {
      const unreachable = { ...source(), url: server.url.replace(`:${server.port}/`, ':1/') };
      const problem = await problemOf(check(unreachable, { folder }));
      expect(problem).toMatchObject({ code: 'DB_SSH_FORWARD_REFUSED', family: 'try_later' });
      expect(problem.message).toContain('127.0.0.1:1');
    });

    if (kind === 'PostgreSQL')
      it('cancels the query on the server if the run is stopped', async () => {
        const admin = new pg.Client(server.url);
        await admin.connect();
        const stop = new AbortController();
        const { batches } = await extract(source(), 'select pg_sleep(60)', { folder, signal: stop.signal });
        const reading = countRows(batches);
        const ours = "select count(*)::int as n from pg_stat_activity where application_name = 'sluice'";
        const count = (where: string) => async () => (await admin.query(`${ours} ${where}`)).rows[0].n;
        await expect.poll(count("and wait_event = 'PgSleep'")).toBe(1);
        stop.abort(new Error('stopped'));
        await expect(reading).rejects.toThrow('stopped');
        await expect.poll(count('')).toBe(0);
        await admin.end();
      });
  });
}

describe('tunnel options', () => {
  const faults = (source: object) =>
    (db.validate?.({ source: withDefaults(db.source, { ...source }) }) ?? []).map(({ message }) => message);
  const ssh = { host: 'gate', user: 'me', private_key_file: 'key' };

  it.each([
    [{ url: 'postgres://a@b', ssh }, []],
    [{ url: 'postgres://a@b', ssh: { ...ssh, private_key_file: undefined } }, ['requires private_key_file']],
    [
      { url: 'postgres://a@b', ssh: { host: 'gate', user: 'me', password: 'p', passphrase: 'q' } },
      ['has a passphrase'],
    ],
    [{ file: 'a', ssh }, ['does not apply to SQLite']],
    [{ driver: 'postgres', host: '/run/postgresql', user: 'a', ssh }, ['can tunnel to a host and port']],
  ])('are validated before anything runs: %j', (source, reasons) => {
    const found = faults(source);
    expect(found).toHaveLength(reasons.length);
    found.forEach((fault, i) => void expect(fault).toContain(reasons[i]!));
  });
});
