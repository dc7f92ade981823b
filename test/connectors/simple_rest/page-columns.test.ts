import { expect, it } from 'vitest';
import { sendJson } from '../http-server.ts';
import { faults, restBench } from './rig.ts';

const { server, extract, failure } = restBench();

it('values outside the records become columns, page by page', async () => {
  server.answer = (_, response, n) => {
    const rows = n < 3 ? [{ id: n }] : [];
    sendJson(response, {
      meta: { at: `day ${n}`, big: 1, none: null, list: [n] },
      rows,
      ...(n < 3 ? {} : { meta: {} }),
    });
  };
  const page_columns = { at: 'meta.at', none: 'meta.none', item: 'meta.list[0]', type: 'header(content-type)' };
  const { columns, rows } = await extract({ records: 'rows', paging: { kind: 'page' }, page_columns });
  expect(columns.map(({ name }) => name)).toEqual(['at', 'none', 'item', 'type', 'id']);
  expect(rows).toEqual([
    ['day 1', null, '1', 'application/json', '1'],
    ['day 2', null, '2', 'application/json', '2'],
  ]);
});

it('a value outside the records keeps its digits, also if it comes after the records, and can come from xml', async () => {
  server.answer = (_, response) => sendJson(response, '{"rows":[{"id":1}],"at":12345678901234567890.10}');
  expect((await extract({ records: 'rows', page_columns: { at: 'at' } })).rows).toEqual([
    ['12345678901234567890.10', '1'],
  ]);
  server.answer = (_, response) =>
    response.writeHead(200, { 'content-type': 'text/xml' }).end('<a day="3"><r><id>1</id></r><r><id>2</id></r></a>');
  for (const more of [{}, { columns: [{ name: 'id' }] }]) {
    const xml = await extract({ records: 'a.r', page_columns: { day: 'a.@day' }, ...more });
    expect(xml.rows).toEqual([
      ['3', '1'],
      ['3', '2'],
    ]);
  }
});

it('a response without the value fails the run and shows what is there', async () => {
  server.answer = (_, response) => sendJson(response, { meta: { day: 1 }, rows: [{ id: 1 }] });
  expect(await failure({ records: 'rows', page_columns: { at: 'meta.at' } })).toMatchObject({
    code: 'REST_PAGE_COLUMN',
    message: expect.stringContaining('page_columns.at'),
    seen: expect.stringContaining('day'),
  });
});

it.each([
  ['a list', 'meta.list', '[1,2]', '`meta.list[0]`'],
  ['an object', 'meta.range', '{"from":1}', '`meta.range.from`'],
  ['an object', 'meta', '{"…":true}', '`meta.NAME`'],
])('%s is not a value, and the error names a place inside it', async (kind, place, seen, inner) => {
  const meta = { list: [1, 2], range: { from: 1 }, rows: [{ id: 1 }] };
  server.answer = (_, response) => sendJson(response, { meta });
  expect(await failure({ records: 'meta.rows', page_columns: { at: place } })).toMatchObject({
    code: 'REST_PAGE_COLUMN',
    message: expect.stringContaining(`\`${place}\`, which is set in \`page_columns.at\`, is ${kind}`),
    seen,
    next: expect.stringContaining(inner),
  });
});

it('places that cannot be columns are rejected', () => {
  const fault = (more: object) => faults({ path: '/x', records: 'rows', ...more });
  expect(fault({ page_columns: { at: 'meta.at' } })).toEqual([]);
  expect(fault({ page_columns: { at: 'meta.at' }, records: undefined })).toEqual(['page_columns']);
  expect(fault({ page_columns: { at: 'meta.at' }, format: 'csv' })).toEqual(['page_columns']);
  expect(fault({ page_columns: { at: 'header(x-at)' }, format: 'csv' })).toEqual([]);
  expect(fault({ page_columns: { at: 'rows[-1].id' } })).toEqual(['page_columns']);
  expect(fault({ page_columns: { at: 'a[' } })).toEqual(['page_columns']);
  expect(fault({ page_columns: { at: 'meta.at' }, header_columns: { at: 'x-at' } })).toEqual(['page_columns']);
});
