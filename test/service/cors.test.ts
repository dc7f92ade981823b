import { describe, expect, it } from 'vitest';
import { startService } from '../../src/service/service.ts';
import { type Bench, bench } from './service.ts';

const origin = 'https://dashboards.example.com';
const preflight = { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'kf-api-key' };

const allowedOrigins = async (given: Bench) => {
  const answers = [
    await given.call('GET', '/profile', { headers: { origin } }),
    await given.call('GET', '/profile', { headers: { origin }, key: null }),
    await given.call('GET', '/nothing', { headers: { origin } }),
    await given.call('GET', '/groups?limit=0', { headers: { origin } }),
  ];
  return answers.map(({ status, headers }) => [status, headers['access-control-allow-origin']]);
};

describe('a web page that calls the service from a browser', () => {
  it('may not by default', async () => {
    const given = await bench();
    expect((await given.call('OPTIONS', '/profile', { headers: preflight, key: null })).status).toBe(401);
    expect(await allowedOrigins(given)).toEqual([200, 401, 404, 400].map((status) => [status, undefined]));
  });

  it.each([origin, '*'])('may with the origin %s, and its preflight requests need no key', async (corsOrigin) => {
    const given = await bench({ corsOrigin });
    for (const path of ['/profile', '/datasource-instances/x/data', '/nothing']) {
      const { status, text, headers } = await given.call('OPTIONS', path, { headers: preflight, key: null });
      expect([path, status, text]).toEqual([path, 204, '']);
      expect(headers['access-control-allow-origin']).toBe(corsOrigin);
      expect(headers['access-control-allow-methods']).toContain('PUT');
      expect(headers['access-control-allow-headers']).toContain('kf-api-key');
    }
    expect(await allowedOrigins(given)).toEqual([200, 401, 404, 400].map((status) => [status, corsOrigin]));
    expect((await given.call('OPTIONS', '/profile')).status).toBe(405);
  });

  it.each(['dashboards.example.com', 'https://a.test/', 'https://a.test/x', 'https://u@a.test', 'null', ''])(
    "can't have the origin %s, which isn't one",
    async (corsOrigin) => {
      await expect(startService({ data: 'memory', corsOrigin })).rejects.toMatchObject({ code: 'SERVICE_ADDRESS' });
    },
  );
});
