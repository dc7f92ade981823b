import { describe, expect, it, onTestFinished } from 'vitest';
import { Problem } from '../../src/lib/problem.ts';
import type { Pull, PullRequest } from '../../src/service/refresh/pull.ts';
import { startService } from '../../src/service/service.ts';
import { Bench, bench, keys, scratch, until } from './service.ts';

interface Instance {
  readonly refresh_fail_count: number;
  readonly last_error: string | null;
  readonly data_size: number;
}

const instanceOf = async (given: Bench, id: string): Promise<Instance> =>
  (await given.call('GET', `/datasource-instances/${id}`)).body.data as unknown as Instance;

const dataOf = async (given: Bench, id: string): Promise<string> =>
  (await given.call('GET', `/datasource-instances/${id}/data?raw=true`)).text;

const refresh = (given: Bench, id: string) => given.call('POST', `/datasource-instances/${id}/@/refresh`);

/** A pull that yields these strings, and the requests that it received. */
function pulling(texts: (request: PullRequest) => readonly string[]): { pull: Pull; asked: PullRequest[] } {
  const asked: PullRequest[] = [];
  return {
    asked,
    pull: async function* (request) {
      asked.push(request);
      for (const text of texts(request)) yield Buffer.from(text);
    },
  };
}

describe('a refresh', () => {
  it("uses the source's connector, format and properties, and shows the result", async () => {
    const { pull, asked } = pulling(() => ['[1,', '2]']);
    const given = await bench({ pull });
    const id = await given.source({ properties: { endpoint_url: 'https://x.test', method: 'get' } });
    expect((await refresh(given, id)).body).toEqual({
      meta: { success: true, status: 200 },
      data: { op_requested: 'refresh' },
    });
    await until(async () => (await instanceOf(given, id)).data_size > 0);
    expect(await dataOf(given, id)).toBe('[1,2]');
    expect(asked).toMatchObject([
      { connector: 'simple_rest', format: 'json', properties: { endpoint_url: 'https://x.test', method: 'get' } },
    ]);
  });

  it.each([
    [
      'the connector fails',
      () => {
        throw new Problem({ code: 'X_Y', family: 'job', message: 'the host is unavailable', next: 'wait' });
      },
      'the host is unavailable; wait',
    ],
    ['the data is not in the format', () => ['[1,'], 'Not valid JSON: the'],
    ['there is no data', () => [], 'empty'],
    ['there is too much data', () => [`["${'x'.repeat(2000)}"]`], 'larger than'],
  ] as [string, () => string[], string][])(
    'keeps the old data, counts the failure, and reports the error if %s',
    async (_when, texts, why) => {
      const { pull } = pulling(texts);
      const given = await bench({ pull, uploadLimitBytes: 1000 });
      const id = await given.source();
      await given.call('PUT', `/datasource-instances/${id}/data`, { body: '["old"]' });
      await refresh(given, id);
      await until(async () => (await instanceOf(given, id)).refresh_fail_count === 1);
      await refresh(given, id);
      await until(async () => (await instanceOf(given, id)).refresh_fail_count === 2);
      expect((await instanceOf(given, id)).last_error).toContain(why);
      expect(await dataOf(given, id)).toBe('["old"]');
      await given.call('PUT', `/datasource-instances/${id}/data`, { body: '["new"]' });
      expect(await instanceOf(given, id)).toMatchObject({ refresh_fail_count: 0, last_error: null });
    },
  );

  it('never includes a token or a header from the properties in an error', async () => {
    const { pull } = pulling(({ properties }) => {
      throw new Error(`refused: ${JSON.stringify(properties)} Bearer%20s3cret`);
    });
    const given = await bench({ pull });
    const parameters = JSON.stringify([{ name: 'Authorization', value: 'Bearer s3cret', type: 'header' }]);
    const id = await given.source({
      properties: { oauth_user_token: 'tok-12345', parameters, endpoint_url: 'https://x.test' },
    });
    await refresh(given, id);
    await until(async () => (await instanceOf(given, id)).refresh_fail_count === 1);
    const { last_error } = await instanceOf(given, id);
    expect(last_error).toContain('https://x.test');
    expect(last_error).not.toMatch(/tok-12345|s3cret/);
  });

  it('without a connector fails, and the error contains the fix', async () => {
    const given = await bench();
    const id = await given.source({ connector: 'salesforce' });
    await refresh(given, id);
    await until(async () => (await instanceOf(given, id)).refresh_fail_count === 1);
    expect((await instanceOf(given, id)).last_error).toMatch(/connector not available.*salesforce.*PUT/);
  });

  it('of a push-only source returns 200 and fetches nothing, no matter how it became push-only', async () => {
    const { pull, asked } = pulling(() => ['[1]']);
    const given = await bench({ pull });
    const pushOnly = [
      await given.source({ no_refresh: true }),
      await given.source({ properties: { no_refresh: true } }),
    ];
    for (const id of pushOnly) {
      expect((await refresh(given, id)).status).toBe(200);
      expect((await given.call('GET', `/datasource-instances/${id}/properties`)).body.data.properties).toEqual({});
    }
    const bulk = await given.call('POST', '/datasources/@/refresh', { body: { datasources: pushOnly } });
    expect(bulk.body.data).toMatchObject({ success: true, total_instances_requested: 2, total_instances_queued: 0 });
    const normal = await given.source();
    await refresh(given, normal);
    await until(async () => (await instanceOf(given, normal)).data_size > 0);
    expect(asked).toHaveLength(1);
  });

  it('of a disabled source is rejected, and a queued one is dropped', async () => {
    const started = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const asked: string[] = [];
    const pull: Pull = async function* ({ properties }) {
      asked.push(String(properties.name));
      started.resolve();
      await go.promise;
      yield Buffer.from('[1]');
    };
    const given = await bench({ pull });
    const [first, second] = [
      await given.source({ properties: { name: 'first' } }),
      await given.source({ properties: { name: 'second' } }),
    ];
    await refresh(given, first);
    await started.promise;
    await refresh(given, second);
    await given.call('POST', `/datasources/${second}/@/disable`);
    expect((await refresh(given, second)).body.meta).toMatchObject({ status: 403, error_code: 'forbidden' });
    go.resolve();
    await until(async () => (await instanceOf(given, first)).data_size > 0);
    await given.call('POST', `/datasources/${second}/@/enable`);
    await refresh(given, second);
    await until(async () => (await instanceOf(given, second)).data_size > 0);
    expect(asked).toEqual(['first', 'second']);
  });

  it('that hangs blocks only its own account', async () => {
    const go = Promise.withResolvers<void>();
    let pulls = 0;
    const pull: Pull = async function* ({ properties }) {
      if (properties.name === 'hangs') await go.promise;
      if (properties.name === 'elsewhere') pulls++;
      yield Buffer.from(JSON.stringify([pulls]));
    };
    const given = await bench({ pull });
    const hanging = await given.source({ properties: { name: 'hangs' } });
    const behind = await given.source({ properties: { name: 'behind' } });
    const elsewhere = await given.source({ properties: { name: 'elsewhere' } }, { key: keys.otherAdmin });
    for (const id of [hanging, behind]) await refresh(given, id);
    const theirs = { key: keys.otherAdmin };
    const look = async () => (await given.call('GET', `/datasource-instances/${elsewhere}/data?raw=true`, theirs)).text;
    for (let times = 1; times <= 2; times++) {
      await given.call('POST', `/datasource-instances/${elsewhere}/@/refresh`, theirs);
      await until(async () => (await look()) === `[${times}]`);
    }
    expect((await instanceOf(given, behind)).data_size).toBe(0);
    go.resolve();
    await until(async () => (await instanceOf(given, behind)).data_size > 0);
  });

  it('for many clients of one company leaves capacity for other companies', async () => {
    const go = Promise.withResolvers<void>();
    const asked: string[] = [];
    const pull: Pull = async function* ({ properties }) {
      asked.push(String(properties.name));
      if (properties.name !== 'elsewhere') await go.promise;
      yield Buffer.from('[1]');
    };
    const given = await bench({ pull });
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const client = (await given.call('POST', '/clients', { body: { name } })).body.meta.location!.split('/').at(-1)!;
      const id = await given.source({ properties: { name }, client_id: client });
      await given.call('POST', `/datasource-instances/${id}/@/refresh`, { body: { client_id: client } });
      ids.push(id);
    }
    const theirs = { key: keys.otherAdmin };
    const elsewhere = await given.source({ properties: { name: 'elsewhere' } }, theirs);
    await given.call('POST', `/datasource-instances/${elsewhere}/@/refresh`, theirs);
    await until(async () => asked.includes('elsewhere'));
    expect(asked).toEqual(['a', 'b', 'elsewhere']);
    go.resolve();
    await until(async () => asked.length === ids.length + 1);
    expect(asked).toEqual(['a', 'b', 'elsewhere', 'c', 'd', 'e']);
  });

  it("runs in FIFO order, one at a time per account, and only once if it's requested again while it waits", async () => {
    const go = Promise.withResolvers<void>();
    const asked: string[] = [];
    let running = 0;
    const pull: Pull = async function* ({ properties }) {
      expect(++running).toBe(1);
      asked.push(String(properties.name));
      await go.promise;
      yield Buffer.from('[1]');
      running--;
    };
    const given = await bench({ pull });
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) ids.push(await given.source({ properties: { name } }));
    for (const id of [...ids, ...ids.slice(1), ...ids.slice(1)]) await refresh(given, id);
    go.resolve();
    await until(async () => (await instanceOf(given, ids[2]!)).data_size > 0);
    expect(asked).toEqual(['a', 'b', 'c']);
  });

  it('that was running or queued when the service stopped runs after the next start', async () => {
    const folder = await scratch();
    const started = Promise.withResolvers<void>();
    const stuck: Pull = async function* () {
      started.resolve();
      yield Buffer.from('[');
      await new Promise(() => undefined);
    };
    const first = await bench({ data: { folder }, pull: stuck });
    const ids = [await first.source({ properties: { n: 1 } }), await first.source({ properties: { n: 2 } })];
    for (const id of ids) await refresh(first, id);
    await started.promise;
    await first.close();
    const { pull, asked } = pulling(() => ['[1]']);
    const second = new Bench(await startService({ data: { folder }, limits: false, pull }));
    onTestFinished(() => second.close());
    await until(async () => (await instanceOf(second, ids[1]!)).data_size > 0);
    expect(asked.map(({ properties }) => properties.n)).toEqual([1, 2]);
    expect((await instanceOf(second, ids[0]!)).refresh_fail_count).toBe(0);
  });
});

describe('a bulk refresh', () => {
  it('that partly fails queues the other sources and reports the failed ones with HTTP status 200', async () => {
    const { pull, asked } = pulling(() => ['[1]']);
    const given = await bench({ pull });
    const good = await given.source();
    const theirs = await given.source({}, { key: keys.otherAdmin });
    const off = await given.source();
    await given.call('POST', `/datasources/${off}/@/disable`);
    const answer = await given.call('POST', '/datasources/@/refresh', {
      body: { datasources: [good, 'unknown', theirs, off] },
    });
    expect(answer.body).toEqual({
      meta: { success: true, status: 200 },
      data: {
        op_requested: 'refresh',
        success: false,
        total_datasources_requested: 4,
        total_instances_requested: 1,
        queue_status: 207,
        total_instances_queued: 1,
        failed_results: {
          description: 'Some datasources/instances failed to queue.',
          invalid_datasources: {
            unknown: { error: 'Data source not found: unknown', status: 404, success: false },
            [theirs]: { error: `Data source not found: ${theirs}`, status: 404, success: false },
            [off]: { error: `Data source is disabled: ${off}`, status: 403, success: false },
          },
        },
      },
    });
    await until(async () => (await instanceOf(given, good)).data_size > 0);
    expect(asked).toHaveLength(1);
  });

  it('refreshes a data source once, even if the request names it twice', async () => {
    const { pull, asked } = pulling(() => ['[1]']);
    const given = await bench({ pull });
    const id = await given.source();
    const answer = await given.call('POST', '/datasources/@/refresh', { body: { datasources: [id, id] } });
    expect(answer.body.data).toMatchObject({ total_instances_requested: 1, total_instances_queued: 1 });
    await until(async () => (await instanceOf(given, id)).data_size > 0);
    expect(asked).toHaveLength(1);
  });

  it('that is fully queued reports no failure', async () => {
    const given = await bench({ pull: pulling(() => ['[1]']).pull });
    const datasources = [await given.source(), await given.source()];
    const answer = await given.call('POST', '/datasources/@/refresh', { body: { datasources } });
    expect(answer.body.data).toEqual({
      op_requested: 'refresh',
      success: true,
      total_datasources_requested: 2,
      total_instances_requested: 2,
      queue_status: 200,
      total_instances_queued: 2,
    });
  });

  it("that can't be queued at all still returns 200, but with `success: false`", async () => {
    const given = await bench();
    const answer = await given.call('POST', '/datasources/@/refresh', { body: { datasources: ['a', 'b'] } });
    expect([answer.status, answer.body.data.success, answer.body.data.total_instances_queued]).toEqual([200, false, 0]);
  });
});
