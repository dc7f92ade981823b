import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { readTlsFiles } from '#sdk';
import type { FtpSourceValues } from './options.ts';
import { badFile } from './problems.ts';

/**
 * TLS options for the control connection and all data connections. The host name is sent and verified on all of them.
 */
export async function tlsOptions({ tls, host }: FtpSourceValues, folder: string): Promise<ConnectionOptions> {
  const servername = tls.servername ?? host;
  return {
    rejectUnauthorized: tls.mode === 'verify',
    // The session is bound to this name: a data connection with another name couldn't resume it.
    host: servername,
    ...(isIP(servername) === 0 ? { servername } : {}),
    ...(await readTlsFiles(tls, folder, (option, path, cause) => badFile(`tls.${option}`, path, cause))),
  };
}
