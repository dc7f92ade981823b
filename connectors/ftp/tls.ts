import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import type { ConnectionOptions } from 'node:tls';
import type { SourceValues } from './options.ts';
import { badFile } from './problems.ts';

/** What the control connection and every data connection are secured with. The host's name is sent and checked. */
export async function tlsOptions({ tls, host }: SourceValues, folder: string): Promise<ConnectionOptions> {
  const [ca, cert, key] = await Promise.all(
    (['ca_file', 'cert_file', 'key_file'] as const).map(async (name) => {
      const path = tls[name];
      return path === undefined ? undefined : await readPem(name, resolve(folder, path));
    }),
  );
  const servername = tls.servername ?? host;
  return {
    rejectUnauthorized: tls.mode === 'verify',
    // A session is bound to this name: a data connection under another one could not resume it.
    host: servername,
    ...(isIP(servername) === 0 ? { servername } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

async function readPem(option: string, path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw badFile(`tls.${option}`, path, cause);
  }
}
