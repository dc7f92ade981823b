import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import mysql from 'mysql2';
import { expect, it, onTestFinished } from 'vitest';
import { check, problemOf, read } from './db-reader.ts';

/** The parts of mysql2's server side that this file uses; its types omit most of it. */
interface Client {
  /** Must be set to 0 before every command, which mysql2 leaves to its caller here. */
  sequenceId: number;
  serverHandshake(given: Readonly<Record<string, unknown>>): void;
  on(event: 'query' | 'stmt_prepare', listener: (sql: string) => void): void;
  on(event: 'error', listener: () => void): void;
  writeOk(): void;
  writeColumns(columns: readonly object[]): void;
  writeTextRow(cells: readonly (string | null)[]): void;
  writeEof(): void;
  writeError(given: { code: number; message: string }): void;
}

const longlong = 8;
const column = { catalog: 'def', schema: '', table: '', orgTable: '', name: 'n', orgName: '', characterSet: 63 };

/** A server that identifies as MySQL 8.4 and, if the test says so, ends a result of three rows with an error. */
async function startEight(failure?: { code: number; message: string }) {
  const said: string[] = [];
  const server = mysql.createServer((connection) => {
    const client = connection as unknown as Client;
    client.on('error', () => {});
    const fine = (sql: string) => {
      said.push(sql);
      client.writeOk();
      client.sequenceId = 0;
    };
    client.on('stmt_prepare', fine);
    client.on('query', (sql) => {
      if (!/^(?:select|show) /.test(sql)) return fine(sql);
      const count = sql.includes('version()') ? 3 : 1;
      client.writeColumns(Array.from({ length: count }, () => ({ ...column, columnType: longlong })));
      for (const n of ['1', null, '3']) client.writeTextRow(Array.from({ length: count }, () => n));
      if (failure === undefined) client.writeEof();
      else client.writeError(failure);
      client.sequenceId = 0;
    });
    client.serverHandshake({
      protocolVersion: 10,
      serverVersion: '8.4.2',
      connectionId: 1,
      statusFlags: 2,
      characterSet: 45,
      capabilityFlags: 0xffffff ^ 0x800 ^ 0x20,
      authCallback: (_: unknown, done: (refused: undefined) => void) => {
        done(undefined);
        client.sequenceId = 0;
      },
    });
  });
  // mysql2's types declare neither the listening address nor the listener.
  const { _server: listener } = server as unknown as { _server: Server };
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  onTestFinished(() => new Promise<void>((resolve) => void listener.close(() => resolve())));
  const { port } = listener.address() as AddressInfo;
  return { source: { url: `mysql://a:b@127.0.0.1:${port}/c`, statement_timeout_seconds: 2.5 }, said };
}

it("reads rows as MySQL sends them, and sets MySQL's own time limit for statements", async () => {
  const { source, said } = await startEight();
  expect(await read(source, 'select n from t')).toEqual({ columns: ['n integer'], rows: [['1'], [null], ['3']] });
  expect(said).toContain('set session max_execution_time = 2500');
  expect(said.join()).not.toContain('max_statement_time');
});

it.each([
  [{ code: 3024, message: 'maximum statement execution time exceeded' }, 'DB_STATEMENT_CANCELLED', 'job'],
  [{ code: 1317, message: 'Query execution was interrupted' }, 'DB_STATEMENT_CANCELLED', 'job'],
  [{ code: 1053, message: 'Server shutdown in progress' }, 'DB_SERVER_BUSY', 'try_later'],
  [{ code: 4031, message: 'disconnected because of inactivity' }, 'DB_SERVER_BUSY', 'try_later'],
])('maps an error that MySQL sends between rows: %j', async (failure, code, family) => {
  const { source } = await startEight(failure);
  const problem = await problemOf(read(source, 'select n from t'));
  expect(problem).toMatchObject({ code, family, where: { row: 4 } });
  expect(problem.message).toContain(failure.message);
});

it('identifies the server as MySQL', async () => {
  const { source } = await startEight();
  expect(await check(source)).toMatch(/^MySQL /);
});
