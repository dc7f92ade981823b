import { afterEach, describe, expect, it } from 'vitest';
import { forgetSecrets, redact } from '../../src/lib/redact.ts';
import { folderWith } from '../config/fixtures.ts';
import { type Asked, busy, Double, loadPasswords, passwordsIn, type Reply, variable } from './double.ts';

afterEach(forgetSecrets);

const denied: Reply = { status: 403, body: { errors: ['permission denied'] } };

/** A Vault with a mount of each version and with an application's logins. */
async function startVault(secrets: Record<string, object> = { 'secret/db': { user: 'etl', password: 'p-w-1' } }) {
  const tokens = new Set(['root-token']);
  let logins = 0;
  const logIn = (isRight: boolean): Reply => {
    if (!isRight) return { status: 400, body: { errors: ['invalid role or secret ID'] } };
    const token = `login-token-${++logins}`;
    tokens.add(token);
    return { body: { auth: { client_token: token, lease_duration: 3600 } } };
  };
  const mountOf = (path: string): Reply => {
    const mount = ['kv/one/', 'kv/two/', 'secret/'].find((one) => path.startsWith(one));
    if (mount === undefined) return denied;
    return { body: { data: { path: mount, type: 'kv', options: mount === 'secret/' ? { version: '2' } : null } } };
  };
  const reply = ({ path, headers, body }: Asked): Reply => {
    const at = path.replace('/v1/', '');
    if (at === 'auth/approle/login')
      return logIn(body === JSON.stringify({ role_id: 'role', secret_id: 'secret-id-1' }));
    if (at === 'auth/k8s/login') return logIn(body === JSON.stringify({ role: 'sluice', jwt: 'pod-token' }));
    if (!tokens.has(String(headers['x-vault-token']))) return denied;
    if (at.startsWith('sys/internal/ui/mounts/')) return mountOf(at.slice('sys/internal/ui/mounts/'.length));
    const isSecond = at.startsWith('secret/data/');
    const found = secrets[decodeURIComponent(isSecond ? at.replace('data/', '') : at)];
    if (found === undefined) return { status: 404, body: { errors: [] } };
    return { body: { data: isSecond ? { data: found, metadata: { version: 3 } } : found } };
  };
  const server = await Double.start(reply);
  const env = { VAULT_ADDR: server.url, VAULT_TOKEN: 'root-token' };
  return { server, tokens, env, secrets, logins: () => logins };
}

describe('a secret in Vault', () => {
  it('is read from a field at a path, in mounts of both versions', async () => {
    const { env } = await startVault({
      'secret/db': { user: 'etl', password: 'p-w-1' },
      'secret/a b/ü': { key: 'p-w-2' },
      'kv/one/db': { password: 'p-w-3' },
      'kv/two/db': { password: 'p-w-4' },
    });
    const written = ['secret/db#password', '/secret/a b/ü#key', 'secret/a b/ü', 'kv/one/db#password', 'kv/two/db'];
    const loaded = await loadPasswords(
      written.map((one) => variable(`vault:${one}`)),
      { env },
    );
    expect(loaded.problems).toEqual([]);
    expect(passwordsIn(loaded)).toEqual(['p-w-1', 'p-w-2', 'p-w-2', 'p-w-3', 'p-w-4']);
    expect(redact('x p-w-1 y p-w-3')).toBe('x [redacted] y [redacted]');
  });

  it('that many options use is requested only once, and all secrets are requested concurrently', async () => {
    const many = Array.from({ length: 12 }, (_, i) => `secret/s${i}`);
    const { server, env } = await startVault(
      Object.fromEntries(many.map((path) => [path, { a: `${path}-a`, b: `${path}-b` }])),
    );
    const written = many.flatMap((path) => [`${path}#a`, `${path}#b`, `${path}#a`]);
    const loaded = await loadPasswords(
      written.map((one) => variable(`vault:${one}`)),
      { env },
    );
    expect(loaded.problems).toEqual([]);
    expect(passwordsIn(loaded)).toEqual(written.map((one) => one.replace('#', '-')));
    expect(server.to(/data/)).toHaveLength(12);
    expect(server.to(/mounts/)).toHaveLength(1);
  });

  it("can be part of a string, can have variables in its path, and keeps a number's digits", async () => {
    const { env, secrets } = await startVault();
    Object.assign(secrets, { 'secret/number': JSON.parse('{"pin": 1}') });
    const inside = `x${variable(`vault:secret/${variable('env:NAME')}#password`)}-${variable('vault:secret/number#pin')}`;
    const loaded = await loadPasswords([inside], { env: { ...env, NAME: 'db' } });
    expect(passwordsIn(loaded)).toEqual(['xp-w-1-1']);
    const vault = await Double.start(({ path }) => ({
      body: path.includes('mounts')
        ? { data: { path: 'secret/', options: { version: '1' } } }
        : '{"data":{"pin":12345678901234567890}}',
    }));
    const exact = await loadPasswords([variable('vault:secret/x#pin')], {
      env: { VAULT_ADDR: vault.url, VAULT_TOKEN: 't' },
    });
    expect(passwordsIn(exact)).toEqual(['12345678901234567890']);
    expect(redact('12345678901234567890')).toBe('[redacted]');
  });

  it('is read even after throttling and server errors', async () => {
    const { server, env } = await startVault();
    server.answers.push(busy(429), busy(503), { status: 502, headers: { 'retry-after': '0' } });
    const loaded = await loadPasswords([variable('vault:secret/db#password')], { env });
    expect(loaded.problems).toEqual([]);
    expect(passwordsIn(loaded)).toEqual(['p-w-1']);
    expect(server.asked).toHaveLength(5);
  });

  it('is reported as unavailable if the server asks for too long a wait, and the error shows that wait', async () => {
    const { server, env } = await startVault();
    server.answers.push({ status: 429, headers: { 'retry-after': '3600' } });
    const { problems } = await loadPasswords([variable('vault:secret/db#password')], { env });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({
      code: 'CONFIG_SECRET_UNAVAILABLE',
      where: { line: 11, source: 's0' },
      seen: 'status 429 (retry after 3600 s), after 1 attempt',
    });
  });

  it("that is missing or has no such field is reported where it's used, without any values", async () => {
    const { env } = await startVault();
    const written = ['secret/nowhere#x', 'secret/data/db#x', 'secret/db#pass', 'secret/db', 'secret/db#', '#x'];
    const { problems, config } = await loadPasswords(
      written.map((one) => variable(`vault:${one}`)),
      { env },
    );
    expect(problems.map(({ code, where }) => [code, where.source])).toEqual(
      written.map((_, i) => ['CONFIG_SECRET_MISSING', `s${i}`]),
    );
    expect(problems[0]).toMatchObject({
      message: 'Vault has no secret secret/nowhere',
      seen: 'status 404 (secret/data/nowhere)',
    });
    expect(problems[2]).toMatchObject({
      message: 'The secret secret/db has no field "pass"',
      allowed: 'user, password',
    });
    expect(problems[3]?.message).toBe('The secret secret/db has several fields');
    expect(JSON.stringify(problems)).not.toContain('p-w-1');
    // The rest of the config is usable.
    expect([...config!.jobs.keys()]).toEqual(['orders']);
  });

  it("that the token can't read is reported as denied, with the capability that the token needs", async () => {
    const { env, server } = await startVault();
    const { problems } = await loadPasswords([variable('vault:secret/db#password')], {
      env: { ...env, VAULT_TOKEN: 'stale-token' },
    });
    expect(problems[0]).toMatchObject({
      code: 'CONFIG_SECRET_DENIED',
      seen: 'status 403: permission denied',
      allowed: 'a valid token whose policy has the "read" capability for secret/data/db',
    });
    // The same token isn't sent again.
    expect(server.asked).toHaveLength(2);
    expect(redact('stale-token')).toBe('[redacted]');
  });

  it('causes an error if no address or login is set, or if the server is unreachable', async () => {
    const home = await folderWith({});
    const codes = async (env: Record<string, string>) => {
      const { problems } = await loadPasswords([variable('vault:secret/db#password')], { env: { HOME: home, ...env } });
      return problems.map(({ code, message }) => `${code} ${message}`);
    };
    expect(await codes({})).toEqual(['CONFIG_SECRET_SETTINGS The address of Vault is not set']);
    expect(await codes({ VAULT_ADDR: 'vault:8200' })).toEqual([
      'CONFIG_SECRET_SETTINGS The address of Vault is not a URL',
    ]);
    expect(await codes({ VAULT_ADDR: 'http://127.0.0.1:1' })).toEqual([
      'CONFIG_SECRET_SETTINGS No credentials are set for Vault',
    ]);
    expect(await codes({ VAULT_ADDR: 'http://127.0.0.1:1', VAULT_TOKEN: 't' })).toEqual([
      'CONFIG_SECRET_UNAVAILABLE Vault is unreachable: 127.0.0.1:1',
    ]);
  });
});

describe('a Vault login', () => {
  const secret = [variable('vault:secret/db#password')];

  it("by AppRole or a pod's service account happens only once for all secrets", async () => {
    const { server, secrets } = await startVault();
    Object.assign(secrets, { 'secret/other': { password: 'p-w-2' } });
    const both = [...secret, variable('vault:secret/other#password')];
    const top = `secrets: {vault: {address: '${server.url}', role_id: role, secret_id: '${variable('env:ID')}'}}`;
    expect(passwordsIn(await loadPasswords(both, { top, env: { ID: 'secret-id-1' } }))).toEqual(['p-w-1', 'p-w-2']);
    expect(server.to(/login/)).toHaveLength(1);
    expect(redact('secret-id-1 login-token-1')).toBe('[redacted] [redacted]');
    const folder = await folderWith({ token: 'pod-token\n' });
    const pod = `secrets: {vault: {address: '${server.url}', kubernetes_role: sluice, login_mount: k8s, kubernetes_token_file: '${folder}/token'}}`;
    expect(passwordsIn(await loadPasswords(secret, { top: pod }))).toEqual(['p-w-1']);
    expect(redact('pod-token')).toBe('[redacted]');
    const wrong = await loadPasswords(both, { top, env: { ID: 'secret-id-2' } });
    expect(wrong.problems.map(({ code, seen }) => [code, seen])).toEqual(
      both.map(() => ['CONFIG_SECRET_DENIED', 'status 400: invalid role or secret ID']),
    );
  });

  it("uses a token from the config, the environment or the vault command's file, in that order", async () => {
    const { server, env } = await startVault();
    const used = async (top: string, more: Record<string, string | undefined>) => {
      server.asked.length = 0;
      await loadPasswords(secret, { top, env: { ...env, ...more } });
      const tokens = server.asked.map(({ path, headers }) => headers['x-vault-token'] ?? path);
      return [...new Set(tokens)];
    };
    const HOME = await folderWith({ '.vault-token': 'token-of-file\n' });
    const role = { VAULT_ROLE_ID: 'role', VAULT_SECRET_ID: 'secret-id-1' };
    expect(await used('secrets: {vault: {token: token-of-config}}', { HOME, ...role })).toEqual(['token-of-config']);
    expect(await used('', { HOME, ...role })).toEqual(['/v1/auth/approle/login', 'login-token-1']);
    expect(await used('', { HOME })).toEqual(['root-token']);
    expect(await used('', { HOME, VAULT_TOKEN: undefined })).toEqual(['token-of-file']);
    expect(redact('token-of-config token-of-file secret-id-1')).toBe('[redacted] [redacted] [redacted]');
  });

  it('is repeated only once for all secrets if its token has expired', async () => {
    const { server, tokens, secrets, logins } = await startVault();
    const many = Array.from({ length: 8 }, (_, i) => `secret/s${i}`);
    for (const path of many) Object.assign(secrets, { [path]: { password: path } });
    const top = `secrets: {vault: {address: '${server.url}', role_id: role, secret_id: secret-id-1}}`;
    // Revoked as soon as the mount is known.
    server.answers.push({ body: { auth: { client_token: 'short-lived' } } });
    tokens.add('short-lived');
    const deleted = setInterval(() => {
      if (server.to(/mounts/).length > 0) tokens.delete('short-lived');
    }, 0);
    const loaded = await loadPasswords(
      many.map((path) => variable(`vault:${path}#password`)),
      { top },
    );
    clearInterval(deleted);
    expect(loaded.problems).toEqual([]);
    expect(passwordsIn(loaded)).toEqual(many);
    expect(logins()).toBe(1);
  });

  it('sends the namespace, and follows a standby server to the active one', async () => {
    const { server, env } = await startVault();
    const standby = await Double.start(({ path }) => ({ status: 307, headers: { location: `${server.url}${path}` } }));
    const top = `secrets: {vault: {address: '${standby.url}', namespace: team-a}}`;
    expect(passwordsIn(await loadPasswords(secret, { top, env }))).toEqual(['p-w-1']);
    expect(server.asked.every(({ headers }) => headers['x-vault-namespace'] === 'team-a')).toBe(true);
  });
});

describe('the secrets section', () => {
  it("is checked like other options, and its own secrets can't come from a provider", async () => {
    const typo = await loadPasswords([variable('vault:secret/db#password')], { top: 'secrets: {vault: {adress: x}}' });
    expect(typo.problems.map(({ code }) => code)).toEqual(['CONFIG_UNKNOWN_OPTION', 'CONFIG_SECRET_SETTINGS']);
    const itself = await loadPasswords([], { top: `secrets: {vault: {token: '${variable('vault:secret/t')}'}}` });
    expect(itself.problems.map(({ code }) => code)).toEqual(['CONFIG_VARIABLE']);
  });
});
