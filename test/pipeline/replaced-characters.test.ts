import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import csv from '../../src/formats/all/csv.ts';
import json from '../../src/formats/all/json.ts';
import xml from '../../src/formats/all/xml.ts';
import type { Format } from '../../src/formats/format.ts';
import { formats } from '../../src/formats/index.ts';
import { RunWarnings } from '../../src/lib/run-warnings.ts';
import {
  batchOf,
  type Column,
  type Connector,
  readRecords,
  recordOptions,
  type Value,
  withDefaults,
} from '../../src/sdk/index.ts';
import { guardsOf } from '../config/fixtures.ts';
import { inputOf } from '../sdk/inputs.ts';
import { transformById } from '../transforms/rig.ts';
import { columns, connectorOf, extractOf, rig, rowsConnector, sealedRun } from './rig.ts';

/** Runs a job; returns its warnings. */
async function warningsOf(
  connector: Connector,
  { format, limit, guards = {} }: { format: Format; limit?: number; guards?: object },
) {
  const transforms = limit === undefined ? [] : [{ transform: transformById('limit'), given: limit }];
  const formatOptions = withDefaults(format.options, {});
  const warnings = new RunWarnings(undefined, guardsOf(guards, undefined));
  const { given } = rig(extractOf(connector, { format, formatOptions, transforms }), { warn: warnings.add });
  const run = sealedRun(given);
  const refusal = await run.then(
    () => undefined,
    (error: unknown) => error,
  );
  const left = existsSync(given.spool) ? readdirSync(given.spool) : [];
  return { list: warnings.list, refusal, left };
}

/** A source whose strings come from a json document. */
function jsonConnector(document: string, found: readonly Column[] = columns): Connector {
  return connectorOf(async function* ({ warn }) {
    const settings = { ...withDefaults(recordOptions, {}), format: 'json' as const, warn };
    const { batches } = await readRecords([inputOf(document)], settings);
    for await (const batch of batches) yield { ...batch, columns: found };
  }, found);
}

const halves: readonly (readonly Value[])[] = [
  [1, 'fine 😀 \ufffd'],
  [2, 'x\ud83dy'],
  [3, '\udc00\ud83d, longer than twelve'],
];
const said = (count: string, row: number) => ({
  code: 'CHARACTERS_REPLACED',
  message: `${count} that UTF-8 or XML cannot represent became U+FFFD; the first one is in row ${row}, column "name"`,
  next: expect.any(String),
  replaced: true,
});

test.each(formats)('lone surrogates are counted in $id output', async (format) => {
  const { list } = await warningsOf(rowsConnector(halves.slice(0, 1), halves.slice(1)), { format });
  expect(list).toEqual([{ ...said('3 characters', 2), seen: 'U+D83D' }]);
});

test("characters that XML can't represent are counted in XML output, and kept in CSV and JSON output", async () => {
  const rows = [
    [1, 'a\tb\n<&>'],
    [2, '\ufffd \uffee'],
    [3, 'x\u0001\ufffey'],
    [4, `${'z'.repeat(300_000)}\uffff`],
  ] as const;
  const asBytes = connectorOf(async function* () {
    const cells = rows.map(([, text]) => Buffer.from(text));
    const bytes = Buffer.concat(cells);
    const spans = new Int32Array(2 * cells.length);
    let at = 0;
    for (const [i, { length }] of cells.entries()) {
      spans.set([at, at + length], 2 * i);
      at += length;
    }
    const name = { kind: 'bytes', bytes, spans, stride: 1, slot: 0 } as const;
    yield { columns, length: 4, cells: [{ kind: 'values', values: [1, 2, 3, 4] }, name] };
  });
  for (const connector of [rowsConnector(rows), asBytes]) {
    expect((await warningsOf(connector, { format: xml })).list).toEqual([
      { ...said('3 characters', 3), seen: 'U+0001' },
    ]);
    for (const format of [csv, json]) expect((await warningsOf(connector, { format })).list).toEqual([]);
  }
});

test('a lone surrogate escape in a JSON document is counted once, whatever the output format', async () => {
  const document = '[{"id":1,"name":"\\ud83d\\ude00"},{"id":2,"name":"\\ud83d \\u0041\\ude00"}]';
  for (const format of formats) {
    const { list } = await warningsOf(jsonConnector(document), { format });
    expect(list).toEqual([{ ...said('2 characters', 2), seen: 'U+D83D' }]);
  }
});

test.each([undefined, 2])(
  'a job with `guards: {exact: true}` and a limit of %s rejects a result with replaced characters',
  async (limit) => {
    const document = JSON.stringify(halves.map(([id, name]) => ({ id, name })));
    for (const connector of [rowsConnector(halves), jsonConnector(document)]) {
      const { refusal, left } = await warningsOf(connector, {
        format: csv,
        guards: { exact: true },
        ...(limit === undefined ? {} : { limit }),
      });
      expect(refusal).toMatchObject({
        code: 'CHARACTERS_REPLACED',
        family: 'job',
        next: expect.stringContaining('`guards: {exact: true}`'),
      });
      expect(left).toEqual([]);
    }
    const clean = await warningsOf(rowsConnector(halves.slice(0, 1)), { format: xml, guards: { exact: true } });
    expect(clean).toMatchObject({ list: [], refusal: undefined });
  },
);

const integers = (...names: readonly string[]): Column[] => names.map((name) => ({ name, type: 'integer' }));
const saidOfName = (name: string, seen: string) => ({
  code: 'CHARACTERS_REPLACED',
  message: `a character that UTF-8 or XML cannot represent was replaced in the column name ${JSON.stringify(name)}`,
  seen,
  next: expect.any(String),
  replaced: true,
});

/** A source whose keys contain lone surrogates, once at the top level and once in a nested object's key. */
const oddKeys = jsonConnector(
  '[{"id":1,"x\\ud83d":2,"\\udc00":{"y":3}},{"id":1,"x\\ud83d":2,"\\udc00":{"y":3}}]',
  integers('id', 'x\ufffd', '\ufffd.y'),
);
/** A source that returns such names as JavaScript strings. */
const odd = integers('id', 'x\ud83d', 'a\u0001');
const oddNames = connectorOf(async function* () {
  yield batchOf(odd, [[1, 2, 3]]);
}, odd);

test.each(formats)('each column name with a replaced character is reported once in $id output', async (format) => {
  expect((await warningsOf(oddKeys, { format })).list).toEqual([
    saidOfName('x\ufffd', 'U+D83D'),
    saidOfName('\ufffd.y', 'U+DC00'),
  ]);
  expect((await warningsOf(oddNames, { format })).list).toEqual([
    saidOfName('x\ud83d', 'U+D83D'),
    ...(format.id === 'xml' ? [saidOfName('a\u0001', 'U+0001')] : []),
  ]);
});

test('a job with `guards: {exact: true}` rejects a result with a replaced character in a column name', async () => {
  for (const connector of [oddKeys, oddNames]) {
    const { refusal, left } = await warningsOf(connector, { format: csv, guards: { exact: true } });
    expect(refusal).toMatchObject({ code: 'CHARACTERS_REPLACED', family: 'job' });
    expect(left).toEqual([]);
  }
});
