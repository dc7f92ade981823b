import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';

/** What a certificate is checked with, as people write it beside the mode in a `tls` option. */
export interface TlsFiles {
  readonly ca_file?: string;
  readonly cert_file?: string;
  readonly key_file?: string;
  readonly servername?: string;
}

/** The JSON Schemas of {@link TlsFiles}, so that the words are the same in every connector. */
export const tlsFileSchemas = {
  ca_file: { type: 'string', description: 'PEM file of the authority that signed the server certificate.' },
  cert_file: { type: 'string', description: 'PEM file of the client certificate, if the server requires one.' },
  key_file: { type: 'string', description: 'PEM file of the key to our own certificate.' },
  servername: { type: 'string', description: 'The name that the certificate must carry, when it is not the host.' },
};

/** What is wrong with the files together, as it stands behind the name of the option. */
export function tlsFileFaults({ cert_file: cert, key_file: key }: TlsFiles): string[] {
  return (cert === undefined) === (key === undefined) ? [] : ['needs cert_file and key_file together'];
}

/** The files' contents, under the names that `node:tls` knows; what was not named is left out. */
export interface TlsTexts {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/**
 * Reads the files; relative paths are meant from `folder`. `unreadable` makes the problem that is thrown of one that
 * cannot be read, given the name of its option, its path and what the system said.
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
