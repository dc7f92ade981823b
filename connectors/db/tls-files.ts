import { Problem, readTlsFiles, type TlsTexts } from '#sdk';
import type { DbTlsOptions } from './options.ts';

/** TLS settings with the contents of their files. */
export interface Tls extends TlsTexts {
  /** Whether the server's certificate must be signed by a trusted authority. */
  readonly rejectUnauthorized: boolean;
  /** Whether the certificate must also be for the server's name. */
  readonly verifyIdentity: boolean;
  readonly servername?: string;
}

/**
 * Reads the TLS files. Their paths are relative to `folder`. Returns undefined if TLS is off. Throws `DB_TLS_FILE` if a
 * file can't be read.
 *
 * `require` verifies the server as far as possible. libpq doesn't verify it without a root certificate, and thus
 * doesn't protect from an attacker between client and server.
 */
export async function readTls(tls: DbTlsOptions, folder: string): Promise<Tls | undefined> {
  const { mode = 'off', verify = true, servername } = tls;
  if (mode === 'off') return undefined;
  const texts = await readTlsFiles(tls, folder, badFile);
  const isForAnyName = mode === 'verify-ca' || (mode === 'require' && texts.ca !== undefined);
  return {
    ...texts,
    rejectUnauthorized: verify,
    verifyIdentity: verify && (!isForAnyName || servername !== undefined),
    ...(servername === undefined ? {} : { servername }),
  };
}

function badFile(_option: string, path: string, cause: unknown): Problem {
  return new Problem({
    code: 'DB_TLS_FILE',
    family: 'config',
    message: `cannot read a file named in the tls options: ${path}`,
    next: "fix the path or the file's permissions",
    cause,
  });
}
