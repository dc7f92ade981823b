import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { readTlsFiles } from '#sdk';
import type { FtpSourceValues } from './options.ts';
import { badFile } from './problems.ts';

/** What the control connection and every data connection are secured with. The host's name is sent and checked. */
export async function tlsOptions({ tls, host }: FtpSourceValues, folder: string): Promise<ConnectionOptions> {
  const servername = tls.servername ?? host;
  return {
    rejectUnauthorized: tls.mode === 'verify',
    // A session is bound to this name: a data connection under another one could not resume it.
    host: servername,
    ...(isIP(servername) === 0 ? { servername } : {}),
    ...(await readTlsFiles(tls, folder, (option, path, cause) => badFile(`tls.${option}`, path, cause))),
  };
}
