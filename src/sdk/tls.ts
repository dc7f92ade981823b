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
