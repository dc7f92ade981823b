import { describe, expect, it } from 'vitest';
import { option, type StreamData } from '../../../src/sdk/index.ts';
import { fail, numbers, run } from '../doubles/acme.ts';
import type { Routes } from '../doubles/vendor.ts';

describe('a report that a service creates', () => {
  it('is requested, polled and downloaded', async () => {
    let polls = 0;
    const stream: Partial<StreamData> = {
      job: {
        create: { path: '/reports', json: { of: 'things' } },
        keep: { id: 'report.id' },
        start: { method: 'POST', path: '/reports/{{ job.id }}/start' },
        poll: { path: '/reports/{{ job.id }}' },
        state: 'state',
        done: ['Done'],
        failed: ['Broken'],
        every: '0s',
        result: { url: 'url' },
      },
      request: { path: '{{ job.url }}' },
      decode: 'csv',
      errors: [{ status: 400, body: { error: 'report_not_ready' }, verdict: 'pending' }],
    };
    const routes = (end: object): Routes => ({
      'POST /v1/reports': { json: { report: { id: 'r1' } } },
      'POST /v1/reports/r1/start': { status: 204 },
      'GET /v1/reports/r1': ({ base }) =>
        ++polls % 3 === 1
          ? { status: 400, json: { error: 'report_not_ready' } }
          : { json: polls % 3 === 2 ? { state: 'Running' } : { url: `${base}/files/r1`, ...end } },
      'GET /files/r1': { text: 'id\n1\n2\n' },
    });
    expect((await run(stream, { routes: routes({ state: 'Done' }) })).rows).toEqual(numbers(1, 3));
    expect(await fail(stream, { routes: routes({ state: 'Broken' }) })).toMatchObject({
      code: 'SERVICE_JOB_FAILED',
      seen: 'Broken',
    });
  });

  it('is downloaded without sending credentials, but only if there is a file', async () => {
    const sent: (string | undefined)[] = [];
    const stream: Partial<StreamData> = {
      job: {
        create: { path: '/reports', json: {} },
        keep: { id: 'id' },
        poll: { path: '/reports/{{ job.id }}' },
        state: 'state',
        done: ['Done'],
        failed: [],
        result: { url: 'url' },
        needs: 'url',
      },
      request: { path: '{{ job.url }}', bare: true },
      decode: 'jsonl',
    };
    const login = { kind: 'key', headers: { authorization: 'Bearer {{ key }}' } } as const;
    const key = option.text({ about: 'The key.', secret: true });
    const routes = (isEmpty: boolean): Routes => ({
      'POST /v1/reports': { json: { id: 'r1' } },
      'GET /v1/reports/r1': ({ base, headers }) => {
        sent.push(headers.authorization);
        return { json: { state: 'Done', url: isEmpty ? null : `${base}/files/r1?signed=yes` } };
      },
      'GET /files/r1': ({ headers }) => {
        sent.push(headers.authorization, headers['x-own'] as string | undefined);
        return { text: '{"id":1}\n{"id":2}' };
      },
    });
    const service = { login, options: { key }, headers: { 'x-own': 'x' } };
    const given = (isEmpty: boolean) => ({ routes: routes(isEmpty), service, source: { key: 'k1' } });
    expect((await run(stream, given(false))).rows).toEqual(numbers(1, 3));
    expect(sent).toEqual(['Bearer k1', undefined, undefined]);
    expect((await run(stream, given(true))).rows).toEqual([]);
  });

  it("is requested again if its file isn't ready yet", async () => {
    const outcome = await run(
      { decode: 'csv', errors: [{ status: 202, verdict: 'pending', wait: '0s' }] },
      { routes: { 'GET /v1/things': { text: 'id\n1\n' } }, faults: [{ at: 1, reply: { status: 202 } }] },
    );
    expect(outcome.rows).toEqual(numbers(1, 2));
  });
});
