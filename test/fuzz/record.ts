import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import fastify from 'fastify';
import pg from 'pg';
import { SMTPServer } from 'smtp-server';
import { startService } from '../../src/service/service.ts';
import { columns, done, row, startTdsServer } from '../connectors/doubles/tds-server.ts';
import { robot, startVendor } from '../oauth/vendor.ts';
import { startMariadb } from '../servers/mariadb.ts';
import { startPostgres } from '../servers/postgres.ts';
import { startProftpd } from '../servers/proftpd.ts';
import { startSshd } from '../servers/sshd.ts';
import { type Protocol, protocols } from './protocols.ts';

/**
 * Records what real servers send to Sluice: `node test/fuzz/record.ts`. Keeps only what the servers send, split where
 * the client's messages are.
 */
async function recordThrough(to: number): Promise<{ port: number; pieces: Buffer[]; data: Buffer[] }> {
  const [pieces, data]: [Buffer[], Buffer[]] = [[], []];
  let clientSpoke = true;
  const dataProxy = async (port: number): Promise<number> => {
    const server = createServer((client) => {
      const at = data.push(Buffer.alloc(0)) - 1;
      const there = connect(port, '127.0.0.1').on('data', (bytes: Buffer) => {
        data[at] = Buffer.concat([data[at]!, bytes]);
      });
      client.pipe(there).pipe(client);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    return (server.address() as AddressInfo).port;
  };
  const server = createServer((client) => {
    const there = connect(to, '127.0.0.1');
    client.on('data', () => (clientSpoke = true)).pipe(there);
    client.on('error', () => there.destroy());
    there.on('error', () => client.destroy()).on('end', () => client.end());
    there.on('data', async (bytes: Buffer) => {
      if (clientSpoke) pieces.push(bytes);
      else pieces.push(Buffer.concat([pieces.pop()!, bytes]));
      clientSpoke = false;
      const text = bytes.toString('latin1');
      const named = /\|\|\|(\d+)\|/.exec(text)?.[1];
      if (named === undefined) client.write(bytes);
      else client.write(text.replace(named, String(await dataProxy(Number(named)))));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return { port: (server.address() as AddressInfo).port, pieces, data };
}

interface Login {
  readonly user?: string;
  readonly password?: string;
  readonly path?: string;
}

async function keep(name: string, to: number, login: Login = {}): Promise<void> {
  const protocol = protocols[name] as Protocol;
  const recorded = await recordThrough(to);
  const signal = new AbortController().signal;
  const result = await protocol
    .play({ ...login, port: recorded.port, signal })
    .catch((error: unknown) => String(error));
  const hex = (pieces: readonly Buffer[]) => pieces.map((piece) => piece.toString('hex'));
  writeFileSync(
    join(import.meta.dirname, `dialogs/${name}.json`),
    `${JSON.stringify({ dialog: hex(recorded.pieces), data: hex(recorded.data) }, undefined, 2)}\n`,
  );
  process.stdout.write(`${name}: ${recorded.pieces.length} pieces, ${JSON.stringify(result)}\n`);
}

const postgres = await startPostgres();
// The SCRAM responses match only the client nonce of that recording.
await writeFile(join(postgres.folder, 'data/pg_hba.conf'), 'host all all 127.0.0.1/32 password\n');
const client = new pg.Client(postgres.url);
await client.connect();
await client.query('select pg_reload_conf()');
await client.end();
await wait(500);
await keep('postgres', postgres.port, postgres);
await postgres.stop();
const mariadb = await startMariadb();
await keep('mysql', mariadb.port, mariadb);
await mariadb.stop();
const proftpd = await startProftpd();
await writeFile(join(proftpd.files, 'orders.csv'), 'n,word\n1,one\n2,two\n3,three\n');
await keep('ftp', proftpd.port, { ...proftpd, path: join(proftpd.files, 'orders.csv') });
await proftpd.stop();
const sshd = await startSshd();
await keep('ssh', sshd.port, sshd);
await sshd.stop();

const text = (value: string) => {
  const bytes = Buffer.from(value, 'utf16le');
  return `${Buffer.from([bytes.length, 0]).toString('hex')}${bytes.toString('hex')}`;
};
// No SQL Server runs here; its double sends what the protocol specification requires.
const tds = await startTdsServer(() => [
  columns([{ name: 'word', type: 'e7 64 00 09 04 d0 00 34' }]),
  ...['one', 'two', undefined, 'three'].map((word) => row([word === undefined ? 'ffff' : text(word)])),
  done(),
]);
await keep('tds', tds.port, { user: 'reader', password: 'tds-test-password' });
await tds.close();

const api = fastify();
api.get('/rows', (request, reply) => {
  const { from } = request.query as { from?: string };
  if (from === undefined) return reply.send({ rows: [{ n: 'aa' }, { n: 'bb' }], more: 2 });
  // Of unknown length, and thus chunked.
  return reply.type('application/json').send(Readable.from(['{"rows":[{"n":', '"cc"}],"more":null}']));
});
await api.listen({ host: '127.0.0.1', port: 0 });
await keep('rest', (api.server.address() as AddressInfo).port);
await api.close();

const vendor = await startVendor();
await keep('oauth', Number(new URL(vendor.url).port), { user: robot.id, password: robot.secret });
await vendor.close();

const mail = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData: (stream, _session, done) => stream.resume().on('end', () => done(null, 'kept')),
});
await new Promise<void>((resolve) => mail.listen(0, '127.0.0.1', resolve));
await keep('smtp', (mail.server.address() as AddressInfo).port);
await new Promise<void>((resolve) => mail.close(() => resolve()));

const folder = await mkdtemp(join(tmpdir(), 'sluice-record-'));
const fixtures = join(folder, 'fixtures.json');
const admin = { id: 'acme-admin', email: 'admin@acme.test', role: 'Admin', api_keys: ['aa'.repeat(20)] };
await writeFile(fixtures, JSON.stringify({ companies: [{ id: 'acme', name: 'Acme', plan: 'grow', users: [admin] }] }));
const service = await startService({ data: 'memory', fixtures });
await keep('service', service.port, { password: admin.api_keys[0]! });
await service.close();
await rm(folder, { recursive: true });
