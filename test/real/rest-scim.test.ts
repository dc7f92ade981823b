import { afterAll, beforeAll, expect, it } from 'vitest';
import { restBench } from '../connectors/simple_rest/rig.ts';
import { describeWithWebServer } from '../servers/describe-web-servers.ts';
import { startScim2 } from '../servers/scim2.ts';
import type { WebServer } from '../servers/web-server.ts';

/** Installing the server takes minutes on first use. */
const firstUseMs = 10 * 60_000;
const all = Array.from({ length: 47 }, (_, i) => i + 1);

describeWithWebServer('scim2-server', 'scim2-server', () => {
  const { extract } = restBench();
  let server: WebServer;
  beforeAll(async () => {
    server = await startScim2();
    for (const n of all) {
      const user = {
        schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
        userName: `user${String(n).padStart(2, '0')}`,
        name: { formatted: `é "${n}"` },
        emails: [{ value: `${n}@example.com`, primary: true }],
      };
      const headers = { 'content-type': 'application/scim+json' };
      const made = await fetch(`${server.url}/v2/Users`, { method: 'POST', headers, body: JSON.stringify(user) });
      expect(made.status).toBe(201);
      await made.body?.cancel();
    }
  }, firstUseMs);
  afterAll(() => server?.stop());

  it.each<[string, object]>([
    ['an empty page', {}],
    ['the total', { total: 'totalResults' }],
  ])('is read by an index that starts at 1, until %s', async (_, end) => {
    const query = {
      path: '/v2/Users?count=10&sortBy=userName',
      records: 'Resources',
      paging: { kind: 'offset', parameter: 'startIndex', first: 1, ...end },
    };
    const { columns, rows } = await extract(query, { url: server.url });
    const names = columns.map(({ name }) => name);
    const cells = (row: readonly (string | null)[]) =>
      ['userName', 'name.formatted', 'emails'].map((name) => row[names.indexOf(name)]);
    expect(rows.map(cells)).toEqual(
      all.map((n) => [
        `user${String(n).padStart(2, '0')}`,
        `é "${n}"`,
        `[{"value":"${n}@example.com","primary":true}]`,
      ]),
    );
  });
});
