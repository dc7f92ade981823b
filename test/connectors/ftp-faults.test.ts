import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, truncateSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import ftp from '../../connectors/ftp/index.ts';
import { makeCertificates } from '../servers/certificates.ts';
import { describeWithFileServer } from '../servers/describe-file-servers.ts';
import type { FileServer } from '../servers/file-server.ts';
import { problemOf } from './db-reader.ts';
import { clearFiles, ftpContext, ownFolder, putFile, readFtp } from './ftp-harness.ts';
import { certificates, fingerprintOf, keyLogin, type Login, plainLogin, tlsLogin } from './ftp-logins.ts';
import {
  type Cut,
  freeRange,
  openFtpProxy,
  openTcpProxy,
  openTlsProxy,
  type PortRange,
  type TcpProxy,
} from './ftp-proxy.ts';

const tls = async () => ({ tls: await certificates() });
const rows = 400_000;
const csv = `id,name\n${Array.from({ length: rows }, (_, i) => `${i},name ${i}\n`).join('')}`;

const hows = ['reset', 'end', 'silence'] as const;

/** Only silence is detected by time. It's injected once, with a timeout that is long enough for a busy machine. */
const broken = {
  reset: { afterBytes: [1_000_000, 2_000_000], patience: { idle_timeout_seconds: 10 } },
  end: { afterBytes: [1_000_000, 2_000_000], patience: { idle_timeout_seconds: 10 } },
  silence: { afterBytes: [1_000_000], patience: { idle_timeout_seconds: 4 } },
} satisfies Record<Cut['how'], { afterBytes: readonly number[]; patience: object }>;

const cutsBy = (how: Cut['how']): Cut[] => broken[how].afterBytes.map((afterBytes) => ({ afterBytes, how }));

/** Expects at least as many retries as faults, and that each read got further than the previous one. */
function expectProgress(warned: readonly object[], how: Cut['how']): void {
  const places = [...new Set((warned as readonly { at: number }[]).map(({ at }) => at))];
  expect(places.length).toBeGreaterThanOrEqual(broken[how].afterBytes.length);
  expect(places[0]).toBeGreaterThan(0);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
}

/** The tcpmux port, on which nothing listens. A port that was free a moment ago may be in use now. */
const closedPort = 1;

interface Broken {
  readonly title: string;
  readonly login: Login;
  readonly proxy: (port: number, cuts: Cut[]) => Promise<TcpProxy>;
  /** Trusts the server behind the proxy: known_hosts lists hosts by port, and the proxy listens on another port. */
  readonly behind: (source: Record<string, unknown>, server: FileServer) => Record<string, unknown>;
}

const kinds: Record<'ProFTPD' | 'sshd', Broken> = {
  ProFTPD: { title: 'a broken FTP connection', login: plainLogin, proxy: openFtpProxy, behind: (source) => source },
  sshd: {
    title: 'a broken SFTP connection',
    login: keyLogin,
    proxy: openTcpProxy,
    behind: (source, server) => ({ ...source, host_key: fingerprintOf((server as { hostKey?: string }).hostKey!) }),
  },
};

for (const server of ['ProFTPD', 'sshd'] as const) {
  const { title, login, proxy, behind } = kinds[server];
  describeWithFileServer({ server }, title, (running) => {
    const folder = ownFolder();
    beforeEach(async () => await clearFiles(running()));

    const through = async (cuts: Cut[], then: (source: Record<string, unknown>) => Promise<void>) => {
      const between = await proxy(running().port, cuts);
      try {
        const source = await login(running(), folder());
        await then({ ...behind(source, running()), port: between.port });
      } finally {
        await between.close();
      }
    };

    it.each(hows)('resumes with a new login after it was broken by %s', async (how) => {
      await putFile(running(), 'a.csv', csv);
      const warned: object[] = [];
      await through(cutsBy(how), async (source) => {
        const warn = (_: string, facts?: object) => warned.push(facts ?? {});
        const table = await readFtp({ source: { ...source, ...broken[how].patience }, query: { path: 'a.csv' }, warn });
        expect(table.rows.length).toBe(rows);
        expect(table.rows.at(-1)).toEqual([String(rows - 1), `name ${rows - 1}`]);
      });
      expectProgress(warned, how);
    });

    it('fails after some attempts if no more bytes arrive', async () => {
      await putFile(running(), 'a.csv', csv);
      const cuts: Cut[] = Array.from({ length: 30 }, () => ({ afterBytes: 0, how: 'reset' as const }));
      await through(cuts, async (source) => {
        const reading = readFtp({ source, query: { path: 'a.csv' } });
        await expect(reading).rejects.toMatchObject({
          family: 'try_later',
          code: expect.stringMatching(/LOST|UNREACH/),
        });
      });
    });

    it('never joins two versions of a file', async () => {
      const path = await putFile(running(), 'a.csv', csv);
      await through([{ afterBytes: 1_000_000, how: 'reset' }], async (source) => {
        // The warning is emitted after the transfer breaks and before the next check.
        const warn = () => appendFileSync(path, 'x,y\n');
        const reading = readFtp({ source, query: { path: 'a.csv' }, warn });
        await expect(reading).rejects.toMatchObject({ code: 'FTP_FILE_CHANGED', family: 'try_later' });
      });
    });

    it('ends immediately with the reason if the run is stopped', async () => {
      await putFile(running(), 'a.csv', csv);
      const stop = new AbortController();
      const done = () => stop.abort(new Error('enough'));
      await through([{ afterBytes: 1_000_000, how: 'silence', done }], async (source) => {
        const long = { ...source, idle_timeout_seconds: 60 };
        const reading = readFtp({ source: long, query: { path: 'a.csv' }, signal: stop.signal });
        await expect(reading).rejects.toThrow('enough');
      });
    });

    it("is reported at login if the server doesn't respond", async () => {
      await through([], async (source) => {
        const unreachable = { ...source, port: closedPort };
        const checking = ftp.check(ftpContext({ source: unreachable, query: {} }, folder()));
        await expect(checking).rejects.toMatchObject({ code: 'FTP_UNREACHABLE', family: 'try_later' });
      });
    });
  });
}

/** How to configure each server's ports for data. */
const portLines = {
  ProFTPD: ([first, last]: PortRange) => [`PassivePorts ${first} ${last}`],
  vsftpd: ([first, last]: PortRange) => [`pasv_min_port=${first}`, `pasv_max_port=${last}`],
  'Pure-FTPd': ([first, last]: PortRange) => ['-p', `${first}:${last}`],
};

for (const server of ['ProFTPD', 'vsftpd', 'Pure-FTPd'] as const) {
  let dataPorts: PortRange;
  const settings = async () => {
    dataPorts = await freeRange();
    return { ...(await tls()), lines: portLines[server](dataPorts) };
  };
  describeWithFileServer({ server, settings }, `a broken FTPS connection to ${server}`, (running) => {
    const folder = ownFolder();
    beforeEach(async () => await clearFiles(running()));

    it.each(hows)('resumes with a new login after it was broken by %s', async (how) => {
      await putFile(running(), 'a.csv', csv);
      const between = await openTlsProxy(running().port, { cuts: cutsBy(how), dataPorts });
      // A broken login counts as a connection until a busy server notices it.
      const lingering = connect(running().port, '127.0.0.1');
      await once(lingering, 'data');
      try {
        const { tls: trust, ...source } = await tlsLogin('ftps')(running(), folder());
        const elsewhere = { host: between.host, port: between.port, ...broken[how].patience };
        const named = { ...(trust as object), servername: '127.0.0.1' };
        const warned: { at: number }[] = [];
        const warn = (_: string, facts?: object) => warned.push(facts as { at: number });
        const table = await readFtp({
          source: { ...source, ...elsewhere, tls: named },
          query: { path: 'a.csv' },
          warn,
        });
        expect(table.rows.length).toBe(rows);
        expect(table.rows.at(-1)).toEqual([String(rows - 1), `name ${rows - 1}`]);
        expectProgress(warned, how);
        expect(between.carried()).toBeGreaterThan(broken[how].afterBytes.length);
      } finally {
        lingering.destroy();
        await between.close();
      }
    });
  });
}

describeWithFileServer({ server: 'sshd' }, 'files that change', (server) => {
  const folder = ownFolder();
  beforeEach(async () => await clearFiles(server()));
  const read = async (query: Record<string, unknown>) =>
    await readFtp({ source: await keyLogin(server(), folder()), query });

  it("aren't treated as complete while they grow", async () => {
    const path = await putFile(server(), 'a.csv', 'x\n1\n');
    await putFile(server(), 'b.csv', 'x\n2\n');
    // Start immediately: on a busy machine, everything due during the pause happens just before the second check.
    const timer = setInterval(() => appendFileSync(path, '1\n'), 50);
    try {
      const growing = { code: 'FILES_NOT_COMPLETE', family: 'try_later', seen: 'a.csv' };
      await expect(read({ path: '*.csv', settle_seconds: 0.5 })).rejects.toMatchObject(growing);
      const { rows: ready } = await read({ path: '*.csv', settle_seconds: 0.5, files: 'changed' });
      expect(ready).toEqual([['2']]);
    } finally {
      clearInterval(timer);
    }
  });

  it('are rejected if they shrink during the read', async () => {
    const path = await putFile(server(), 'a.csv', csv);
    const source = await keyLogin(server(), folder());
    const context = ftpContext({ source, query: { path: 'a.csv' } }, folder());
    let isCut = false;
    const alive = () => {
      if (!isCut) truncateSync(path, 100);
      isCut = true;
    };
    const changed = { code: 'FTP_FILE_CHANGED', family: 'try_later' };
    await expect(ftp.extract({ ...context, alive })).rejects.toMatchObject(changed);
  });
});

describeWithFileServer(
  { server: 'ProFTPD', settings: async () => ({ ...(await tls()), ssh: true }) },
  'SFTP with a password',
  (server) => {
    const folder = ownFolder();

    it('reads files, and distinguishes a wrong password from other errors', async () => {
      await putFile(server(), 'a.csv', 'x\n1\n');
      const { host, port, user, password } = server();
      const source = { protocol: 'sftp', host, port, user, password };
      const refusal = await readFtp({
        source: { ...source, known_hosts_file: '/nowhere' },
        query: { path: 'a.csv' },
      }).catch((error: { seen: string }) => error.seen.split(' ')[1]);
      const trusted = { ...source, host_key: refusal };
      expect((await readFtp({ source: trusted, query: { path: 'a.csv' } })).rows).toEqual([['1']]);
      const wrong = ftp.check(ftpContext({ source: { ...trusted, password: 'wrong' }, query: {} }, folder()));
      await expect(wrong).rejects.toMatchObject({ code: 'FTP_LOGIN_REFUSED', family: 'login' });
    });
  },
);

for (const server of ['ProFTPD', 'vsftpd'] as const) {
  describeWithFileServer({ server, settings: tls }, `FTPS of ${server}`, (running) => {
    const folder = ownFolder();
    const source = async () => await tlsLogin('ftps')(running(), folder());

    it("is rejected if the certificate or its name isn't trusted", async () => {
      const { ca_file } = (await source()).tls as { ca_file: string };
      for (const bad of [{ mode: 'verify' }, { mode: 'verify', ca_file, servername: 'files.example.com' }]) {
        const checking = ftp.check(ftpContext({ source: { ...(await source()), tls: bad }, query: {} }, folder()));
        await expect(checking).rejects.toMatchObject({ code: 'FTP_TLS_REFUSED', family: 'config' });
      }
    });

    it("doesn't send the login to a server with an untrusted certificate, in any mode", async () => {
      const stranger = await makeCertificates(['IP:127.0.0.1']);
      await writeFile(join(folder(), 'stranger.pem'), stranger.ca);
      const ca_file = join(folder(), 'stranger.pem');
      for (const tls of [{ mode: 'require' }, { mode: 'require', ca_file }, { mode: 'verify-ca', ca_file }]) {
        const wrong = { ...(await source()), tls, password: 'wrong' };
        const problem = await problemOf(ftp.check(ftpContext({ source: wrong, query: {} }, folder())));
        expect(problem).toMatchObject({ code: 'FTP_TLS_REFUSED', next: expect.stringContaining('verify: false') });
      }
    });

    it.each(['require', 'verify-ca'])('is accepted under any name in `%s` mode with its authority', async (mode) => {
      await putFile(running(), 'a.csv', 'x\n1\n');
      const { tls, ...login } = await source();
      const { ca_file } = tls as { ca_file: string };
      const named = { ...login, host: 'localhost' };
      const query = { path: '*.csv' };
      expect((await readFtp({ source: { ...named, tls: { mode, ca_file } }, query })).rows).toEqual([['1']]);
      const problem = await problemOf(readFtp({ source: { ...named, tls: { mode: 'verify', ca_file } }, query }));
      expect(problem).toMatchObject({ code: 'FTP_TLS_REFUSED' });
    });

    it('works without verification only with `verify: false`', async () => {
      await putFile(running(), 'a.csv', 'x\n1\n');
      const blind = { ...(await source()), tls: { mode: 'require', verify: false } };
      expect((await readFtp({ source: blind, query: { path: '*.csv' } })).rows).toEqual([['1']]);
    });
  });
}

describeWithFileServer({ server: 'ProFTPD' }, 'plain FTP', (server) => {
  const folder = ownFolder();

  it('can read in active mode, through the configured ports', async () => {
    await putFile(server(), 'a.csv', csv);
    const active = { first_port: 41_000, last_port: 41_200 };
    const source = { ...(await plainLogin(server(), folder())), active };
    expect((await readFtp({ source, query: { path: '*.csv' } })).rows.length).toBe(rows);
  });

  it('reports a wrong password, and a server without the required TLS', async () => {
    const source = await plainLogin(server(), folder());
    const wrong = ftp.check(ftpContext({ source: { ...source, password: 'wrong' }, query: {} }, folder()));
    await expect(wrong).rejects.toMatchObject({ code: 'FTP_LOGIN_REFUSED', family: 'login' });
    const noTls = ftp.check(ftpContext({ source: { ...source, protocol: 'ftps' }, query: {} }, folder()));
    await expect(noTls).rejects.toMatchObject({ code: 'FTP_TLS_REFUSED', family: 'config' });
  });

  it('reports a file that the server refuses to send', async () => {
    const path = await putFile(server(), 'secret.csv', 'x\n1\n');
    execFileSync('chmod', ['000', path]);
    const source = await plainLogin(server(), folder());
    const reading = readFtp({ source, query: { path: 'secret.csv' } });
    await expect(reading).rejects.toMatchObject({ code: 'FTP_DENIED', family: 'job' });
  });
});

describeWithFileServer({ server: 'ProFTPD', settings: tls }, 'FTPS in active mode', (running) => {
  const folder = ownFolder();

  it('reads many files with one login', async () => {
    await clearFiles(running());
    for (let i = 10; i < 30; i++) await putFile(running(), `${i}.csv`, `x\n${i}\n`);
    await putFile(running(), 'big.csv', csv);
    const active = { ...(await tlsLogin('ftps')(running(), folder())), active: {} };
    expect((await readFtp({ source: active, query: { path: '[0-9]*.csv' } })).rows.length).toBe(20);
    expect((await readFtp({ source: active, query: { path: 'big.csv' } })).rows.length).toBe(rows);
  });
});
