import { certificateChecks, Problem, readTlsFiles, type TlsTexts } from '#sdk';
import type { DbTlsOptions } from './secure-options.ts';

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
 */
export async function readTls(tls: DbTlsOptions, folder: string): Promise<Tls | undefined> {
  const { mode = 'off', servername } = tls;
  if (mode === 'off') return undefined;
  return {
    ...(await readTlsFiles(tls, folder, badFile)),
    ...certificateChecks({ ...tls, mode }),
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
