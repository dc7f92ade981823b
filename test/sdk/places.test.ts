import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/lib/problem.ts';
import { type RecordFormat, recordOptions, recordReader, withDefaults } from '../../src/sdk/index.ts';
import { placeFault, recordsFault } from '../../src/sdk/places/place.ts';
import { inputOf, readTable } from './inputs.ts';

/** The values at places in a document, read in blocks of every size. */
async function valuesIn(text: string, format: RecordFormat, records: string | undefined, values: readonly string[]) {
  let found: Record<string, unknown> | undefined;
  for (const blockBytes of [1, 7, 1000]) {
    const settings = { ...withDefaults(recordOptions, { records }), format, blockBytes };
    const reader = await recordReader(settings);
    const survey = await reader.survey(inputOf(text, 5), { count: true, values });
    const all = Object.fromEntries(survey.values);
    if (found !== undefined) expect(all).toEqual(found);
    found = all;
  }
  return found;
}

describe('a place in JSON', () => {
  const text = JSON.stringify({
    meta: { next: 'abc', 'a.b': { c: 1 }, counts: [7, 8] },
    links: [
      { rel: 'self', href: '/1' },
      { rel: 'next', page: 2, href: '/2' },
    ],
    data: [
      { id: 1, sort: [1, 'x'] },
      { id: 2, sort: [2, { y: null }] },
    ],
    'odata.next': '/n',
  });
  it.each([
    ['meta.next', 'abc'],
    ['$.meta.next', 'abc'],
    ["$['meta']['next']", 'abc'],
    ['meta.counts.1', 8],
    ['meta.counts[1]', 8],
    ['meta.counts[-1]', 8],
    ['meta.counts[*]', 7],
    ['meta.a.b.c', 1],
    ["meta['a.b'].c", 1],
    ['odata.next', '/n'],
    ["links[?@.rel=='next'].href", '/2'],
    ["$.links[?(@.rel == 'next' && @.page != 3)].href", '/2'],
    ['links[?@.page].href', '/2'],
    ['links[?@.page==2].href', '/2'],
    ["links[?@.rel=='last'].href", undefined],
    ["links[?@.rel!='x'].href", '/1'],
    ['links[-1].href', '/2'],
    ['data[-1].id', 2],
    ['data[-1].sort', [2, { y: null }]],
    ['last_record().sort[0]', 2],
    ['last_record()', { id: 2, sort: [2, { y: null }] }],
    ['links', JSON.parse(text).links],
    ['data.1.id', undefined],
    ['meta.nxt', undefined],
  ])('%s leads to %j', async (place, value) => {
    expect(await valuesIn(text, 'json', 'data', [place])).toEqual(value === undefined ? {} : { [place]: value });
  });

  it('is null if a filter matches no item of a list, unless an item leads to the next page', async () => {
    const place = "links[?@.rel=='next'].href";
    expect(await valuesIn('{"links":[{"rel":"self"}],"data":[]}', 'json', 'data', [place])).toEqual({ [place]: null });
    expect(await valuesIn('{"links":[],"data":[]}', 'json', 'data', [place])).toEqual({});
    expect(await valuesIn('{"links":[{"relation":"next"}],"data":[]}', 'json', 'data', [place])).toEqual({});
  });

  it('can be in a list that is too large to keep', async () => {
    const links = Array.from({ length: 40 }, (_, i) => ({
      rel: i === 20 ? 'next' : 'x',
      href: `/${i}`,
      y: 'y'.repeat(50_000),
    }));
    const places = ["links[?@.rel=='next'].href", 'links[-1].href', 'links.39.href', 'links'];
    const reader = await recordReader({ ...withDefaults(recordOptions, { records: 'data' }), format: 'json' });
    const input = inputOf(JSON.stringify({ links, data: [] }), 100_000);
    const { values } = await reader.survey(input, { count: true, values: places });
    expect([...values]).toEqual([
      ['links', ['…']],
      ["links[?@.rel=='next'].href", '/20'],
      ['links[-1].href', '/39'],
      ['links.39.href', '/39'],
    ]);
  });

  it('in the last record is found whether or not the records have the same structure', async () => {
    for (const odd of [-1, 0, 50, 98, 99]) {
      const data = Array.from({ length: 100 }, (_, i) => (i === odd ? { x: [], id: i } : { id: i, name: `é"${i}` }));
      const last = await valuesIn(JSON.stringify({ data, n: 1 }), 'json', 'data', ['last_record().id']);
      expect(last).toEqual({ 'last_record().id': 99 });
      const lines = data.map((one) => JSON.stringify(one)).join('\n');
      expect(await valuesIn(lines, 'jsonl', undefined, ['last_record().id'])).toEqual(last);
    }
  });

  it('keeps the digits of numbers', async () => {
    const found = await valuesIn('{"data":[{"id":12345678901234567890}]}', 'json', 'data', ['last_record().id']);
    expect(JSON.stringify(found)).toBe('{"last_record().id":12345678901234567890}');
  });
});

describe('a place in XML', () => {
  const text = `<?xml version="1.0"?><a:feed xmlns:a="urn:a" xmlns="urn:b" total="9">
    <a:link rel="self" href="/1"/><a:link rel="next" href="/2"/><a:page><no>3</no></a:page>
    <entry k="1"><id>7</id><p><q>x</q></p></entry><entry k="2"><id>8</id><p><q>y</q></p></entry><a:end> z </a:end></a:feed>`;
  it.each([
    ['feed.@total', '9'],
    ['feed.page.no', '3'],
    ['feed.page', { no: '3' }],
    ['a:feed.a:end', ' z '],
    ["feed.link[?@.@rel=='next'].@href", '/2'],
    ['feed.link[-1].@href', '/2'],
    ["feed.link[?@.@rel=='last'].@href", undefined],
    ['last_record().id', '8'],
    ['last_record().p.q', 'y'],
    ['last_record().@k', '2'],
    ['feed.entry', undefined],
  ])('%s leads to %j', async (place, value) => {
    expect(await valuesIn(text, 'xml', 'entry', [place])).toEqual(value === undefined ? {} : { [place]: value });
  });

  it('must not match several elements', async () => {
    await expect(valuesIn(text, 'xml', 'entry', ['feed.link.@href'])).rejects.toMatchObject({
      code: 'PLACE_AMBIGUOUS',
    });
  });
});

it('a place in the last record of CSV is a column', async () => {
  expect(
    await valuesIn('id,"a b"\n1,x\n2,"y,z"\n', 'csv', undefined, ['last_record().id', "last_record()['a b']"]),
  ).toEqual({
    'last_record().id': '2',
    "last_record()['a b']": 'y,z',
  });
});

describe('records selected by `*`', () => {
  const table = (value: unknown, given: Record<string, unknown>) =>
    readTable(inputOf(JSON.stringify(value), 3), 'json', { blockBytes: 5, ...given });

  it('are the members of an object, with their names in a column', async () => {
    const items = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`k"${i}`, { id: i, s: `é${i}` }]));
    for (const blockBytes of [5, 1 << 18]) {
      const { columns, rows } = await table(
        { n: 1, items, m: 2 },
        { records: 'items.*', key_column: 'key', blockBytes },
      );
      expect(columns.map(({ name }) => name)).toEqual(['key', 'id', 's']);
      expect(rows).toEqual(Object.entries(items).map(([key, { id, s }]) => [key, String(id), s]));
    }
    expect((await table({ items }, { records: 'items[*]' })).rows).toHaveLength(600);
    expect((await table(items, { records: '*' })).rows).toHaveLength(600);
  });

  it('can be in lists inside other lists', async () => {
    const orders = [{ lines: [{ a: 1 }, { a: 2 }] }, { lines: [] }, { lines: [{ a: 3 }] }];
    const rows = [['1'], ['2'], ['3']];
    expect((await table({ orders }, { records: 'orders.*.lines' })).rows).toEqual(rows);
    expect((await table({ orders }, { records: '$.orders[*].lines[*]' })).rows).toEqual(rows);
    const byYear = { y: { 2025: [{ a: 1 }, { a: 2 }], 2026: [{ a: 3 }] } };
    expect((await table(byYear, { records: 'y.*.*', key_column: 'year' })).rows).toEqual([
      ['2025', '1'],
      ['2025', '2'],
      ['2026', '3'],
    ]);
  });

  it('can be empty, but not missing', async () => {
    expect((await table({ items: {} }, { records: 'items.*' })).rows).toEqual([]);
    expect((await table({ orders: [] }, { records: 'orders.*.lines' })).rows).toEqual([]);
    const failed = (records: string) =>
      table({ orders: [{ lines: [] }] }, { records }).catch((error: Problem) => error);
    expect(await failed('orders.*.lnes')).toMatchObject({ code: 'RECORDS_NOT_FOUND' });
    expect(await failed('ordrs.*')).toMatchObject({
      code: 'RECORDS_NOT_FOUND',
      allowed: 'the document contains orders; did you mean "orders"?',
    });
  });

  it('have keys only in JSON', async () => {
    await expect(readTable(inputOf('a\n1\n'), 'csv', { records: 'a.*', key_column: 'k' })).rejects.toMatchObject({
      code: 'RECORDS_KEY_COLUMN',
    });
  });
});

describe('a text', () => {
  it.each([
    'a..b',
    'a[1:2]',
    'a[?@.b<3]',
    'a[',
    'a[b]',
    '.a',
    'a.',
    'links[rel=next].href',
    'header(',
    'a[-2]',
    "a['b",
  ])("isn't a place if it is %s", (text) => {
    expect(placeFault(text, '')).toContain('is not a valid path');
  });

  it('is no place if it selects from a list that contains the records', () => {
    expect(placeFault('pages[-1].next', 'pages.0.rows')).toContain('contains the records');
    expect(placeFault('pages[-1].next', 'rows')).toBeUndefined();
    expect(placeFault('rows[-1].id', 'rows')).toBeUndefined();
  });

  it("is no path of records if it doesn't select the same records on every page", () => {
    expect(recordsFault('a[?@.b].c')).toContain('no filters');
    expect(recordsFault('a[-1]')).toContain('no filters');
    expect(recordsFault('a[*].b')).toBeUndefined();
  });
});
