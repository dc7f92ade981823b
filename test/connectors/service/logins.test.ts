import { describe, expect, it } from 'vitest';
import { option, type ServiceDescription } from '../../../src/sdk/index.ts';
import { ids, numbers, run } from '../doubles/acme.ts';
import type { Routes } from '../doubles/vendor.ts';

describe('a service login', () => {
  it('calls the login endpoint, again if the session ends, and then the logout endpoint', async () => {
    let sessions = 0;
    const outcome = await run(
      { paging: { by: 'page' }, request: { path: '/things', query: { p: '{{ page.number }}' } } },
      {
        source: { user: 'ann', password: 'secret-1' },
        service: {
          budget: { at_once: 1 },
          options: {
            user: option.text({ about: 'User.' }),
            password: option.text({ about: 'Password.', secret: true }),
          },
          login: {
            kind: 'session',
            call: { method: 'GET', path: '/login', headers: { user: '{{ user }}', pass: '{{ password }}' } },
            token: 'session.token',
            headers: { auth_token: '{{ login.token }}' },
            logout: { method: 'POST', path: '/logout' },
          },
        },
        routes: {
          'GET /v1/login': ({ headers }) =>
            headers.pass === 'secret-1' ? { json: { session: { token: `session-${++sessions}` } } } : { status: 401 },
          'POST /v1/logout': { status: 204 },
          'GET /v1/things': ({ headers, query }) => {
            if (query.get('p') === '2' && headers.auth_token === 'session-1') return { status: 401 };
            return {
              json: { data: query.get('p') === '3' ? [] : ids(Number(query.get('p')), Number(query.get('p')) + 1) },
            };
          },
        },
      },
    );
    expect(outcome.rows).toEqual(numbers(1, 3));
    expect(sessions).toBe(2);
    expect(outcome.asked.at(-1)).toBe('POST /v1/logout');
  });

  it('retries a login call as often as the call that needs it', async () => {
    let logins = 0;
    const outcome = run(
      {},
      {
        source: { retries: 2 },
        service: { login: { kind: 'session', call: { method: 'GET', path: '/login' }, token: 'token' } },
        routes: {
          'GET /v1/login': () => {
            logins += 1;
            return { status: 503, headers: { 'retry-after': '0' } };
          },
        },
      },
    );
    await expect(outcome).rejects.toMatchObject({ code: 'SERVICE_BUSY', family: 'try_later' });
    expect(logins).toBe(3);
  });

  it('uses the first login whose option is set, and sends credentials, keys and tokens where the vendor expects them', async () => {
    const service: Partial<ServiceDescription> = {
      options: { key: option.text({ about: 'Key.', secret: true }), user: option.text({ about: 'User.' }) },
      login: [
        { kind: 'key', when: 'key', query: { access_key: '{{ key }}' }, headers: { 'x-app': 'sluice' } },
        { kind: 'basic', when: 'user', user: '{{ user }}', password: 'pw-12345' },
        {
          kind: 'oauth',
          oauth: { grants: ['client_credentials'], token_url: 'https://api.acme.example/token', refresh: 'none' },
        },
      ],
      base: '{{ login.kept.host | default: https://api.acme.example }}/v1',
    };
    const routes: Routes = { 'GET /v1/things': { json: { data: [] } } };
    const sent = async (source: Record<string, unknown>, kept?: Record<string, string>) => {
      const { vendor } = await run({}, { routes, service, source, ...(kept && { kept }) });
      return vendor.asked[0]!;
    };
    const keyed = await sent({ key: 'key-12345' });
    expect([keyed.query.get('access_key'), keyed.headers['x-app'], keyed.headers.authorization]).toEqual([
      'key-12345',
      'sluice',
      undefined,
    ]);
    expect((await sent({ user: 'ann' })).headers.authorization).toBe(
      `Basic ${Buffer.from('ann:pw-12345').toString('base64')}`,
    );
    expect((await sent({}, { host: 'https://eu.acme.example' })).headers.authorization).toBe('Bearer token-1');
  });

  it("sends the app's ID next to its token if a vendor requires both", async () => {
    const login = {
      kind: 'oauth',
      oauth: { grants: ['client_credentials'], token_url: 'https://api.acme.example/token', refresh: 'none' },
      headers: { authorization: 'Bearer {{ login.token }}', 'x-api-key': '{{ login.client_id }}' },
    } as const;
    const { vendor } = await run({}, { routes: { 'GET /v1/things': { json: { data: [] } } }, service: { login } });
    expect(vendor.asked[0]!.headers).toMatchObject({ authorization: 'Bearer token-1', 'x-api-key': 'app-1' });
  });
});
