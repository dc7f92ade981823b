import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { batchText } from '#sdk';
import { BatchQueue } from '../../connectors/db/batch-queue.ts';
import { BatchMaker } from '../../connectors/db/cells.ts';
import { MysqlInterceptor } from '../../connectors/db/mysql-interceptor.ts';
import { SpanBlock } from '../../connectors/db/span-block.ts';
import fc from '../property.ts';

const longest = 0xffffff;
type Row = readonly (string | null)[];

/** What a server sends after a statement, packet by packet; payloads of 16 MB or more take several packets. */
function packets(payloads: readonly Buffer[], first = 1): Buffer {
  let number = first;
  const packet = (payload: Buffer) => {
    const head = Buffer.alloc(4);
    head.writeUIntLE(payload.length, 0, 3);
    head[3] = number++;
    return [head, payload];
  };
  const parts = payloads.flatMap((payload) => {
    const pieces: Buffer[] = [];
    for (let at = 0; at <= payload.length; at += longest) pieces.push(payload.subarray(at, at + longest));
    return pieces.flatMap(packet);
  });
  return Buffer.concat(parts);
}

function lengthOf(bytes: number): Buffer {
  if (bytes < 0xfb) return Buffer.of(bytes);
  const head = Buffer.alloc(bytes < 0x10000 ? 3 : bytes < 0x1000000 ? 4 : 9);
  head[0] = { 3: 0xfc, 4: 0xfd, 9: 0xfe }[head.length]!;
  head.writeUIntLE(bytes, 1, Math.min(6, head.length - 1));
  return head;
}

function rowOf(cells: Row): Buffer {
  const parts = cells.flatMap((cell) => {
    const bytes = Buffer.from(cell ?? '');
    return cell === null ? [Buffer.of(0xfb)] : [lengthOf(bytes.length), bytes];
  });
  return Buffer.concat(parts);
}

const count = Buffer.of(1);
const column = Buffer.from('a column, as far as anybody here looks');
const eof = Buffer.of(0xfe, 0, 0, 2, 0);
const killed = Buffer.from('\xff\x25\x05#70100Query execution was interrupted', 'latin1');
const result = (rows: readonly Row[]): Buffer[] => [count, column, eof, ...rows.map(rowOf), eof];

/** An interceptor whose driver reports when the columns are known, as mysql2 does. */
function tapped(width: number) {
  const stream = new PassThrough();
  const forwarded: Buffer[] = [];
  const faults: unknown[] = [];
  const queue = new BatchQueue({ pause: () => {}, resume: () => {} });
  const columns = Array.from({ length: width }, (_, i) => ({ column: { name: `c${i}`, type: 'text' as const } }));
  const block = new SpanBlock(new BatchMaker(columns), queue);
  const parser = (bytes: Buffer) => {
    forwarded.push(bytes);
    if (bytes.subarray(4).equals(column)) tap.begin(block, width);
  };
  stream.on('data', parser);
  const tap = new MysqlInterceptor({ wire: { stream, parser }, onFault: (thrown) => faults.push(thrown) });
  const rows = async () => {
    queue.end();
    const all: Row[] = [];
    for (let batch = await queue.next(); batch !== undefined; batch = await queue.next()) all.push(...batchText(batch));
    return all;
  };
  const send = (bytes: Buffer, size = bytes.length) => {
    for (let at = 0; at < bytes.length; at += size) stream.emit('data', bytes.subarray(at, at + size));
  };
  return { tap, rows, forwarded, faults, send, parser, stream, block };
}

const table = Array.from({ length: 3000 }, (_, i): Row => [String(i), i % 3 === 0 ? null : 'ü'.repeat(i % 200), '']);
const wire = packets(result(table));
/** mysql2 receives sequence numbers without gaps. */
const others = packets([count, column, eof, eof]);

for (const size of [1, 2, 3, 7, 1000, 65_536, wire.length]) {
  it(`parses the same rows if ${size} bytes arrive at a time, and passes everything else to mysql2`, async () => {
    const { rows, forwarded, send, faults } = tapped(3);
    send(wire, size);
    expect(await rows()).toEqual(table);
    expect(Buffer.concat(forwarded)).toEqual(others);
    expect(faults).toEqual([]);
  });
}

it('parses the same rows no matter how the bytes are split', async () => {
  const cell = fc.option(
    fc.oneof(
      fc.string(),
      fc.integer({ min: 200, max: 70_000 }).map((n) => 'x'.repeat(n)),
    ),
  );
  const given = fc
    .integer({ min: 1, max: 4 })
    .chain((width) =>
      fc.tuple(
        fc.constant(width),
        fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 20 }),
        fc.integer({ min: 1, max: 100_000 }),
      ),
    );
  await fc.assert(
    fc.asyncProperty(given, async ([width, cells, size]) => {
      const { rows, forwarded, send } = tapped(width);
      send(packets(result(cells)), size);
      expect(await rows()).toEqual(cells.map((row) => row.map((text) => text?.toWellFormed() ?? null)));
      expect(Buffer.concat(forwarded)).toEqual(others);
    }),
  );
});

// A row of exactly this many bytes ends with an empty packet; a row with a cell of 16 MB starts like the end of the
// rows.
for (const bytes of [longest - 1, longest, longest + 1, 2 * longest, 2 * longest + 50]) {
  it(`reassembles a row of ${bytes} bytes from its packets`, async () => {
    const heads = bytes < longest + 10 ? 4 : 9;
    const giant: Row = ['x'.repeat(bytes - heads - 8), 'behind', null];
    expect(rowOf(giant)).toHaveLength(bytes);
    const sent: Row[] = [['a', 'b', null], giant, ['c', null, 'd']];
    const { rows, forwarded, send, faults } = tapped(3);
    send(packets(result(sent)), 65_536);
    expect(faults).toEqual([]);
    expect(await rows()).toEqual(sent);
    expect(Buffer.concat(forwarded)).toEqual(others);
  });
}

it('forwards an error between rows, regardless of its sequence number', async () => {
  const { forwarded, send, faults } = tapped(1);
  const before = packets([count, column, eof, rowOf(['a'])]);
  send(Buffer.concat([before, packets([killed], 0)]));
  expect(forwarded.at(-1)!.subarray(4)).toEqual(killed);
  expect(faults).toEqual([]);
});

it('forwards all packets after the rows', async () => {
  const { rows, forwarded, send } = tapped(1);
  const ok = Buffer.of(0, 0, 0, 2, 0, 0, 0);
  send(packets([...result([['a'], ['b']]), ok]), 3);
  expect(await rows()).toEqual([['a'], ['b']]);
  expect(Buffer.concat(forwarded)).toEqual(packets([count, column, eof, eof, ok]));
});

it("doesn't modify bytes that it has already forwarded", () => {
  const { forwarded, send } = tapped(3);
  for (const _ of [1, 2, 3]) send(wire, 1000);
  expect(Buffer.concat(forwarded.slice(0, 4))).toEqual(others);
});

it.each([
  ['fewer columns than announced', [rowOf(['a'])]],
  ['more columns than announced', [rowOf(['a', 'b', 'c'])]],
  ['a cell that is longer than its row', [Buffer.of(1, 97, 200, 98)]],
  ['a length that exceeds any memory', [Buffer.of(1, 97, 0xfe, 255, 255, 255, 255, 255, 255, 255, 255)]],
  ['nothing at all', [Buffer.alloc(0)]],
])('reports a row with %s', (_, sent) => {
  const { send, faults } = tapped(2);
  send(packets([count, column, eof, ...sent, Buffer.of(0xff, 0xfe)]));
  expect(faults[0]).toMatchObject({ code: 'DB_PROTOCOL', family: 'try_later' });
});

it.each([
  ['row', rowOf(['b'])],
  ['end', eof],
])('reports a missing packet before a %s', (_, next) => {
  const { send, faults } = tapped(1);
  send(Buffer.concat([packets([count, column, eof, rowOf(['a'])]), packets([next], 6)]));
  expect(faults).toMatchObject([{ code: 'DB_PROTOCOL', family: 'try_later' }]);
});

it('stops reading when the reader is closed', async () => {
  const { tap, rows, forwarded, send, faults } = tapped(3);
  send(wire.subarray(0, 100));
  const before = forwarded.length;
  tap.drop();
  send(wire.subarray(100), 70_000);
  send(Buffer.alloc(1_000_000));
  expect(await rows()).toEqual([]);
  expect([forwarded.length, faults]).toEqual([before, []]);
});

it('once released, passes everything to mysql2, including partial packets', () => {
  const { tap, forwarded, send, parser, stream } = tapped(3);
  const quit = packets([Buffer.from('more')], 7);
  send(Buffer.concat([wire, quit.subarray(0, 5)]));
  tap.release();
  send(quit.subarray(5));
  expect(Buffer.concat(forwarded)).toEqual(Buffer.concat([others, quit]));
  expect(stream.listeners('data')).toEqual([parser]);
});
