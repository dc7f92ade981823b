import { Agent, type Dispatcher, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { LoggedRequest } from '../../src/service/http/request-log.ts';
import { type Bench, bench, keys, scratch } from './service.ts';

const controlled = (options: Parameters<typeof bench>[0] = {}): Promise<Bench> => bench({ control: {}, ...options });

const add = async (given: Bench, rule: object): Promise<string> => {
  const { status, data } = await given.control('POST', '/faults', rule);
  if (status !== 201) throw new Error(JSON.stringify(data));
  return data.id as string;
};
const logged = async (given: Bench, query = '?faulty=true'): Promise<LoggedRequest[]> =>
  (await given.control('GET', `/requests/wait${query}`)).data.requests as LoggedRequest[];

interface Seen {
  readonly status?: number;
  readonly headers?: Dispatcher.ResponseData['headers'];
  readonly text?: string;
  /** The code of the error that a client throws. */
  readonly broken?: string;
}

/** One call by a plain client without retries. */
async function see(
  given: Bench,
  method: string,
  path: string,
  { body, timeoutMs = 20_000, headersMs = timeoutMs }: Told = {},
): Promise<Seen> {
  const agent = new Agent({ headersTimeout: headersMs, bodyTimeout: timeoutMs });
  onTestFinished(() => agent.destroy());
  try {
    const headers = { 'kf-api-key': keys.acmeAdmin };
    const answer = await request(given.service.url + path, {
      dispatcher: agent,
      method: method as Dispatcher.HttpMethod,
      headers,
      body: body ?? null,
    });
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
  } catch (thrown) {
    return { broken: (thrown as { code?: string }).code ?? String(thrown) };
  }
}

interface Told {
  readonly body?: string;
  readonly timeoutMs?: number;
  /** How long to wait for the headers, if different from the default. */
  readonly headersMs?: number;
}

const statuses = async (given: Bench, times: number, path = '/profile'): Promise<(number | string)[]> => {
  const all: (number | string)[] = [];
  for (let i = 0; i < times; i++) {
    const { status, broken } = await see(given, 'GET', path);
    all.push(status ?? broken!);
  }
  return all;
};

describe('a fault rule', () => {
  it('applies to all calls, the nth, every nth, the first n, or a maximum number', async () => {
    const given = await controlled();
    const answer = { status: 503 };
    for (const [rule, expected] of [
      [{}, [503, 503, 503, 503, 503]],
      [{ nth: 2 }, [200, 503, 200, 200, 200]],
      [{ every: 2 }, [200, 503, 200, 503, 200]],
      [{ first: 2 }, [503, 503, 200, 200, 200]],
      [{ every: 2, times: 1 }, [200, 503, 200, 200, 200]],
    ] as const) {
      const id = await add(given, { ...rule, path: '/profile', answer });
      expect([rule, await statuses(given, 5)]).toEqual([rule, expected]);
      const { data } = await given.control('GET', `/faults/${id}`);
      expect(data).toMatchObject({ seen: 5, hits: expected.filter((status) => status === 503).length });
      await given.control('DELETE', `/faults/${id}`);
    }
  });

  it('with a probability and a seed applies to the same calls every time', async () => {
    const given = await controlled();
    const lucks: unknown[] = [];
    for (let i = 0; i < 2; i++) {
      const id = await add(given, { probability: 0.5, seed: 42, answer: { status: 500 } });
      lucks.push(await statuses(given, 16));
      await given.control('DELETE', `/faults/${id}`);
    }
    expect(lucks[0]).toEqual(lucks[1]);
    expect(new Set(lucks[0] as number[])).toEqual(new Set([200, 500]));
    await add(given, { probability: 0, answer: { status: 500 } });
    expect(await statuses(given, 3)).toEqual([200, 200, 200]);
  });

  it('can be limited to a method and a path pattern, with or without the API version', async () => {
    const given = await controlled();
    await add(given, { method: 'put', path: '/datasource-instances/*/data', answer: { status: 500 } });
    await add(given, { path: '/published/**', answer: { status: 502 } });
    await add(given, { path: '/api/1.0/k*s', answer: { status: 503 } });
    const seen = async (method: string, path: string) => (await see(given, method, path)).status;
    expect(await seen('PUT', '/datasource-instances/x/data')).toBe(500);
    expect(await seen('PUT', '/datasource-instances/x/data/?client_id=1')).toBe(500);
    expect(await seen('GET', '/datasource-instances/x/data')).toBe(404);
    expect(await seen('PUT', '/datasource-instances/x/y/data')).toBe(404);
    expect(await seen('GET', '/klips')).toBe(503);
    expect(await seen('GET', '/klips/a')).toBe(404);
    const page = await request(`${given.origin}/published/a/b`);
    expect([page.statusCode, await page.body.text()]).toEqual([502, expect.stringContaining('injected')]);
  });

  it('is evaluated in creation order, and each matching rule counts the call', async () => {
    const given = await controlled();
    const first = await add(given, { id: 'first', first: 1, answer: { status: 500 } });
    await add(given, { id: 'second', nth: 2, answer: { status: 502 } });
    await add(given, { id: 'third', answer: { status: 503 } });
    expect(await statuses(given, 3)).toEqual([500, 502, 503]);
    expect((await given.control('GET', '/faults')).data).toMatchObject({
      total: 3,
      faults: [
        { id: 'first', seen: 3, hits: 1 },
        { id: 'second', seen: 3, hits: 1 },
        { id: 'third', seen: 3, hits: 1 },
      ],
    });
    expect((await given.control('POST', '/faults', { id: first, answer: { status: 500 } })).status).toBe(403);
    expect((await given.control('DELETE', '/faults')).data).toEqual({ deleted: 3 });
    expect(await statuses(given, 1)).toEqual([200]);
    expect((await given.control('GET', '/faults/first')).status).toBe(404);
    expect((await given.control('DELETE', '/faults/first')).status).toBe(404);
  });

  it.each([
    [{}, 'One of the fields that specify an action is required'],
    [{ nth: 1, first: 1, answer: { status: 500 } }, 'Only one of these fields can be set: nth, first'],
    [{ reset: 'before_body', answer: { status: 500 } }, 'Only one of these fields can be set: answer, reset'],
    [{ nth: 0, answer: { status: 500 } }, 'nth'],
    [{ seed: 1, answer: { status: 500 } }, 'probability'],
    [{ probability: 1.5, answer: { status: 500 } }, '0 to 1'],
    [{ path: 'profile', answer: { status: 500 } }, 'must begin with /'],
    [{ answer: { status: 99 } }, '200 to 599'],
    [{ answer: { status: 500, header: {} } }, 'answer'],
    [{ answer: { status: 500, headers: { 'a b': 'c' } } }, 'a b'],
    [{ answer: { status: 500, headers: { a: 'c\nd' } } }, 'answer.headers'],
    [{ answer: { status: 500, headers: { 'Content-Length': '1' } } }, 'Content-Length'],
    [{ reset: 'sometimes' }, 'before_body, after_body, after_effect'],
    [{ reset: 'before_body', answer_delay_ms: 5 }, 'delay_ms'],
    [{ drip: { bytes: 1 } }, 'every_ms'],
    [{ delay_ms: -1 }, 'milliseconds'],
  ])('that is invalid is rejected: %j', async (rule, said) => {
    const given = await controlled();
    const { status, data } = await given.control('POST', '/faults', rule);
    expect([status, (data.error as { message: string }).message]).toEqual([400, expect.stringContaining(said)]);
    expect((await given.control('GET', '/faults')).data.total).toBe(0);
  });
});

describe('a client receives', () => {
  it('a response with any status, headers and body in place of the real one', async () => {
    const given = await controlled();
    await add(given, { nth: 1, answer: { status: 429, headers: { 'Retry-After': '7' } } });
    await add(given, {
      nth: 2,
      answer: { status: 502, headers: { 'Content-Type': 'text/html' }, body: '<h1>no</h1>' },
    });
    await add(given, { nth: 3, answer: { status: 200, body: { odd: [1] } } });
    const body = '{"name": "A"}';
    const limited = await see(given, 'POST', '/datasources', { body });
    expect([limited.status, limited.headers!['retry-after']]).toEqual([429, '7']);
    expect(JSON.parse(limited.text!)).toMatchObject({
      meta: { success: false, status: 429, error_code: 'rate_limited' },
    });
    const page = await see(given, 'POST', '/datasources', { body });
    expect([page.status, page.headers!['content-type'], page.text]).toEqual([502, 'text/html', '<h1>no</h1>']);
    expect((await see(given, 'POST', '/datasources', { body })).text).toBe('{"odd":[1]}');
    expect((await given.call('GET', '/datasources')).body.meta.total).toBe(0);
    expect(
      (await logged(given, '?faulty=true&count=3')).map(({ status, fault }) => [status, fault?.split(': ')[1]]),
    ).toEqual([
      [429, 'answer 429'],
      [502, 'answer 502'],
      [200, 'answer 200'],
    ]);
  });

  it.each([
    ['before_body', false, 0],
    ['after_body', false, 9],
    ['after_effect', true, 9],
  ] as const)('a connection reset %s (upload takes effect: %s)', async (reset, takesEffect, bytesIn) => {
    const given = await controlled();
    const id = await given.source();
    const { data } = await given.control('POST', '/faults', { method: 'PUT', path: '/datasources/*/data', reset });
    expect(data.takes_effect).toBe(takesEffect);
    const seen = await see(given, 'PUT', `/datasources/${id}/data`, { body: '[1,2,3,4]' });
    expect(seen.broken).toMatch(/ECONNRESET|EPIPE|UND_ERR_SOCKET/);
    const [entry] = await logged(given);
    expect(entry).toMatchObject({
      status: null,
      bytes_in: bytesIn,
      bytes_out: 0,
      fault: `${data.id}: reset ${reset}`,
    });
    await given.control('DELETE', '/faults');
    expect((await given.call('GET', `/datasource-instances/${id}`)).body.data.data_size).toBe(takesEffect ? 9 : 0);
    expect((await see(given, 'PUT', `/datasources/${id}/data`, { body: '[2]' })).status).toBe(200);
  });

  it('a response that is cut off at its start or in the middle, after the request took effect', async () => {
    const given = await controlled();
    await add(given, { nth: 1, truncate: { after_bytes: 0 } });
    await add(given, { nth: 2, truncate: {} });
    for (let i = 1; i <= 2; i++) {
      const seen = await see(given, 'POST', '/datasources', { body: '{"name": "A"}' });
      expect(seen.broken).toBe('UND_ERR_SOCKET');
      expect((await logged(given, `?faulty=true&count=${i}`)).at(-1)).toMatchObject({ status: 201, bytes_in: 13 });
    }
    expect((await given.call('GET', '/datasources')).body.meta.total).toBe(2);
  });

  it('a response that is cut off or slowed down the same way if its document is streamed from disk', async () => {
    const given = await controlled({ data: { folder: await scratch() } });
    const id = await given.source();
    const document = JSON.stringify(Array.from({ length: 400_000 }, (_, i) => i));
    await given.call('PUT', `/datasources/${id}/data`, { body: document });
    const path = `/datasource-instances/${id}/data`;
    await add(given, { nth: 1, path, truncate: { after_bytes: 1_500_000 } });
    await add(given, { nth: 2, path, drip: { bytes: 1_000_000, every_ms: 5 } });
    expect((await see(given, 'GET', `${path}?raw=true`)).broken).toBe('UND_ERR_SOCKET');
    const [cut] = await logged(given);
    expect(cut!.bytes_out).toBeGreaterThan(1_500_000);
    expect(cut!.bytes_out).toBeLessThan(1_501_000);
    expect((await see(given, 'GET', `${path}?raw=true`)).text).toBe(document);
  });

  it('a response in small pieces, either complete or too slow to finish', async () => {
    const given = await controlled();
    const plain = await see(given, 'GET', '/profile');
    await add(given, { nth: 1, drip: { bytes: 20, every_ms: 2 } });
    await add(given, { nth: 2, drip: { bytes: 20, every_ms: 60_000 } });
    const dripped = await see(given, 'GET', '/profile');
    expect([dripped.status, dripped.text, dripped.headers!['content-length']]).toEqual([
      200,
      plain.text,
      plain.headers!['content-length'],
    ]);
    expect((await see(given, 'GET', '/profile', { timeoutMs: 300, headersMs: 60_000 })).broken).toBe(
      'UND_ERR_BODY_TIMEOUT',
    );
    expect(await logged(given, '?faulty=true&count=2')).toMatchObject([{ status: 200 }, { status: 200 }]);
  });

  it('a response delayed before the request takes effect; a client that disconnects cancels the request', async () => {
    const given = await controlled();
    await add(given, { nth: 1, delay_ms: 60_000 });
    await add(given, { nth: 2, delay_ms: 30, answer: { status: 500 } });
    const body = '{"name": "A"}';
    expect((await see(given, 'POST', '/datasources', { body, timeoutMs: 2_000 })).broken).toBe(
      'UND_ERR_HEADERS_TIMEOUT',
    );
    expect(await logged(given)).toMatchObject([{ status: null, fault: expect.stringContaining('delay 60000 ms') }]);
    const late = await see(given, 'POST', '/datasources', { body });
    expect(late.status).toBe(500);
    expect((await logged(given, '?faulty=true&count=2'))[1]!.took_ms).toBeGreaterThanOrEqual(29);
    expect((await given.call('GET', '/datasources')).body.meta.total).toBe(0);
  });

  it('a response delayed after the request took effect, even if the client disconnects', async () => {
    const given = await controlled();
    await add(given, { nth: 1, answer_delay_ms: 60_000 });
    await add(given, { nth: 2, answer_delay_ms: 30 });
    const body = '{"name": "A"}';
    expect((await see(given, 'POST', '/datasources', { body, timeoutMs: 2_000 })).broken).toBe(
      'UND_ERR_HEADERS_TIMEOUT',
    );
    await logged(given);
    expect((await see(given, 'POST', '/datasources', { body })).status).toBe(201);
    expect((await given.call('GET', '/datasources')).body.meta.total).toBe(2);
  });

  it("no delayed response that holds up the service's shutdown", async () => {
    const given = await controlled();
    await add(given, { path: '/profile', delay_ms: 60_000 });
    await add(given, { path: '/klips', drip: { bytes: 1, every_ms: 60_000 } });
    await add(given, { path: '/tabs', answer_delay_ms: 60_000 });
    const hanging = ['/profile', '/klips', '/tabs'].map((path) => see(given, 'GET', path));
    await given.control('GET', '/requests/wait?timeout_ms=100');
    await given.close();
    for (const { broken } of await Promise.all(hanging)) expect(broken).toMatch(/UND_ERR_SOCKET|ECONNRESET/);
  });
});
