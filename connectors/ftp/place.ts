import type { FtpSourceValues } from './options.ts';

const defaultPorts = { sftp: 22, ftps: 21, ftps_implicit: 990, ftp: 21 } as const;

/** The port that is meant: the one of the source, or the usual one of its protocol. */
export function portOf({ protocol, port }: FtpSourceValues): number {
  return port ?? defaultPorts[protocol];
}

/** The server as people write it, for messages: `sftp://files.example.com`, with the port where it is not the usual. */
export function placeOf(source: FtpSourceValues): string {
  const { protocol, host } = source;
  const port = portOf(source);
  const name = host.includes(':') ? `[${host}]` : host;
  return `${protocol === 'ftps_implicit' ? 'ftps' : protocol}://${name}${port === defaultPorts[protocol] ? '' : `:${port}`}`;
}
