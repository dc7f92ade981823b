import { DatabaseError } from 'pg';
import { describe, expect, it } from 'vitest';
import { mysqlProblem } from '../../connectors/db/mysql-problems.ts';
import { postgresProblem } from '../../connectors/db/postgres-problems.ts';
import { sqlserverProblem } from '../../connectors/db/sqlserver-problems.ts';
import type { Login } from '../../src/config/config.ts';
import { Problem } from '../../src/lib/problem.ts';
import { clientRefused, endedByVendor } from '../../src/oauth/login-problems.ts';
import { readRefusal } from '../../src/oauth/refusal.ts';
import { refusalProblem } from '../../src/sdk/http/problems.ts';
import type { SshLogin } from '../../src/sdk/ssh/login.ts';
import { loginProblem } from '../../src/sdk/ssh/problems.ts';
import { PromptAnswers } from '../../src/sdk/ssh/prompts.ts';

const at = { place: 'db:1', connectSeconds: 10, isConnected: false, hasTls: true, hasCertificate: false };
const pg = (code: string, message = 'no') =>
  Object.assign(new DatabaseError(message, message.length, 'error'), { code, severity: 'FATAL' });
const my = (errno: number) => Object.assign(new Error('no'), { errno, sqlMessage: 'no', sqlState: '28000' });
const ms = (number: number) => Object.assign(new Error('no'), { number, code: 'ELOGIN' });
const description = { grants: ['client_credentials'], token_url: 'https://a.example/t', refresh: 'none' } as const;
const login = { name: 'acme', grant: 'client_credentials', description } as unknown as Login;
const refusal = (error: string, ended_codes: readonly string[] = []) =>
  readRefusal({ error }, { status: 400, description: { ...description, ended_codes } });
const ssh = { place: 'ssh://a', user: 'u', codes: 'FTP', connectTimeoutSeconds: 1 } as SshLogin;
const unauthenticated = Object.assign(new Error('All configured authentication methods failed'), {
  level: 'client-authentication',
});

describe('a refused login', () => {
  it.each<[string, Problem]>([
    ['PostgreSQL: wrong password', postgresProblem(pg('28P01'), at)],
    [
      'PostgreSQL: an expired token of Amazon RDS',
      postgresProblem(
        Object.assign(pg('28000', 'PAM authentication failed for user "etl"'), { routine: 'auth_failed' }),
        at,
      ),
    ],
    ['PgBouncer: wrong password', postgresProblem(pg('08P01', 'SASL authentication failed'), at)],
    ['MySQL 1045', mysqlProblem(my(1045), at)],
    ['SQL Server 18456', sqlserverProblem(ms(18456), at)],
    ['SQL Server 18456 followed by a tedious error', sqlserverProblem(new LoginFailed(), { ...at, loginError: 18456 })],
    ['SSH: key or password refused', loginProblem(ssh, unauthenticated, { hasTried: true })],
    ['OAuth invalid_client', clientRefused(login, refusal('invalid_client'))],
    ['OAuth invalid_grant', endedByVendor(login, refusal('invalid_grant'), undefined)],
    [
      "OAuth: a vendor's own word for invalid_grant",
      endedByVendor(login, refusal('bad_login', ['bad_login']), undefined),
    ],
    ['a copy that adds its location', postgresProblem(pg('28P01'), at).at({ source: 'shop' })],
  ])('%s', (_, problem) => {
    expect(problem).toMatchObject({ family: 'login', isLoginRefused: true });
  });

  it.each<[string, Problem]>([
    ['PostgreSQL: pg_hba.conf', postgresProblem(pg('28000', 'no pg_hba.conf entry for host "a"'), at)],
    [
      'PostgreSQL: a client certificate',
      postgresProblem(pg('28000', 'connection requires a valid client certificate'), at),
    ],
    ['PostgreSQL: a query that logs in elsewhere', postgresProblem(pg('28P01'), { ...at, isConnected: true })],
    ['PostgreSQL: too many connections', postgresProblem(pg('53300'), at)],
    ['PgBouncer: client certificate', postgresProblem(pg('08P01', 'TLS certificate name mismatch'), at)],
    ['PgBouncer: pool exhausted', postgresProblem(pg('08P01', 'query_wait_timeout'), at)],
    ['MySQL 1044: no access to the database', mysqlProblem(my(1044), at)],
    ['MySQL 1040: too many connections', mysqlProblem(my(1040), at)],
    ['MySQL: a query that fails with 1045', mysqlProblem(my(1045), { ...at, isConnected: true })],
    ['SQL Server 4060: no access to the database', sqlserverProblem(new LoginFailed(), { ...at, loginError: 4060 })],
    ['SSH: no common method', loginProblem(ssh, unauthenticated, { hasTried: false })],
    ['OAuth invalid_scope', clientRefused(login, refusal('invalid_scope'))],
    ['OAuth access_denied', endedByVendor(login, refusal('access_denied'), undefined)],
    ['403', answered(403)],
    ['a single 401', answered(401)],
  ])('is not: %s', (_, problem) => {
    expect(problem.isLoginRefused).toBe(false);
  });

  it("contains the request's URL only for a 401 status", () => {
    expect(answered(401).at({ source: 'api' }).refusedPath).toBe('https://a.example/orders');
    expect(answered(403).refusedPath).toBeUndefined();
  });

  it("keeps all other fields when it's marked as a login error", () => {
    const problem = answered(401).ofLogin();
    expect(problem).toMatchObject({ isLoginRefused: true, code: 'REST_LOGIN', seen: 'status 401' });
    expect(problem).toBeInstanceOf(Problem);
  });
});

describe('an SSH server that sends prompts', () => {
  const ask = (answers: PromptAnswers, prompt: string, echo = false) => answers.answer([{ prompt, echo }]);

  it.each(['Password: ', "(u@host) u's password: ", 'Passwort: ', 'Mot de passe :', 'パスワード:'])(
    'gets the password only once, for %s',
    (prompt) => {
      const answers = new PromptAnswers();
      expect([ask(answers, prompt), ask(answers, prompt)]).toEqual(['password', 'again']);
    },
  );

  it.each([
    ['Verification code: ', false],
    ["One-time password (OATH) for `u': ", false],
    ['Passcode or option (1-3): ', false],
    ['New password: ', false],
    ['Password: ', true],
    ['', false],
  ])("doesn't get the password for %j (shown: %s)", (prompt, echo) => {
    expect(ask(new PromptAnswers(), prompt, echo)).toEqual({ asksFor: prompt });
  });

  it('can still request the password after a message without prompts', () => {
    const answers = new PromptAnswers();
    expect([answers.answer([]), ask(answers, 'Password:')]).toEqual(['password', 'password']);
  });
});

function answered(status: number): Problem {
  return refusalProblem({ url: new URL('https://a.example/orders'), status, text: '', passing: undefined });
}

class LoginFailed extends Error {
  readonly code = 'ELOGIN';
}
