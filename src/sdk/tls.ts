import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/** Files for TLS certificate verification, which are set next to the mode in a `tls` option. */
export interface TlsFiles {
  readonly ca_file?: string;
  readonly cert_file?: string;
  readonly key_file?: string;
  readonly servername?: string;
}

/** The JSON Schemas of {@link TlsFiles}, shared so that all connectors describe them the same way. */
export const tlsFileSchemas = {
  ca_file: {
    type: 'string',
    description: 'PEM file with the certificate of the authority that signed the server certificate.',
  },
  cert_file: { type: 'string', description: 'PEM file with the client certificate, if the server requires one.' },
  key_file: { type: 'string', description: 'PEM file with the private key of the client certificate.' },
  servername: {
    type: 'string',
    description: 'Name that the server certificate must contain if it is not the host name.',
  },
};

/** How much of a server's certificate to verify. */
export interface TlsVerification extends TlsFiles {
  readonly mode: 'require' | 'verify-ca' | 'verify';
  /** False if any certificate is accepted; only with `require`. Default: true. */
  readonly verify?: boolean;
}

/**
 * The modes of libpq's `sslmode` with which the connection is either unencrypted or verified. With the others, `allow`
 * and `prefer`, an attacker could prevent the encryption.
 */
export const sslModes = {
  disable: 'off',
  require: 'require',
  'verify-ca': 'verify-ca',
  'verify-full': 'verify',
} as const;

/** The JSON Schema of `verify`, and what the modes mean. */
export const tlsVerifySchema = {
  type: 'boolean',
  description:
    'With mode require: false accepts any certificate, so the connection is encrypted but not protected from an attacker in between. Default: true.',
};
export const tlsModes =
  '`verify` encrypts the connection and verifies the server’s certificate and host name. `verify-ca` verifies only that ca_file’s authority signed the certificate. `require` is like `verify-ca` if ca_file is set, otherwise like `verify`.';

/**
 * What to check of the server's certificate: whether a trusted authority signed it, and whether it's for the server's
 * name. `require` verifies as much as it can; other clients then accept any certificate, and thus don't protect from an
 * attacker between client and server.
 */
export function certificateChecks({ mode, verify = true, ca_file, servername }: TlsVerification): {
  readonly rejectUnauthorized: boolean;
  readonly verifyIdentity: boolean;
} {
  const isForAnyName = mode === 'verify-ca' || (mode === 'require' && ca_file !== undefined);
  return { rejectUnauthorized: verify, verifyIdentity: verify && (!isForAnyName || servername !== undefined) };
}

/** Errors in the combination of mode, `verify` and files, phrased so that they can follow the option's name. */
export function tlsVerificationFaults({ mode, verify, ...files }: TlsVerification): string[] {
  return [
    ...(mode !== 'require' && verify === false
      ? [`has verify: false, but mode ${mode}; set mode to require, or remove verify`]
      : []),
    ...(mode === 'verify-ca' && files.ca_file === undefined ? ['with mode verify-ca requires ca_file'] : []),
    ...tlsFileFaults(files),
  ];
}

/** Errors in the combination of files, phrased so that they can follow the option's name. */
export function tlsFileFaults({ cert_file: cert, key_file: key }: TlsFiles): string[] {
  return (cert === undefined) === (key === undefined) ? [] : ['needs both cert_file and key_file'];
}

/** The files' contents, under the option names that `node:tls` uses. Files that aren't set are omitted. */
export interface TlsTexts {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/**
 * Reads the files. Relative paths are resolved against `folder`. If a file can't be read, throws the problem that
 * `unreadable` creates from the option's name, the file's path and the system error.
 */
export async function readTlsFiles(
  tls: TlsFiles,
  folder: string,
  unreadable: (option: string, path: string, cause: unknown) => Error,
): Promise<TlsTexts> {
  const read = async (option: 'ca_file' | 'cert_file' | 'key_file', as: keyof TlsTexts): Promise<TlsTexts> => {
    const given = tls[option];
    if (given === undefined) return {};
    const path = resolve(folder, given);
    const text = await readFile(path, 'utf8').catch((cause: unknown) => {
      throw unreadable(option, path, cause);
    });
    return { [as]: text };
  };
  const texts = [read('ca_file', 'ca'), read('cert_file', 'cert'), read('key_file', 'key')];
  return Object.assign({}, ...(await Promise.all(texts)));
}
