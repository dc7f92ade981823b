import { execFileSync } from 'node:child_process';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostileNames, hostileValues, type Place, type World } from '#sdk/testing';
import { makeCertificates } from '../../servers/certificates.ts';
import type { FileServer } from '../../servers/file-server.ts';
import { startProftpd } from '../../servers/proftpd.ts';
import { freePort } from '../../servers/server.ts';

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const line = (cells: readonly string[]) => `${cells.map(quoted).join(',')}\n`;
const rows = 200_000;

/** Both worlds are ProFTPD, which knows users of its own; the other servers have their say in the tests of the connector. */
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

async function placeOn(server: FileServer, { folder, source }: Given): Promise<Place> {
  const { host, port, user, password, files } = server;
  const put = (name: string, content: string) => writeFile(join(files, name), content);
  await put('orders.csv', 'id,day,paid\n1,2026-01-31,1.50\n2,,\n');
  await put(
    'hostile.csv',
    line(hostileNames) + hostileValues.map((value) => line(hostileNames.map(() => value))).join(''),
  );
  await putMany(join(files, 'many.csv'));
  await put('day-1.csv', 'x\n1\n');
  return {
    folder,
    source: { ...source, host, port, user, password },
    query: { path: 'orders.csv', settle_seconds: 0, types: { id: 'integer', day: 'date', paid: 'decimal' } },
    columns: [
      { name: 'id', type: 'integer' },
      { name: 'day', type: 'date' },
      { name: 'paid', type: 'decimal' },
    ],
    rows: [
      ['1', '2026-01-31', '1.50'],
      ['2', null, null],
    ],
    refused: [
      { query: { path: undefined }, option: 'path' },
      { query: { files: 'some' }, option: 'files' },
      { query: { encoding: 'klingon' }, option: 'encoding' },
      { source: { protocol: 'gopher' }, option: 'protocol' },
      { source: { password: undefined }, option: 'password' },
      { source: { passphrase: 'for nothing' }, option: 'passphrase' },
    ],
    credentials: { source: { password: 'wrong-password-72' } },
    nobody: { source: { port: await freePort() } },
    hostile: { query: { path: 'hostile.csv', types: undefined } },
    many: { query: { path: 'many.csv', types: { id: 'integer' } }, rows },
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

async function putMany(path: string): Promise<void> {
  await writeFile(path, 'id,name,note\n');
  for (let from = 0; from < rows; from += 20_000) {
    const lines = Array.from({ length: 20_000 }, (_, i) => `${from + i},name ${from + i},${'note '.repeat(24)}\n`);
    await appendFile(path, lines.join(''));
  }
}
