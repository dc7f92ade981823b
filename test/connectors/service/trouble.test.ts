import { describe, expect, it, onTestFinished } from 'vitest';
import { forgetSecrets, registerSecret } from '../../../src/lib/redact.ts';
import { pauseMs, withRetries } from '../../../src/sdk/http/retry.ts';
import { option, type ServiceDescription } from '../../../src/sdk/index.ts';
import { caseOf, fail, type Given, ids, numbers, run } from '../doubles/acme.ts';
import type { Routes } from '../doubles/vendor.ts';

describe("a service's errors and rate limits", () => {
  it('include errors in successful responses, and are explained to the user', async () => {
    const rules: Partial<ServiceDescription> = {
      errors: [
        { status: 200, body: { 'errors.*.code': ['601', '602'] }, verdict: 'login' as const },
        { status: 200, body: { 'errors.*.code': '606' }, verdict: 'wait' as const, wait: '0s' },
        { status: 200, body: { 'errors.*.code': '607' }, verdict: 'daily' as const },
        {
          status: 200,
          body: { success: false },
          verdict: 'fail' as const,
          message: 'says no',
          next: 'ask the administrator',
        },
      ],
      login: {
        kind: 'oauth',
        oauth: { grants: ['client_credentials'], token_url: 'https://x.example/t', refresh: 'none' },
      },
    };
    const answer = (code: string) => ({ json: { success: false, errors: [{ code }] } });
    const given = (reply: object, times = 1): Given => ({
      service: rules,
      routes: { 'GET /v1/things': { json: { success: true, data: ids(0, 1) } } },
      faults: [{ at: 1, times, reply }],
    });
    for (const code of ['601', '606']) expect((await run({}, given(answer(code)))).rows).toEqual(numbers(0, 1));
    expect(await fail({}, given(answer('602'), 2))).toMatchObject({ code: 'SERVICE_LOGIN', family: 'login' });
    const daily = { code: 'SERVICE_DAILY_LIMIT', family: 'try_later', isDailyLimit: true, retryAfterMs: undefined };
    expect(await fail({}, given(answer('607')))).toMatchObject(daily);
    expect(await fail({}, given(answer('999')))).toMatchObject({
      code: 'SERVICE_FAILED',
      family: 'job',
      message: expect.stringContaining('says no'),
      next: 'ask the administrator',
    });
  });

  it("contain the vendor's own message", async () => {
    const text = `<Envelope ${'x'.repeat(300)}=""><Body><Fault><faultstring>No such cube</faultstring></Fault></Body></Envelope>`;
    const errors = [
      { body: { 'Envelope.Body.Fault': true }, messageAt: 'Envelope.Body.Fault.faultstring', verdict: 'config' },
    ];
    const problem = await fail({ decode: 'xml', errors: errors as never }, { routes: { 'GET /v1/things': { text } } });
    expect(problem).toMatchObject({ code: 'SERVICE_REFUSED', family: 'config', seen: 'status 200: No such cube' });
  });

  it('leak no part of a secret even if a long message is truncated in the middle of one', async () => {
    registerSecret('0123456789abcdefghijABCDEFGHIJ');
    onTestFinished(forgetSecrets);
    for (const inside of [5, 15, 29]) {
      const text = `no: 0123456789abcdefghijABCDEFGHIJ`.slice(0, 4 + inside).padStart(64 * 1024 + 1);
      const problem = await fail({}, { routes: { 'GET /v1/things': { status: 400, text } } });
      expect(problem.seen).toBe('status 400: no: [redacted]');
    }
  });

  it('keep requests within a rate, and pause them if few are left', async () => {
    const paging = { by: 'page', pages: 'pages' } as const;
    const request = { path: '/things', query: { p: '{{ page.number }}' } };
    const begun: number[] = [];
    const routes = (headers: Record<string, string>): Routes => ({
      'GET /v1/things': ({ query }) => {
        begun.push(performance.now());
        return { json: { data: ids(Number(query.get('p')), 99), pages: 4 }, headers };
      },
    });
    // Measured from before the first request was sent, because a busy server reads that request later, and the measured
    // wait would be too short.
    const start = performance.now();
    await run(
      { paging, request },
      { routes: routes({}), service: { budget: { rates: [{ requests: 2, within: '1s' }] } } },
    );
    // A lower bound is enough, because a slow machine only lengthens the wait.
    expect(begun[2]! - start).toBeGreaterThan(950);
    begun.length = 0;
    const gauges = [
      {
        at: { header: 'usage', at: 'app.percent' },
        means: 'percent_used' as const,
        pause: { at: { header: 'usage', at: 'app.wait' }, unit: 'milliseconds' as const },
      },
    ];
    await run(
      { paging, request },
      {
        routes: routes({ usage: '{"app":{"percent":95,"wait":300}}' }),
        service: { budget: { gauges } },
        source: { timezone: 'UTC' },
      },
    );
    expect(begun[1]! - begun[0]!).toBeGreaterThan(280);
  });

  it('use all values in a header to determine whether few requests are left and how long to wait', async () => {
    const usage = (percent: number, minutes: number) => ({
      headers: {
        'x-usage': JSON.stringify({ a: [{ calls: 1, wait: 0 }], b: [{ calls: percent, wait: minutes, ms: 300 }] }),
      },
    });
    const at = (path: string) => ({ header: 'x-usage', at: path });
    let calls = 0;
    const routes: Routes = {
      'GET /v1/things': () => ({ ...usage(++calls === 1 ? 99 : 2, 0), json: { data: ids(calls, 2) } }),
    };
    const stream = { paging: { by: 'page' } } as const;
    const budget = {
      gauges: [{ at: at('*.*.calls'), means: 'percent_used', pause: { at: at('*.*.ms'), unit: 'milliseconds' } }],
    } as const;
    const began = performance.now();
    expect((await run(stream, { routes, service: { budget } })).rows).toEqual(numbers(1, 2));
    // A lower bound is not a measurement.
    expect(performance.now() - began).toBeGreaterThan(280);
    const errors = [{ status: 400, verdict: 'wait', wait: { at: at('*.*.wait'), unit: 'minutes' } }] as const;
    const busy: Routes = { 'GET /v1/things': { status: 400, ...usage(2, 5), json: {} } };
    expect(await fail({}, { routes: busy, service: { errors } })).toMatchObject({
      family: 'try_later',
      retryAfterMs: 300_000,
    });
  });

  it('cause a wait that is as long as the response says, or else as long as the rule says', async () => {
    const errors = [{ status: 429, verdict: 'wait', wait: '20s' }] as const;
    const waited = async (headers: Record<string, string>) => {
      const given = { routes: { 'GET /v1/things': { status: 429, headers } }, source: { retries: 0 } };
      return (await fail({ errors }, given)).retryAfterMs;
    };
    expect([await waited({ 'retry-after': '3' }), await waited({})]).toEqual([3000, 20_000]);
  });

  it('are retried for longer than an unannounced rate limit lasts', async () => {
    const refused = async (status: number) =>
      fail({}, { routes: { 'GET /v1/things': { status } }, source: { retries: 0 } });
    const [limited, busy] = [await refused(429), await refused(503)];
    expect([limited.isRateLimit, busy.isRateLimit]).toEqual([true, false]);
    const pauses = (random: number) => [0, 1, 2].map((tries) => pauseMs(limited, tries, () => random));
    const shortest = pauses(0).reduce((sum, ms) => sum + ms, 0);
    expect(shortest).toBeGreaterThanOrEqual(100_000);
    // A longer pause would end the run.
    expect(Math.max(...pauses(1))).toBeLessThanOrEqual(60_000);
    expect(pauseMs(busy, 0, () => 1)).toBeLessThan(1000);
  });

  it('can require a pause between two requests', async () => {
    const stopped = new AbortController();
    const pauses: number[] = [];
    const onPause = (_: unknown, milliseconds: number) => {
      pauses.push(milliseconds);
      stopped.abort();
    };
    const limited = await fail({}, { routes: { 'GET /v1/things': { status: 429 } }, source: { retries: 0 } });
    const run = withRetries({ retries: 5, signal: stopped.signal, onPause }, () => Promise.reject(limited));
    await expect(run).rejects.toThrow('aborted');
    expect(pauses).toEqual([expect.toSatisfy((ms: number) => ms >= 30_000)]);
  });

  it("can't be described with an option whose name has another meaning", () => {
    expect(() => caseOf({ options: { page: option.text({ about: 'No.' }) } }, { routes: {} })).toThrow(
      'cannot be named "page"',
    );
  });
});
