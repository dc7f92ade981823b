import { Compile } from 'typebox/compile';
import { describe, expect, it } from 'vitest';
import { collectResources } from '../../src/service/collect.ts';
import { addressOf, type Case, collectCases } from './case.ts';
import { type Answer, keys, sharedBench } from './service.ts';

const service = sharedBench();
const resources = await collectResources();
const endpoints = resources.flatMap((resource) => resource.endpoints);
const titled = endpoints.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);

const cases = await collectCases();

function expectError(answer: Answer, status: number, code: string): void {
  expect([answer.status, answer.body.meta.error_code]).toEqual([status, code]);
  expect(answer.body).toEqual({
    meta: {
      success: false,
      status,
      error_code: code,
      error_desc: expect.any(String),
      error_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    },
  });
}

/** A test that applies only to some endpoints and doesn't count as skipped for the others. */
function itIf(has: boolean): (title: string, test: () => Promise<void>) => void {
  return (title, test) => {
    if (has) it(title, test);
  };
}

describe.each(titled)('%s', (title, endpoint) => {
  const one: Case = cases[title] ?? {};

  it('has a test case with a valid call', () => {
    expect(cases[title]).toBeDefined();
  });

  it('rejects missing and wrong credentials', async () => {
    const given = service();
    const path = addressOf(endpoint, {});
    expectError(await given.call(endpoint.method, path, { key: null }), 401, 'auth_not_provided');
    expectError(await given.call(endpoint.method, path, { key: 'f'.repeat(40) }), 401, 'auth_fail');
  });

  const [status, code] = endpoint.lacking === undefined ? [401, 'permission_denied'] : [403, 'forbidden'];
  itIf(endpoint.permission.length > 0)(`is refused with ${status} and the name of the permission`, async () => {
    const given = service();
    const answer = await given.call(endpoint.method, addressOf(endpoint, {}), { key: keys.acmeNobody });
    expectError(answer, status, code);
    for (const permission of endpoint.permission) expect(answer.body.meta.error_desc).toContain(permission);
  });

  itIf(endpoint.path.includes('{id}') && one.refuses === undefined)('returns 404 for an unknown ID', async () => {
    const given = service();
    const path = addressOf(endpoint, { id: 'f'.repeat(32) }, one.query);
    expectError(await given.call(endpoint.method, path, { body: one.body ?? null }), 404, 'not_found');
  });

  itIf(endpoint.client)(
    "returns 401 for a client_id without client.access, and 404 for one that isn't a client of the company",
    async () => {
      const given = service();
      const params = (await one.prepare?.(given)) ?? {};
      const query = (client: string): string => [one.query ?? '', `client_id=${client}`].filter(Boolean).join('&');
      const call = (client: string, key: string): Promise<Answer> =>
        given.call(endpoint.method, addressOf(endpoint, params, query(client)), { key, body: one.body ?? null });
      expectError(await call('bakery', keys.acmeEditor), 401, 'permission_denied');
      for (const client of ['unknown', 'cafe', 'other', 'acme']) {
        expectError(await call(client, keys.acmeAdmin), 404, 'not_found');
      }
    },
  );

  it('returns the declared response', async () => {
    const given = service();
    const params = (await one.prepare?.(given)) ?? {};
    const answer = await given.call(endpoint.method, addressOf(endpoint, params, one.query), {
      body: one.bodyWith?.(params) ?? one.body ?? null,
    });
    if (one.refuses !== undefined) return expectError(answer, one.refuses, 'bad_request');
    expect([answer.status, answer.body?.meta.error_desc]).toEqual([endpoint.answer.status, undefined]);
    if (endpoint.answer.data === 'bytes')
      return expect(answer.text).toBe('{"meta":{"success":true,"status":200},"data":[1]}');
    expect(answer.body.meta).toMatchObject({ success: true, status: endpoint.answer.status });
    expect([...Compile(endpoint.answer.data).Errors(answer.body.data)]).toEqual([]);
    // A chain of calls in a public client goes on only if the response names the operation.
    const operation = /\/@\/([\w-]+)$/.exec(endpoint.path)?.[1];
    if (operation !== undefined) expect(answer.body.data.op_requested).toBe(operation);
    if (endpoint.answer.status === 201) expect(answer.body.meta.location).toMatch(/^(\/[a-z-]+\/[0-9a-f]{32})+$/);
    if ('limit' in endpoint.query)
      expect(answer.body.meta).toMatchObject({ count: expect.any(Number), total: expect.any(Number) });
  });

  itIf(one.bad !== undefined)('returns 400 with the name of the field', async () => {
    const given = service();
    const params = (await one.prepare?.(given)) ?? {};
    for (const { query, body, field } of one.bad!) {
      const sent = { body: body ?? one.body ?? null };
      const answer = await given.call(endpoint.method, addressOf(endpoint, params, query ?? one.query), sent);
      expectError(answer, 400, 'bad_request');
      expect(answer.body.meta.error_desc).toContain(`"${field}"`);
    }
  });

  itIf(typeof endpoint.body === 'object')("returns 400 for a body that isn't a JSON object", async () => {
    const given = service();
    const params = (await one.prepare?.(given)) ?? {};
    for (const body of [
      '{"name":',
      '[1]',
      '7',
      Buffer.from([0x7b, 0xff, 0x7d]),
      '['.repeat(100_000),
      `{"a":"${'x'.repeat(1_100_000)}"}`,
    ]) {
      expectError(await given.call(endpoint.method, addressOf(endpoint, params), { body }), 400, 'bad_request');
    }
  });
});

it('every test case belongs to an endpoint that exists', () => {
  expect(Object.keys(cases).filter((title) => !titled.some(([name]) => name === title))).toEqual([]);
});
