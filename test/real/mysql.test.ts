import { expect, it } from 'vitest';
import { check, problemOf } from '../connectors/db-reader.ts';
import { describeWithServer } from '../servers/describe.ts';

describeWithServer({ servers: 'MySQL' }, 'MySQL 8', (server) => {
  it('accepts an account that uses caching_sha2_password, with and without TLS', async () => {
    expect(await check({ url: server().url })).toMatch(/^MySQL 8\.0\.15 as sluice on test(?:;|$)/);
    expect(await check({ url: server().url, tls: { mode: 'require', verify: false } })).toMatch(
      /^MySQL 8\.0\.15 as sluice on test(?:;|$)/,
    );
  });

  it('reports a wrong password as a login problem', async () => {
    const { url, password } = server();
    const problem = await problemOf(check({ url: url.replace(password, 'wrong') }));
    expect(problem).toMatchObject({ code: 'DB_LOGIN_REFUSED', family: 'login' });
  });
});
