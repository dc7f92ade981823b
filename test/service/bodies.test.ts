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
