import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeCertificates } from '../servers/certificates.ts';
import { check, type Options, problemOf } from './db-reader.ts';
import { startClearPasswordServer } from './doubles/clear-password-server.ts';

describe('a MySQL server that asks for the password in clear text', () => {
  let server: Awaited<ReturnType<typeof startClearPasswordServer>>;
  let folder: string;
  beforeAll(async () => {
    const { ca, cert, key } = await makeCertificates(['IP:127.0.0.1']);
    folder = await mkdtemp(join(tmpdir(), 'sluice-tokens-'));
    await writeFile(join(folder, 'ca.pem'), ca);
    await writeFile(join(folder, 'stranger.pem'), (await makeCertificates(['IP:127.0.0.1'])).ca);
    server = await startClearPasswordServer('token', { cert, key });
  });
  beforeEach(() => void server.received.splice(0));
  afterAll(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });

  const login = (password: string, options: Options) =>
    problemOf(check({ url: `mysql://u:${password}@127.0.0.1:${server.port}/d`, ...options }, { folder }));

  it('gets it over a verified connection, and a refusal counts as a refused login', async () => {
    const tls = { mode: 'verify', ca_file: 'ca.pem' };
    expect(await login('expired', { tls })).toMatchObject({
      code: 'DB_LOGIN_REFUSED',
      family: 'login',
      isLoginRefused: true,
    });
    expect(server.received).toEqual(['expired']);
  });

  it.each<[string, Options]>([
    ['is not encrypted', {}],
    ['accepts any certificate', { tls: { mode: 'require', verify: false } }],
  ])("doesn't get it over a connection that %s", async (_, options) => {
    expect(await login('token', options)).toMatchObject({
      code: 'DB_TLS_REQUIRED',
      family: 'config',
      message: expect.stringContaining('mysql_clear_password'),
      next: expect.stringContaining('tls: { mode: verify }'),
    });
    expect(server.received).toEqual([]);
  });

  it("doesn't get it if its certificate isn't trusted", async () => {
    const problem = await login('token', { tls: { mode: 'verify', ca_file: 'stranger.pem' } });
    expect(problem).toMatchObject({ code: 'DB_TLS_REFUSED' });
    expect(server.received).toEqual([]);
  });
});
