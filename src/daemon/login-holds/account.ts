import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Login, Source } from '../../config/config.ts';
import { redact } from '../../lib/redact.ts';
import type { EncryptionKey } from '../../oauth/keys.ts';
import type { SourceAccount } from '../../sdk/log-in.ts';
import type { LoginAccount } from '../../state/login-holds.ts';

/** The account that a source logs in to, and the secret that it uses. */
export interface SourceLogin extends LoginAccount, Pick<SourceAccount, 'secret' | 'files'> {}

/**
 * Returns a source's login, or undefined if the source has none. The server and user are stored and shown, even if they
 * come from a secrets provider.
 */
export function loginOf(source: Source): SourceLogin | undefined {
  const found = writtenLoginOf(source);
  return found && { ...found, place: redact(found.place), account: redact(found.account) };
}

function writtenLoginOf({ name, connector, options, login }: Source): SourceLogin | undefined {
  if (login !== undefined) return oauthLogin(login);
  if (connector.account === undefined) {
    // The connector doesn't declare which options belong to the login, so changing any option may result in a different
    // login.
    return { connector: connector.id, place: hostIn(options) ?? `source ${name}`, account: '', secret: options };
  }
  const account = connector.account(options);
  if (account === undefined) return undefined;
  const { place, user = '', ...rest } = account;
  return { connector: connector.id, place, account: user, ...rest };
}

/** The account doesn't depend on the connector, because sources with different connectors may share a login. */
function oauthLogin(login: Login): SourceLogin {
  const { description, grant, clientId, clientSecret, privateKey, accountFile, subject, username, password } = login;
  const account = username ?? subject ?? (clientId === '' ? (accountFile ?? '') : clientId);
  const place = URL.parse(description.token_url)?.host ?? description.token_url;
  const secret = { grant, clientId, clientSecret, privateKey, username, password, subject, url: description.token_url };
  return { connector: 'oauth', place, account, secret, files: [accountFile] };
}

function hostIn({ url }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof url === 'string' ? URL.parse(url)?.host || undefined : undefined;
}

/**
 * Keyed hash of everything that a login depends on, including the contents of its files. The key isn't stored in the
 * database, so the hash can't be used to guess passwords.
 */
export async function hashSecret(
  { secret, files = [] }: SourceLogin,
  key: Pick<EncryptionKey, 'bytes'>,
  folder: string,
): Promise<string> {
  const hash = createHmac('sha256', key.bytes).update('login on hold\0').update(JSON.stringify(secret));
  for (const file of files) {
    const content = file === undefined ? '' : await readFile(resolve(folder, file)).catch(() => '');
    hash.update(`\0${file ?? ''}\0`).update(content);
  }
  return hash.digest('base64');
}

/** Compares two hashes in constant time. */
export function isSameHash(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** `db:5432 as etl`. */
export function loginText({ place, account }: LoginAccount): string {
  return account === '' ? place : `${place} as ${account}`;
}
