import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { expandHome, Problem } from '#sdk';
import type { ApiKind } from './api-session.ts';
import type { LoginOptions } from './driver.ts';
import { snowflakeError, snowflakeMeaning } from './snowflake-problems.ts';

/** Lifetime of a signed token, in seconds. Snowflake accepts at most an hour. */
const tokenSeconds = 3000;

/** Snowflake's SQL API. https://docs.snowflake.com/en/developer-guide/sql-api/authenticating */
export async function snowflakeApi(options: LoginOptions): Promise<ApiKind> {
  const { server, address } = options;
  const key = server.password === undefined ? await privateKeyOf(options) : undefined;
  const kind = key === undefined ? 'PROGRAMMATIC_ACCESS_TOKEN' : 'KEYPAIR_JWT';
  const account = accountOf(server.host);
  return {
    async headers() {
      const token = key === undefined ? server.password : signedToken(key, { account, user: address.user ?? '' });
      return {
        authorization: `Bearer ${token}`,
        'x-snowflake-authorization-token-type': kind,
        'user-agent': address.applicationName,
      };
    },
    renew: async () => false,
    errorIn: snowflakeError,
    meaningOf: snowflakeMeaning,
  };
}

/** The account in the name of its host, without its region: `myorg-shop.snowflakecomputing.com`. */
const accountOf = (host: string): string => host.split('.')[0]!.toUpperCase();

/** A JWT that is signed with the user's key (RFC 7519). Its issuer contains the fingerprint of the public key. */
function signedToken(key: KeyObject, { account, user }: { account: string; user: string }): string {
  const subject = `${account}.${user.toUpperCase()}`;
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const fingerprint = createHash('sha256').update(publicKey).digest('base64');
  const at = Math.floor(Date.now() / 1000);
  const claims = { iss: `${subject}.SHA256:${fingerprint}`, sub: subject, iat: at, exp: at + tokenSeconds };
  const signed = [{ alg: 'RS256', typ: 'JWT' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
}

async function privateKeyOf({ source, folder }: LoginOptions): Promise<KeyObject> {
  const file = resolve(folder, expandHome(source.private_key_file ?? ''));
  try {
    const { passphrase } = source;
    return createPrivateKey({ key: await readFile(file), ...(passphrase === undefined ? {} : { passphrase }) });
  } catch (cause) {
    throw new Problem({
      code: 'DB_PRIVATE_KEY',
      family: 'config',
      message: `cannot use the file in private_key_file: ${file}`,
      allowed: 'an RSA key in PEM format (PKCS#8)',
      next: "fix the path, the file's permissions, or the passphrase",
      cause,
    });
  }
}
