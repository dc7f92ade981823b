import { describe, expect, it } from 'vitest';
import { sharedBench } from './service.ts';

const service = sharedBench();

describe('a JSON body', () => {
  it('is rejected the same way each time if it is nested too deeply', async () => {
    const given = service();
    const nested = (levels: number): string =>
      `{"name":"d","no_refresh":true,"properties":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
    expect((await given.call('POST', '/datasources', { body: nested(998) })).status).toBe(201);
    for (const levels of [999, 2400, 2500, 100_000]) {
      for (let time = 0; time < 3; time++) {
        const { status, body } = await given.call('POST', '/datasources', { body: nested(levels) });
        const wanted = [levels, 400, 'The body has more than 1000 open brackets'];
        expect([levels, status, body.meta.error_desc]).toEqual(wanted);
      }
    }
  });

  it('can have any number of brackets in its strings, and of closed brackets', async () => {
    const given = service();
    const name = `"${'['.repeat(200)}`;
    const extra = `${'[{"\\"{":[]}],'.repeat(2_000)}"${String.raw`\\\"[{`.repeat(100_000)}"`;
    const body = `{"name": ${JSON.stringify(name)}, "unknown": [${extra}]}`;
    expect((await given.call('POST', '/klips', { body })).status).toBe(201);
    const open = `{"name": "a", "unknown": "${String.raw`\"`.repeat(500_000)}`;
    expect((await given.call('POST', '/klips', { body: open })).body.meta.error_desc).toContain('not valid JSON');
  });

  // R and curl clients copy the vendor's examples, such as -d "{'name': 'x'}".
  it("can have its strings in single quotes, as in the vendor's examples for curl", async () => {
    const given = service();
    const name = String.raw`It\'s "new" \\ ä`;
    const { body } = await given.call('POST', '/groups', { body: `{'name': '${name}', "description": "it's"}` });
    const { data } = (await given.call('GET', body.meta.location!)).body;
    expect(data).toMatchObject({ name: 'It\'s "new" \\ ä', description: "it's" });
    for (const bad of ["{'name': 'a", "{'name': 'a}", "{'name': 'a'b'}", "{name: 'a'}", "{'name': \"a'}"]) {
      const { status, body: answer } = await given.call('POST', '/groups', { body: bad });
      expect([bad, status, answer.meta.error_desc]).toEqual([bad, 400, expect.stringContaining('not valid JSON')]);
    }
  });

  // PHP encodes an empty array as []. Java clients that openapi-generator makes send null for a missing body.
  it('can be [] or null if no field is required, as clients send to operations without fields', async () => {
    const given = service();
    const id = await given.source();
    for (const body of ['[]', 'null', '[ ]']) {
      expect((await given.call('POST', `/datasources/${id}/@/enable`, { body })).status).toBe(200);
      expect((await given.call('PUT', `/datasources/${id}`, { body })).status).toBe(200);
      expect((await given.call('POST', '/groups', { body })).body.meta.error_desc).toBe('Field "name" is required');
    }
    expect((await given.call('PUT', `/datasources/${id}`, { body: '[1]' })).status).toBe(400);
  });
});

describe("a value that can't be stored as it is", () => {
  const cases = [
    [String.raw`"\ud800"`, 'Field "a" is not valid Unicode'],
    [String.raw`{"\udc00": 1}`, 'is not valid Unicode'],
    ['12345678901234567890', 'Field "a" is a number that can\'t be stored exactly'],
    ['-9007199254740993', 'send it as a string'],
    ['0.12345678901234567890', 'send it as a string'],
    ['1e400', 'send it as a string'],
    ['1e-400', 'send it as a string'],
    [`1.${'0'.repeat(500_000)}1`, 'send it as a string'],
  ] as const;

  it('is rejected', async () => {
    const given = service();
    for (const [value, message] of cases) {
      const body = `{"name": "d", "no_refresh": true, "properties": {"a": ${value}}}`;
      const { status, body: answer } = await given.call('POST', '/datasources', { body });
      expect([status, answer.meta.error_desc]).toEqual([400, expect.stringContaining(message)]);
    }
  });

  it('is not a value that only has an unusual form', async () => {
    const given = service();
    const list = String.raw`[9007199254740991, 1.50000000000000000000, 100000000000000000000, 1e300, 0e400, 1.0E+1, -0,
      0.1, 0.10000000000000001, 3.0000000000000004e-8, 123456789012345.6, 0.30000000000000004, 1e21, "12345678901234567890", "\ud83d\ude00", "\u00e4"]`;
    const id = await given.source({ no_refresh: true });
    const path = `/datasource-instances/${id}/properties`;
    expect((await given.call('PUT', path, { body: `{"properties": {"a": ${list}}}` })).status).toBe(200);
    expect((await given.call('GET', path)).body.data.properties).toEqual({ a: JSON.parse(list.replace('-0', '0')) });
  });
});

// Python's requests writes booleans as True and False.
it('a boolean in the query can be in any case', async () => {
  const given = service();
  const id = await given.source();
  const { body } = await given.call('GET', `/datasources/${id}?full=True`);
  expect(body.data.properties).toEqual({});
  const { body: short } = await given.call('GET', `/datasources/${id}?full=FALSE`);
  expect(short.data).not.toHaveProperty('properties');
  expect((await given.call('GET', `/datasources/${id}?full=yes`)).status).toBe(400);
});

it('a request with the method QUERY gets the same responses as with other methods that an endpoint does not have', async () => {
  const given = service();
  for (const headers of [{}, { 'content-type': 'application/json' }] as Record<string, string>[]) {
    const { status, headers: got, body } = await given.call('QUERY', '/clients', { headers, body: '{}' });
    expect([status, got.allow, body.meta.error_code]).toEqual([405, 'GET, HEAD, POST', 'method_not_allowed']);
    expect((await given.call('QUERY', '/clients', { headers, key: null })).status).toBe(401);
    expect((await given.call('QUERY', '/api/1.0/nothing', { headers })).status).toBe(404);
  }
});
