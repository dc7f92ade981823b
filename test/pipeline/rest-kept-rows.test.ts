import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import rest from '../../connectors/simple_rest/index.ts';
import type { WriteRule } from '../../src/kept-rows/write-rule.ts';
import type { DraftPayload } from '../../src/pipeline/payload.ts';
import { runPipeline } from '../../src/pipeline/run-pipeline.ts';
import type { RunWarning } from '../../src/sdk/index.ts';
import { contextOf } from '../connectors/harness.ts';
import { sendJson, TestServer } from '../connectors/http-server.ts';
import { forTest } from '../journey/process.ts';
import { extractOf, rig, temporaryFolder } from './rig.ts';

type Item = Readonly<Record<string, unknown>>;

let server: TestServer;
/** What the API returns next: records, or their JSON. */
let items: readonly (Item | string)[];

beforeEach(async () => {
  server = await new TestServer().start();
  forTest(() => server.stop());
  server.answer = (_, response) => sendJson(response, `[${items.map(asJson).join()}]`);
});

/** JSON with every digit of a bigint. A string is JSON already. */
function asJson(value: unknown): string {
  if (typeof value === 'string') return value;
  const text = JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `#${one}#` : one));
  return text.replaceAll(/"#(\d+)#"/g, '$1');
}

/** Runs of a job that reads an API, each from where the last one ended. */
function job(write: WriteRule, more: Item = {}) {
  const folder = join(temporaryFolder(), 'sets');
  const asked = { path: '/x', parameters: [{ name: 'since', value: '{{ since }}' }], cursor: 'at', ...more };
  const { source, query } = contextOf(rest, { source: { url: server.url }, query: asked, folder });
  let runs = 0;
  let warnings: RunWarning[] = [];
  let last: Pick<DraftPayload, 'manifest' | 'watermark'> = {};
  return {
    watermark: () => last.watermark,
    warned: () => warnings.map(({ code }) => code),
    /** The lines of the result; undefined if nothing changed. */
    run: async (given: readonly (Item | string)[]) => {
      items = given;
      const { manifest: current, watermark } = last;
      const run = `r${++runs}`;
      const extract = extractOf(rest as never, {
        source: { name: 'api', connector: rest as never, options: source },
        query,
        write,
      });
      warnings = [];
      const result = await runPipeline({
        ...rig(extract, { run, warn: (one) => warnings.push(one) }).given,
        ...(watermark === undefined ? {} : { watermark }),
        keptRows: { folder, run, mustSend: current === undefined, ...(current === undefined ? {} : { current }) },
      });
      if ('unchanged' in result) return undefined;
      last = { ...result, watermark: result.watermark ?? watermark };
      const { path } = await result.seal();
      return (await readFile(path, 'utf8')).split('\n').slice(0, -2);
    },
  };
}

const merge: WriteRule = { disposition: 'merge', key: ['id'] };
const append: WriteRule = { disposition: 'append', key: [] };

describe('the first run', () => {
  it('can be empty, whatever columns the rule names', async () => {
    const rule: WriteRule = {
      ...merge,
      deleted: 'gone',
      retain: { column: 'at', within: { count: 9e4, unit: 'days' }, rows: 2 },
    };
    const orders = job(rule);
    expect(await orders.run([])).toEqual(['']);
    expect(await orders.run([])).toBeUndefined();
    expect(await orders.run([{ id: 1, at: '2026-01-01', gone: false }])).toEqual(['id|at|gone', '1|2026-01-01|false']);
  });

  it('reports a column that the rule names but no record has', async () => {
    const rule: WriteRule = { ...merge, retain: { column: 'att', within: { count: 90, unit: 'days' } } };
    await expect(job(rule).run([{ id: 1, at: '2026-01-01' }])).rejects.toMatchObject({
      code: 'SET_NO_COLUMN',
      where: { column: 'att' },
    });
  });
});

/** Records with an ID and a cursor value. */
const item = (id: number, more: Item = {}): Item => ({ id, at: `2026-01-01T00:00:0${id}Z`, ...more });

describe('a key that no record of a run has', () => {
  it('is null, also if it marks deletions or determines the age of a row', async () => {
    const rule: WriteRule = {
      ...merge,
      deleted: 'gone',
      retain: { column: 'day', within: { count: 9e4, unit: 'days' } },
    };
    const orders = job(rule);
    await orders.run([item(1, { gone: false, day: '2026-01-01', note: 'a' })]);
    expect(await orders.run([item(2)])).toEqual([
      'id|at|gone|day|note',
      '1|2026-01-01T00:00:01Z|false|2026-01-01|a',
      '2|2026-01-01T00:00:02Z|-|-|-',
    ]);
    expect(await orders.run([item(3), item(1, { at: '2026-01-01T00:00:04Z', gone: true })])).toHaveLength(3);
  });

  it('may be one that only deleted records have, as long as none is deleted', async () => {
    const orders = job({ ...merge, deleted: 'removed' });
    expect(await orders.run([item(1), item(2)])).toHaveLength(3);
    expect(orders.warned()).toEqual(['SET_NO_DELETED']);
    expect(await orders.run([item(1, { at: '2026-01-01T00:00:03Z', removed: true })])).toEqual([
      'id|at|removed',
      '2|2026-01-01T00:00:02Z|-',
    ]);
    expect(await orders.run([item(4)])).toHaveLength(3);
    expect(orders.warned()).toEqual([]);
  });

  it('is not a lost column, unless a record may have come again without it', async () => {
    const orders = job(append);
    const price = { price: 5 };
    await orders.run([item(1, price), item(2)]);
    expect(await orders.run([item(2), item(3)])).toHaveLength(4);
    expect(await orders.run([item(3), item(4, price)])).toHaveLength(5);
    // This record may be the last one without its price, or a new one in its place.
    await expect(orders.run([item(4), item(5)])).rejects.toMatchObject({
      code: 'SET_ROWS_AGAIN',
      seen: expect.stringContaining('"price"'),
    });
    expect(await orders.run([item(4, price), item(5)])).toHaveLength(6);
    expect(await orders.run([item(6)])).toHaveLength(7);
  });

  it('is not a lost column either if its values become text and the record comes again with its own', async () => {
    const orders = job(append);
    const priced = '{"id":1,"at":"2026-01-01T00:00:01Z","price":1.50}';
    await orders.run([priced]);
    expect(await orders.run([priced, item(2, { price: 'on request' })])).toEqual([
      'id|at|price',
      '1|2026-01-01T00:00:01Z|1.50',
      '2|2026-01-01T00:00:02Z|on request',
    ]);
    expect(await orders.run([item(2, { price: 'on request' }), item(3, { price: '1.50' })])).toHaveLength(4);
    await expect(orders.run([item(3, { price: '1.5' })])).resolves.toHaveLength(5);
  });

  it('does not become a column because its object is null, or lose the values inside it', async () => {
    const orders = job(merge);
    await orders.run([item(1, { address: { city: 'Bern', zip: 3000 } })]);
    expect(await orders.run([item(2, { address: null })])).toEqual([
      'id|at|address.city|address.zip',
      '1|2026-01-01T00:00:01Z|Bern|3000',
      '2|2026-01-01T00:00:02Z|-|-',
    ]);
  });

  it('is an error if it identifies or orders the records', async () => {
    const orders = job(merge);
    await orders.run([item(1)]);
    await expect(orders.run([{ at: '2026-01-01T00:00:02Z' }])).rejects.toMatchObject({
      code: 'SET_KEY_NULL',
      where: { column: 'id' },
    });
    await expect(orders.run([{ id: 2 }])).rejects.toMatchObject({ code: 'REST_NO_CURSOR', allowed: 'id' });
    expect(await orders.run([])).toBeUndefined();
  });
});

describe('a record that a response lacks', () => {
  it('is not appended again when it is back within the lag', async () => {
    const orders = job(append, { lag: '5s' });
    await orders.run([item(1), item(2)]);
    expect(await orders.run([item(1), item(3)])).toHaveLength(4);
    expect(await orders.run([item(4)])).toHaveLength(5);
    expect(await orders.run([item(1), item(2), item(3), item(4)])).toBeUndefined();
    expect(await orders.run([item(2), item(4), item(5)])).toHaveLength(6);
    expect(await orders.run([item(2), item(2), item(5)])).toHaveLength(7);
  });

  it('is forgotten behind the lag', async () => {
    const orders = job(append, { lag: '2s' });
    await orders.run([item(1), item(2)]);
    await orders.run([item(3)]);
    expect(orders.watermark()).toContain('missing');
    await orders.run([item(9)]);
    expect(orders.watermark()).not.toContain('missing');
  });
});

describe('a key whose values have other types than in earlier runs', () => {
  it('becomes a column of a type that fits all values, and keeps every digit', async () => {
    const orders = job(merge);
    await orders.run([item(1, { n: 12345678901234567890n, sku: 'A1', flag: true, part: 1.5 })]);
    await orders.run([item(2, { n: 1, sku: 7, flag: false, part: 2 })]);
    await orders.run([item(3, { n: 0.1, sku: 8.5, flag: 'maybe', part: 'n/a' })]);
    expect(await orders.run([item(4, { n: 2, sku: 9, flag: true, part: 3 })])).toEqual([
      'id|at|n|sku|flag|part',
      '1|2026-01-01T00:00:01Z|12345678901234567890|A1|true|1.5',
      '2|2026-01-01T00:00:02Z|1|7|false|2',
      '3|2026-01-01T00:00:03Z|0.1|8.5|maybe|n/a',
      '4|2026-01-01T00:00:04Z|2|9|true|3',
    ]);
  });

  it('keeps an empty object in a column that also has objects with keys', async () => {
    for (const [first, kept] of [
      [5, '5'],
      [true, 'true'],
      [null, '-'],
    ] as const) {
      const orders = job(merge);
      await orders.run([item(1, { a: first })]);
      await orders.run([item(2, { a: { x: 1 } })]);
      await orders.run([item(3, { a: {} })]);
      expect((await orders.run([item(4, { a: {} }), item(5, { a: null })]))!.slice(1)).toEqual([
        `1|2026-01-01T00:00:01Z|${kept}|-`,
        '2|2026-01-01T00:00:02Z|-|1',
        '3|2026-01-01T00:00:03Z|{}|-',
        '4|2026-01-01T00:00:04Z|{}|-',
        '5|2026-01-01T00:00:05Z|-|-',
      ]);
    }
  });

  it('is an error if the kept values would have to change, which names the line that avoids it', async () => {
    const tags = [item(1, { tags: 'new' }), item(2, { tags: ['new', 'old'] })] as const;
    const orders = job(merge);
    await orders.run([tags[0]]);
    await expect(orders.run([tags[1]])).rejects.toMatchObject({
      code: 'SET_COLUMN_TYPE',
      next: expect.stringContaining('`types: {"tags": json}`'),
    });
    const declared = job(merge, { types: { tags: 'json' } });
    await declared.run([tags[0]]);
    expect((await declared.run([tags[1]]))!.slice(1)).toEqual([
      '1|2026-01-01T00:00:01Z|"new"',
      '2|2026-01-01T00:00:02Z|["new","old"]',
    ]);
  });

  it('is an error if it identifies or orders the records, which names the line that avoids it', async () => {
    const orders = job(merge);
    await orders.run([item(1)]);
    await expect(orders.run([item(2, { id: 'B2' })])).rejects.toMatchObject({
      code: 'SET_COLUMN_TYPE',
      next: expect.stringContaining('`types: {"id": text}`'),
    });
    const numbered = job(merge);
    await numbered.run([{ id: 1, at: 1 }]);
    await expect(numbered.run([{ id: 2, at: 1.5 }])).rejects.toMatchObject({
      code: 'CURSOR_TYPE',
      next: expect.stringContaining('`types: {"at": decimal}`'),
    });
    const exact = job(merge);
    await exact.run([{ id: 1, at: 1.5 }]);
    expect(await exact.run([{ id: 2, at: 2 }])).toEqual(['id|at', '1|1.5', '2|2']);
    const texts = job(append);
    await texts.run([{ id: 1, at: '1.5' }]);
    expect(await texts.run([{ id: 2, at: '2' }])).toEqual(['id|at', '1|1.5', '2|2']);
  });
});
