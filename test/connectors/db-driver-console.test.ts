import { createRequire } from 'node:module';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { protocols } from '../fuzz/protocols.ts';
import { replay } from '../fuzz/replay.ts';
import { problemOf, read } from './db-reader.ts';
import { done, startTdsServer } from './doubles/tds-server.ts';

const printed = vi.fn();

beforeEach(() => {
  printed.mockReset();
  for (const name of ['log', 'info', 'warn', 'error', 'trace'] as const) {
    vi.spyOn(console, name).mockImplementation(printed);
  }
  onTestFinished(() => void vi.restoreAllMocks());
});

const sql = "select 'one' as word union all select 'two' union all select null union all select 'three'";
const rows = [['one'], ['two'], [null], ['three']];

/** The URL of a server that replays a recorded MySQL dialog in which some bytes were changed. */
async function mysqlWith(change: (pieces: readonly Buffer[]) => void): Promise<string> {
  const dialog = protocols.mysql!.dialog();
  change(dialog);
  const server = await replay({ dialog, greets: true, isPushing: false, isSilent: true, quietMs: 250 });
  onTestFinished(() => server.close());
  return `mysql://sluice:secret@127.0.0.1:${server.port}/test`;
}

const okPacket = 2;

it('logs out-of-sequence MySQL packets once, and prints nothing to the console', async () => {
  const url = await mysqlWith((pieces) => {
    for (const piece of pieces.slice(okPacket, -1)) if (piece[4] === 0) piece[3] = 5;
  });
  const warn = vi.fn();
  expect((await read({ url }, sql, { warn })).rows).toEqual(rows);
  expect(warn.mock.calls).toEqual([['the server sent packets out of order', { expected: 1, seen: 5 }]]);
  expect(printed).not.toHaveBeenCalled();
});

it('fails on an invalid length in a MySQL packet, and prints nothing to the console', async () => {
  const url = await mysqlWith((pieces) => {
    pieces[okPacket]![5] = 0xff;
  });
  expect(await problemOf(read({ url }, sql))).toMatchObject({ code: 'DB_PROTOCOL', family: 'try_later' });
  expect(printed).not.toHaveBeenCalled();
});

it.each([17, 99])(
  'ignores a SQL Server environment change of type %i, and prints nothing to the console',
  async (kind) => {
    const change = Buffer.from([0xe3, 3, 0, kind, 0, 0]);
    const server = await startTdsServer(() => [change, done()]);
    onTestFinished(() => server.close());
    const url = `sqlserver://reader:tds-test-password@127.0.0.1:${server.port}/shop`;
    expect(await problemOf(read({ url }, 'select 1'))).toMatchObject({ code: 'DB_NO_RESULT' });
    expect(printed).not.toHaveBeenCalled();
  },
);

it("suppresses the SQL Server driver's warning about old servers", async () => {
  const server = await startTdsServer(() => [done()]);
  onTestFinished(() => server.close());
  await problemOf(read({ url: `sqlserver://reader:tds-test-password@127.0.0.1:${server.port}/shop` }, 'select 1'));
  const { tds71DeprecationWarning } = createRequire(import.meta.url)('tedious/lib/token/handler') as {
    tds71DeprecationWarning: { emit(): void };
  };
  const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  tds71DeprecationWarning.emit();
  expect(warned).not.toHaveBeenCalled();
});
