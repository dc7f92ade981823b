import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { batchText } from '#sdk';
import { BatchQueue } from '../../connectors/db/batch-queue.ts';
import { BatchMaker } from '../../connectors/db/cells.ts';
import { PostgresInterceptor } from '../../connectors/db/postgres-interceptor.ts';
import { SpanBlock } from '../../connectors/db/span-block.ts';

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

function dataRow(cells: readonly (string | null)[]): Buffer {
  const count = Buffer.alloc(2);
  count.writeInt16BE(cells.length);
  const parts = cells.flatMap((cell) => {
    const length = Buffer.alloc(4);
    length.writeInt32BE(cell === null ? -1 : Buffer.byteLength(cell));
    return cell === null ? [length] : [length, Buffer.from(cell)];
  });
  return message('D', Buffer.concat([count, ...parts]));
}

const notice = message('N', Buffer.from('between the rows\0'));
const complete = message('C', Buffer.from('SELECT\0'));

function tapped(width: number) {
  const stream = new PassThrough();
  const forwarded: Buffer[] = [];
  const faults: unknown[] = [];
  const parser = (bytes: Buffer) => {
    forwarded.push(Buffer.from(bytes));
  };
  stream.on('data', parser);
  const queue = new BatchQueue({ pause: () => {}, resume: () => {} });
  const columns = Array.from({ length: width }, (_, i) => ({ column: { name: `c${i}`, type: 'text' as const } }));
  const block = new SpanBlock(new BatchMaker(columns), queue);
  const tap = new PostgresInterceptor({
    wire: { stream, parser },
    block,
    width,
    onFault: (thrown) => faults.push(thrown),
  });
  stream.emit('data', message('2', Buffer.alloc(0)));
  forwarded.length = 0;
  const rows = async () => {
    tap.flush();
    queue.end();
    const all: (string | null)[][] = [];
    for (let batch = await queue.next(); batch !== undefined; batch = await queue.next()) all.push(...batchText(batch));
    return all;
  };
  return { tap, queue, rows, forwarded, faults, send: (bytes: Buffer) => stream.emit('data', bytes), parser, stream };
}

it('reuses a few blocks while the reader keeps up, without overwriting rows that are still being read', async () => {
  const { queue, send } = tapped(2);
  const rowOf = (n: number) => [String(n), 'x'.repeat(500)];
  const blocks = new Set<Buffer>();
  let sent = 0;
  let seen = 0;
  const sendBlock = () => {
    for (let i = 0; i < 512; i++) send(dataRow(rowOf(sent++)));
  };
  sendBlock();
  for (let turn = 0; turn < 100; turn++) {
    const batch = (await queue.next())!;
    sendBlock();
    expect(batchText(batch)).toEqual(Array.from({ length: batch.length }, (_, i) => rowOf(seen + i)));
    seen += batch.length;
    for (const cells of batch.cells) if (cells.kind === 'bytes') blocks.add(cells.bytes);
  }
  expect(seen).toBeGreaterThan(40_000);
  expect(blocks.size).toBeLessThan(16);
});

const table = Array.from({ length: 3000 }, (_, i) => [String(i), i % 3 === 0 ? null : 'ü'.repeat(i % 50), '']);
const wire = Buffer.concat([...table.slice(0, 7).map(dataRow), notice, ...table.slice(7).map(dataRow), complete]);

for (const size of [1, 2, 3, 7, 1000, 65_536, wire.length]) {
  it(`parses the same rows if ${size} bytes arrive at a time`, async () => {
    const { rows, forwarded, send, faults } = tapped(3);
    for (let at = 0; at < wire.length; at += size) send(wire.subarray(at, at + size));
    expect(await rows()).toEqual(table);
    expect(forwarded).toEqual([notice, complete]);
    expect(faults).toEqual([]);
  });
}

it('keeps a row of many megabytes in one piece', async () => {
  const giant = 'x'.repeat(20_000_000);
  const { rows, send } = tapped(2);
  const bytes = Buffer.concat([dataRow(['a', 'b']), dataRow([giant, 'behind']), dataRow(['c', null])]);
  for (let at = 0; at < bytes.length; at += 65_536) send(bytes.subarray(at, at + 65_536));
  const found = await rows();
  expect(found.map(([first]) => first?.length)).toEqual([1, giant.length, 1]);
  expect(found[1]![1]).toBe('behind');
});

it('counts rows without columns', async () => {
  const { rows, send } = tapped(0);
  send(Buffer.concat([dataRow([]), dataRow([]), dataRow([])]));
  expect(await rows()).toEqual([[], [], []]);
});

it("never changes a batch's bytes after passing the batch on", async () => {
  const { rows, send } = tapped(3);
  for (let i = 0; i < 20; i++) send(wire.subarray(0, wire.length - complete.length));
  expect(await rows()).toEqual(Array.from({ length: 20 }, () => table).flat());
});

it('once released, passes everything to pg, including partial messages', () => {
  const { tap, forwarded, send, parser, stream } = tapped(1);
  const half = complete.subarray(0, 3);
  send(Buffer.concat([dataRow(['a']), half]));
  expect(forwarded).toEqual([]);
  tap.release();
  send(complete.subarray(3));
  expect(Buffer.concat(forwarded)).toEqual(complete);
  expect(stream.listeners('data')).toEqual([parser]);
});

it('forwards the bytes after the message that released it', () => {
  const { tap, forwarded, send, stream, parser } = tapped(1);
  const ready = message('Z', Buffer.from('I'));
  const before = forwarded.push.bind(forwarded);
  forwarded.push = (...items) => {
    if (items[0]?.equals(ready)) tap.release();
    return before(...items);
  };
  send(Buffer.concat([dataRow(['a']), complete, ready, notice, complete.subarray(0, 3)]));
  send(complete.subarray(3));
  expect(Buffer.concat(forwarded)).toEqual(Buffer.concat([complete, ready, notice, complete]));
  expect(stream.listeners('data')).toEqual([parser]);
});

it('reports a row with a different number of columns than announced', () => {
  const { send, faults } = tapped(2);
  send(dataRow(['a']));
  expect(faults).toMatchObject([{ code: 'DB_PROTOCOL', family: 'try_later' }]);
});
