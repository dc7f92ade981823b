import { describe, expect, test } from 'vitest';
import { sendJson } from '../http-server.ts';
import { faults, ids, numbers, restBench } from './rig.ts';

const { server, extract, failure, asked } = restBench();

describe('answers', () => {
  const paging = { kind: 'page' };

  /** Pages 1 to 3, then a status. */
  const threePages = (status: number) => {
    server.answer = ({ searchParams }, response) => {
      const page = Number(searchParams.get('page'));
      if (page > 3) return void response.writeHead(status).end('no such page');
      sendJson(response, { rows: ids(page, page + 1) });
    };
  };

  test('without a rule, a refused later page fails the run and names the option', async () => {
    threePages(404);
    expect(await failure({ records: 'rows', paging })).toMatchObject({
      code: 'REST_NOT_FOUND',
      message: expect.stringContaining('page 4'),
      next: expect.stringContaining('stop_at: 404'),
    });
  });

  test('with `missing`, a response means that there are no records', async () => {
    server.answer = (_, response) => void response.writeHead(404).end();
    const query = { columns: [{ name: 'id', type: 'integer' }], answers: [{ status: 404, means: 'missing' }] };
    expect((await extract(query)).rows).toEqual([]);
    server.answer = ({ searchParams }, response) => {
      if (searchParams.get('page') === '2') response.writeHead(404).end();
      else sendJson(response, ids(1, 2));
    };
    expect(await failure({ ...query, paging })).toMatchObject({ code: 'REST_PAGE_MISSING' });
  });

  test('with `wait`, the request is sent again, and only if the header has the value', async () => {
    server.answer = (_, response, number) => {
      if (number === 1) return void response.writeHead(403, { 'x-left': '0', 'retry-after': '0' }).end('slow down');
      if (number === 2) return void response.writeHead(202, { 'retry-after': '0' }).end();
      sendJson(response, ids(1, 2));
    };
    const answers = [
      { status: 403, header: 'X-Left', is: 0, means: 'wait' },
      { status: 202, means: 'wait', after: '5s' },
    ];
    expect((await extract({ answers })).rows).toEqual(numbers(1, 2));
    server.answer = (_, response) => void response.writeHead(403, { 'x-left': '7' }).end();
    expect(await failure({ answers })).toMatchObject({ code: 'REST_LOGIN' });
    server.answer = (_, response) => void response.writeHead(403, { 'x-left': '0' }).end('slow down');
    const hourly = [{ status: 403, header: 'x-left', is: '0', means: 'wait', after: '1h' }];
    expect(await failure({ answers: hourly })).toMatchObject({
      code: 'REST_BUSY',
      family: 'try_later',
      retryAfterMs: 3_600_000,
      seen: 'status 403: slow down',
    });
  });

  test('with `fail`, a response fails the run at once, whatever its status', async () => {
    server.answer = (_, response) => void response.writeHead(503, { 'x-error': 'E17' }).end('no such report');
    const answers = [{ header: 'x-error', means: 'fail' }];
    expect(await failure({ answers })).toMatchObject({
      code: 'REST_REFUSED',
      family: 'job',
      seen: 'status 503: no such report',
    });
    server.answer = (_, response) => sendJson(response, ids(1, 2), { 'x-error': 'E17' });
    expect(await failure({ answers })).toMatchObject({ code: 'REST_REFUSED' });
    expect(server.requests).toHaveLength(2);
  });

  test.each([
    [{ means: 'missing' }, 1],
    [{ status: 200, means: 'missing' }, 1],
    [{ status: [404, 206], means: 'missing' }, 1],
    [{ header: 'x-none', means: 'missing' }, 1],
    [{ status: 401, means: 'wait' }, 1],
    [{ status: 404, is: '1', means: 'fail' }, 1],
    [{ status: 404, means: 'missing', after: '5s' }, 1],
    [{ status: 204, means: 'missing' }, 0],
    [{ header: 'x-error', means: 'fail' }, 0],
  ])('the rule %j has %i errors', (rule, count) => {
    expect(faults({ paging, answers: [rule] })).toEqual(Array(count).fill('answers'));
  });
});

describe('paths', () => {
  const regions = ['/eu/orders?open=1', { path: '/us/orders', name: 'us' }];

  test('are read one after another, with all their pages, and a column says which', async () => {
    server.answer = ({ pathname, searchParams }, response) => {
      const page = Number(searchParams.get('page'));
      const from = pathname.startsWith('/eu') ? 0 : 100;
      sendJson(response, page > 2 ? [] : [{ id: from + page }]);
    };
    const { columns, rows } = await extract({ paths: regions, path_column: 'region', paging: { kind: 'page' } });
    expect(columns.map(({ name }) => name)).toEqual(['region', 'id']);
    expect(rows).toEqual([
      ['/eu/orders?open=1', '1'],
      ['/eu/orders?open=1', '2'],
      ['us', '101'],
      ['us', '102'],
    ]);
    expect(asked().filter((url) => url.includes('page=1'))).toEqual(['/eu/orders?open=1&page=1', '/us/orders?page=1']);
  });

  test('can contain dates, and are read once per step of a window', async () => {
    server.answer = (_, response, number) => sendJson(response, ids(number, number + 1));
    const window = { start: '2026-01-01', end: '2026-01-02', step: '1d' };
    const paths = ['/a?d={{ window.from }}', '/b?d={{ window.from }}'];
    expect((await extract({ paths, window })).rows).toEqual(numbers(1, 5));
    expect(asked()).toEqual(['/a?d=2026-01-01', '/b?d=2026-01-01', '/a?d=2026-01-02', '/b?d=2026-01-02']);
  });

  test('fail the run if one of them fails, unless a rule says that it is missing', async () => {
    server.answer = ({ pathname }, response) => {
      if (pathname.startsWith('/us')) response.writeHead(404).end();
      else sendJson(response, ids(1, 2));
    };
    expect(await failure({ paths: regions })).toMatchObject({ code: 'REST_NOT_FOUND' });
    const answers = [{ status: 404, means: 'missing' }];
    expect((await extract({ paths: regions, answers })).rows).toEqual(numbers(1, 2));
  });

  test.each([
    [{ path: '/a', paths: ['/b'] }, ['paths']],
    [{ paths: ['/a', { path: '/b', name: '/a' }] }, ['paths']],
    [{ paths: ['https://h/a'] }, ['paths']],
    [{ paths: ['/a?p={{ page.number }}'] }, ['paths']],
    [{ path: '/a', path_column: 'region' }, ['path_column']],
    [{ paths: ['/a'], path_column: 'x', header_columns: { x: 'etag' } }, ['path_column']],
    [{ paths: ['/a?d={{ today }}'], path_column: 'region' }, []],
  ])('the options %j are checked before any request is sent', (query, options) => {
    expect(faults(query)).toEqual(options);
  });
});
