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
});

it('a request with the method QUERY gets the same responses as with other methods that an endpoint does not have', async () => {
  const given = service();
  for (const headers of [{}, { 'content-type': 'application/json' }] as Record<string, string>[]) {
    const { status, headers: got, body } = await given.call('QUERY', '/clients', { headers, body: '{}' });
    expect([status, got.allow, body.meta.error_code]).toEqual([405, 'GET, POST', 'method_not_allowed']);
    expect((await given.call('QUERY', '/clients', { headers, key: null })).status).toBe(401);
    expect((await given.call('QUERY', '/api/1.0/nothing', { headers })).status).toBe(404);
  }
});
