import { describe, expect, test } from 'vitest';
import { forgetSecrets } from '../../../src/lib/redact.ts';
import { sendJson } from '../http-server.ts';
import { faults, ids, restBench } from './rig.ts';

const { server, extract, failure, asked } = restBench();

const accounts = [
  '{"id": 7, "owner": {"name": "é/1"}, "plan": "007"}',
  '{"id": 12345678901234567890, "owner": {"name": "b c"}, "plan": null}',
  '{"id": 9, "owner": {"name": "d"}, "plan": "x"}',
];

/** Accounts on pages of one record each, and two pages of orders for each account. */
function serveAccounts() {
  server.answer = ({ pathname, searchParams }, response) => {
    const page = Number(searchParams.get('page'));
    if (pathname === '/accounts') return sendJson(response, `{"data": [${accounts[page - 1] ?? ''}]}`);
    sendJson(response, { orders: page > 2 ? [] : [{ account: pathname.split('/')[2], page }] });
  };
}

const byPage = { kind: 'page' };
const forEach = { path: '/accounts', records: 'data', paging: byPage };

describe('for_each', () => {
  test('reads all pages of each record of another path, in their order, with values of the parent', async () => {
    serveAccounts();
    const { columns, rows } = await extract({
      for_each: forEach,
      path: '/accounts/{{ parent.id }}/orders?owner={{ parent.owner.name | url }}',
      parent_columns: { account_id: 'id', owner: 'owner.name', plan: 'plan' },
      records: 'orders',
      paging: byPage,
    });
    expect(columns.map(({ name }) => name)).toEqual(['account_id', 'owner', 'plan', 'account', 'page']);
    const of = (id: string, owner: string, plan: string | null) =>
      [1, 2].map((page) => [id, owner, plan, id, `${page}`]);
    expect(rows).toEqual([...of('7', 'é/1', '007'), ...of('12345678901234567890', 'b c', null), ...of('9', 'd', 'x')]);
    expect(asked()).toContain('/accounts/7/orders?owner=%C3%A9%2F1&page=1');
    expect(asked().filter((url) => url.startsWith('/accounts?'))).toHaveLength(4);
  });

  test('reads several parents at once, and returns their rows in order, whichever is faster', async () => {
    const waiting: (() => void)[] = [];
    server.answer = ({ pathname }, response) => {
      const id = Number(pathname.slice(1));
      const answer = () => sendJson(response, ids(id, id + 1));
      // The first three responses arrive in reverse order, which needs three requests at once.
      if (id > 3) answer();
      else if (waiting.push(answer) === 3) for (const one of waiting.toReversed()) one();
    };
    const values = [1, 2, 3, 4, 5, 6, 7];
    const { rows } = await extract({ for_each: { values, concurrency: 3 }, path: '/{{ parent.value }}' });
    expect(rows).toEqual(values.map((id) => [`${id}`]));
  });

  test('never has more than `concurrency` requests at once', async () => {
    let open = 0;
    let most = 0;
    server.answer = (_, response) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open--;
        sendJson(response, []);
      }, 5);
    };
    const values = Array.from({ length: 20 }, (_, i) => i);
    await extract({ for_each: { values, concurrency: 2 }, path: '/{{ parent.value }}' });
    expect(most).toBe(2);
    expect(asked()).toHaveLength(20);
  });

  test('puts values of a list into parameters and a body, with their types', async () => {
    server.answer = (_, response) => sendJson(response, [{ n: 1 }]);
    const values = [
      { region: 'eu', limit: 5 },
      { region: 'us & co', limit: 6 },
    ];
    const { rows } = await extract({
      for_each: { values, concurrency: 1 },
      path: '/search',
      method: 'POST',
      parameters: [{ name: 'region', value: '{{ parent.region }}' }],
      body: { limit: '{{ parent.limit }}' },
      parent_columns: { region: 'region' },
    });
    expect(rows).toEqual([
      ['eu', '1'],
      ['us & co', '1'],
    ]);
    expect(server.requests.map(({ url, body }) => `${url} ${body}`)).toEqual([
      '/search?region=eu {"limit":5}',
      '/search?region=us%20%26%20co {"limit":6}',
    ]);
  });

  test('reads each parent once per step of a window', async () => {
    server.answer = (_, response) => sendJson(response, []);
    await extract({
      for_each: { values: ['a', 'b'], concurrency: 1 },
      window: { start: '2026-01-01', end: '2026-01-02', step: '1d' },
      path: '/{{ parent.value }}?d={{ window.from }}',
    });
    expect(asked()).toEqual(['/a?d=2026-01-01', '/a?d=2026-01-02', '/b?d=2026-01-01', '/b?d=2026-01-02']);
  });

  test('fails if a parent fails, or skips one that is missing', async () => {
    server.answer = ({ pathname, searchParams }, response) => {
      const page = Number(searchParams.get('page'));
      if (pathname === '/2' || (pathname === '/4' && page > 1)) response.writeHead(404).end();
      else sendJson(response, page > 1 ? [] : [{ id: pathname }]);
    };
    const query = (values: number[], missing?: string) => ({
      for_each: { values, missing },
      path: '/{{ parent.value }}',
      paging: byPage,
    });
    const problem = await failure(query([1, 2, 3]));
    expect(problem).toMatchObject({ code: 'REST_NOT_FOUND' });
    expect(problem.next).toContain('missing: skip');
    expect((await extract(query([1, 2, 3], 'skip'))).rows).toEqual([['/1'], ['/3']]);
    expect(await failure(query([1, 4, 3], 'skip'))).toMatchObject({ code: 'REST_PAGE_MISSING' });
    const stopping = { ...query([1, 2, 4], 'skip'), paging: { kind: 'page', stop_at: 404 } };
    expect((await extract(stopping)).rows).toEqual([['/1'], ['/4']]);
  });

  test('names the parent whose page fails, in the error and in the log', async () => {
    const lines: object[] = [];
    const log = { debug: () => {}, info: () => {}, warn: (_: string, facts: object = {}) => void lines.push(facts) };
    const values = [{ id: 7 }, { id: 8 }];
    const query = { for_each: { values }, path: '/{{ parent.id }}', paging: byPage };
    let tries = 0;
    server.answer = ({ pathname, searchParams }, response) => {
      const page = Number(searchParams.get('page'));
      if (pathname === '/8' && page === 2) response.writeHead(tries++ === 0 ? 503 : 422, { 'retry-after': '0' }).end();
      else sendJson(response, page > 1 ? [] : [{ id: pathname }]);
    };
    expect(await failure(query, {}, { log })).toMatchObject({
      code: 'REST_REFUSED',
      message: expect.stringMatching(/\(page 2\) \(parent: id 8\)$/),
      next: expect.stringContaining('stop_at'),
    });
    expect(lines).toContainEqual(expect.objectContaining({ page: 2, parent: 'id 8' }));
  });

  test('redacts a token of each parent, however it is sent', async () => {
    server.answer = ({ search }, response) => void response.writeHead(422).end(search);
    const values = [{ id: 7, access_token: 'page-token-4711' }];
    const parameters = [{ name: 'access_token', value: '{{ parent.access_token }}' }];
    for (const sent of [{ parameters }, { path: '/x?access_token={{ parent.access_token }}' }]) {
      forgetSecrets();
      const problem = await failure({ for_each: { values }, path: '/{{ parent.id }}', ...sent });
      expect(problem.seen).toBe('status 422: ?access_token=[redacted]');
      expect(problem.message).toMatch(/\(parent: (?:id 7, )?access_token \[redacted\]\)$/);
    }
    const twice = await failure({ for_each: { values: [...values, ...values] }, parameters });
    expect(twice).toMatchObject({ code: 'REST_PARENT_TWICE', seen: 'access_token [redacted]' });
  });

  test('reports the error of the first parent that fails, and leaves no request open', async () => {
    let open = 0;
    server.answer = ({ pathname }, response) => {
      open++;
      response.once('close', () => open--);
      const id = Number(pathname.slice(1));
      setTimeout(() => (id === 2 ? response.writeHead(403).end() : sendJson(response, [{ id }])), 10);
    };
    const values = Array.from({ length: 30 }, (_, i) => i);
    const for_each = { values, concurrency: 5 };
    expect(await failure({ for_each, path: '/{{ parent.value }}' }, { retries: 0 })).toMatchObject({ seen: /403/ });
    expect(open).toBe(0);
    expect(asked().length).toBeLessThan(15);
  });

  test.each([
    ['a parent without a value', { data: [{ id: 1 }, { id: null }] }, 'REST_PARENT_VALUE'],
    ['parents without the name', { data: [{ key: 1 }] }, 'REST_PARENT_VALUE'],
    ['the same parent twice', { data: [{ id: 1 }, { id: 2 }, { id: 1 }] }, 'REST_PARENT_TWICE'],
    ['too many parents', { data: ids(0, 4) }, 'REST_MAX_PARENTS'],
    ['an error instead of parents', { data: null }, 'REST_NO_LIST'],
  ])('fails before the first request for a parent if there is %s', async (_, answer, code) => {
    server.answer = (_, response) => sendJson(response, answer);
    const for_each = { path: '/accounts', records: 'data', max_parents: 3 };
    expect(await failure({ for_each, path: '/accounts/{{ parent.id }}/orders' })).toMatchObject({ code });
    expect(asked()).toEqual(['/accounts']);
  });

  test('reads a partial response again, and returns its rows once, although other parents were read meanwhile', async () => {
    let asked = 0;
    let release: () => void = () => undefined;
    const others = new Promise<void>((resolve) => {
      release = resolve;
    });
    server.answer = ({ pathname }, response) => {
      const rows = [{ id: pathname }];
      if (pathname !== '/1') {
        sendJson(response, { rows });
        return void response.once('finish', release);
      }
      if (++asked > 1) return sendJson(response, { rows });
      const errors = [{ message: 'slow down', extensions: { code: 'THROTTLED' } }];
      const text = JSON.stringify({ rows, errors });
      // The second parent's response comes between the two parts of the first one's.
      response.writeHead(200, { 'content-type': 'application/json' }).write(text.slice(0, 5));
      void others.then(() => response.end(text.slice(5)));
    };
    const query = { for_each: { values: [1, 2] }, path: '/{{ parent.value }}', records: 'rows', fail_when: ['errors'] };
    expect((await extract(query)).rows).toEqual([['/1'], ['/2']]);
    expect(asked).toBe(2);
  });

  test('has no rows if there are no parents', async () => {
    server.answer = (_, response) => sendJson(response, { data: [] });
    const { rows } = await extract({ for_each: { path: '/a', records: 'data' }, path: '/{{ parent.id }}' });
    expect(rows).toEqual([]);
    expect(asked()).toEqual(['/a']);
  });

  test('fails if two parents send the same request', async () => {
    server.answer = (_, response) => sendJson(response, [{ id: 1 }]);
    const query = { for_each: { values: ['a', 'A'] }, path: '/{{ parent.value | lower }}' };
    expect(await failure(query)).toMatchObject({ code: 'REST_PAGES_REPEAT' });
  });

  test('counts pages for each parent', async () => {
    server.answer = ({ searchParams }, response) => {
      const page = Number(searchParams.get('page'));
      sendJson(response, page > 2 ? [] : [{ id: `${searchParams.get('p')}${page}` }]);
    };
    const query = { for_each: { values: ['a', 'b', 'c'] }, path: '/?p={{ parent.value }}', paging: byPage };
    expect((await extract({ ...query, max_pages: 3 })).rows).toHaveLength(6);
    expect(await failure({ ...query, max_pages: 2 })).toMatchObject({ code: 'REST_MAX_PAGES' });
  });

  test('reads three parents in a dry run, and says so', async () => {
    server.answer = ({ pathname }, response) => sendJson(response, [{ id: pathname }]);
    const query = (values: number[]) => ({ for_each: { values }, path: '/{{ parent.value }}' });
    const { rows, warnings, isSample } = await extract(query([1, 2, 3, 4]), {}, { isDryRun: true });
    expect(rows).toEqual([['/1'], ['/2'], ['/3']]);
    expect(isSample).toBe(true);
    expect(warnings).toMatchObject([{ code: 'REST_FIRST_PARENTS', message: /3 of 4 parents/ }]);
    const whole = await extract(query([1, 2, 3]), {}, { isDryRun: true });
    expect([whole.isSample, whole.warnings]).toEqual([false, []]);
    // Parents without records don't count, but not all parents are read in search of records.
    server.answer = ({ pathname }, response) =>
      sendJson(response, Number(pathname.slice(1)) % 2 ? [] : [{ id: pathname }]);
    const some = await extract(query([1, 2, 3, 4, 5, 6, 7, 8]), {}, { isDryRun: true });
    expect(some.rows).toEqual([['/2'], ['/4'], ['/6']]);
    expect(some.warnings).toMatchObject([{ message: /6 of 8 parents/ }]);
    const odd = Array.from({ length: 20 }, (_, i) => 2 * i + 1);
    expect((await extract(query(odd), {}, { isDryRun: true })).warnings).toMatchObject([
      { message: /10 of 20 parents/ },
    ]);
  });

  test('previews the first page of the first parent', async () => {
    serveAccounts();
    const query = { for_each: forEach, path: '/accounts/{{ parent.id }}/orders', records: 'orders', paging: byPage };
    const { rows, firstPage } = await extract(query, {}, { preview: { allowsAnyMethod: false } });
    expect(rows).toEqual([['7', '1']]);
    expect(firstPage).toEqual({ records: 1, hasNext: true });
    expect(asked()).toEqual(['/accounts?page=1', '/accounts/7/orders?page=1']);
  });

  test.each<[Record<string, unknown>, string[]]>([
    [{ for_each: {}, path: '/{{ parent.id }}' }, ['for_each']],
    [{ for_each: { values: ['a'], path: '/b' }, path: '/{{ parent.value }}' }, ['for_each']],
    [{ for_each: { values: ['a'], records: 'b' }, path: '/{{ parent.value }}' }, ['for_each']],
    [{ for_each: { values: ['a'] }, path: '/b' }, ['for_each']],
    [{ for_each: { values: ['a', 'a'] }, path: '/{{ parent.value }}' }, ['for_each']],
    [{ for_each: { values: [{ a: 1 }, { b: 1 }] }, path: '/{{ parent.a }}' }, ['for_each']],
    [{ for_each: { path: 'https://h/a' }, path: '/{{ parent.a }}' }, ['for_each']],
    [{ for_each: { path: '/a/{{ parent.b }}' }, path: '/{{ parent.a }}' }, ['for_each']],
    [{ for_each: { path: '/a', paging: { kind: 'cursor' } }, path: '/{{ parent.a }}' }, ['for_each']],
    [{ for_each: { path: '/a', body: {} }, path: '/{{ parent.a }}' }, ['for_each']],
    [{ for_each: { path: '/a' }, paths: ['/{{ parent.a }}'] }, ['for_each']],
    [{ for_each: { path: '/a' }, path: '/{{ parent.a }}', conditional: true }, ['for_each']],
    [
      { for_each: { path: '/a' }, path: '/{{ parent.a }}', parent_columns: { e: 'a' }, header_columns: { e: 'etag' } },
      ['parent_columns'],
    ],
    [
      { for_each: { path: '/a' }, path: '/{{ parent.a }}?s={{ since }}', cursor: 'a', start: '2026-01-01' },
      ['for_each'],
    ],
    [{ path: '/a', parent_columns: { a: 'a' } }, ['parent_columns']],
    [{ for_each: { values: [{ a: 1 }, { a: 2 }] }, path: '/{{ parent.a }}', parent_columns: { b: 'b' } }, ['for_each']],
    [{ for_each: { values: [{ a: 1 }, { a: 2, b: 3 }] }, path: '/{{ parent.a }}', parent_columns: { b: 'b' } }, []],
    [{ path: '/{{ parent.a }}' }, ['path']],
    [{ for_each: { path: '/a?d={{ today }}', method: 'POST', body: { a: 1 } }, path: '/{{ parent.a }}' }, []],
  ])('the options %j are checked before any request is sent', (query, options) => {
    expect(faults(query)).toEqual(options);
  });

  test("requires the source's URL for the path of the parents", () => {
    const query = { for_each: { path: '/a' }, endpoint_url: 'https://h/{{ parent.a }}' };
    expect(faults(query)).toEqual([]);
    expect(faults(query, {})).toEqual(['for_each']);
  });
});
