import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestSource, World } from '#sdk/testing';
import { makeCertificates } from '../../servers/certificates.ts';
import type { FileServer } from '../../servers/file-server.ts';
import { freePort } from '../../servers/free-port.ts';
import { startProftpd } from '../../servers/proftpd.ts';
import { manyRows, orders, putOrders } from '../order-files.ts';

/** Both worlds use ProFTPD, which has its own users; the connector's own tests cover the other servers. */
const worlds: readonly World[] = [
  {
    name: 'FTPS',
    async open() {
      const { ca, ...tls } = await makeCertificates(['IP:127.0.0.1']);
      const server = await startProftpd({ tls });
      const folder = await mkdtemp(join(tmpdir(), 'sluice-world-'));
      await writeFile(join(folder, 'ca.pem'), ca);
      const source = { protocol: 'ftps', tls: { mode: 'verify', ca_file: 'ca.pem' } };
      return await placeOn(server, { folder, source });
    },
  },
  {
    name: 'SFTP',
    async open() {
      const tls = await makeCertificates(['IP:127.0.0.1']);
      const server = await startProftpd({ tls, ssh: true });
      const folder = await mkdtemp(join(tmpdir(), 'sluice-world-'));
      const key = join(folder, 'host');
      await writeFile(key, tls.key, { mode: 0o600 });
      const print = execFileSync('ssh-keygen', ['-l', '-f', key], { encoding: 'utf8' }).split(' ')[1];
      return await placeOn(server, { folder, source: { protocol: 'sftp', host_key: print } });
    },
  },
];
export default worlds;

interface Given {
  readonly folder: string;
  readonly source: Readonly<Record<string, unknown>>;
}

async function placeOn(server: FileServer, { folder, source }: Given): Promise<TestSource> {
  const { host, port, user, password, files } = server;
  const put = (name: string, content: string) => writeFile(join(files, name), content);
  await putOrders(files);
  await put('day-1.csv', 'x\n1\n');
  return {
    folder,
    source: { ...source, host, port, user, password },
    query: { path: 'orders.csv', settle_seconds: 0, types: orders.types },
    columns: orders.columns,
    rows: orders.rows,
    refused: [
      { query: { path: undefined }, option: 'path' },
      { query: { files: 'some' }, option: 'files' },
      { query: { encoding: 'klingon' }, option: 'encoding' },
      { source: { protocol: 'gopher' }, option: 'protocol' },
      { source: { password: undefined }, option: 'password' },
      { source: { passphrase: 'for nothing' }, option: 'passphrase' },
    ],
    credentials: { source: { password: 'wrong-password-72' } },
    unreachable: { source: { port: await freePort() } },
    hostile: { query: { path: 'hostile.csv', types: undefined } },
    many: { query: { path: 'many.csv', types: { id: 'integer' } }, rows: manyRows },
    resume: {
      query: { path: 'day-*.csv', files: 'changed', types: undefined },
      async grow() {
        await put('day-2.csv', 'x\n2\n');
        return [['2']];
      },
    },
    example: { query: { path: 'orders.csv', files: 'newest', marker: undefined, settle_seconds: 0 } },
    async close() {
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}
