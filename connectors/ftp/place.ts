import type { FtpSourceValues } from './options.ts';

const defaultPorts = { sftp: 22, ftps: 21, ftps_implicit: 990, ftp: 21 } as const;

/** The source's port, or its protocol's default port. */
export function portOf({ protocol, port }: FtpSourceValues): number {
  return port ?? defaultPorts[protocol];
}

/** The server's address for messages: `sftp://files.example.com`. The port is included unless it's the default port. */
export function placeOf(source: FtpSourceValues): string {
  const { protocol, host } = source;
  const port = portOf(source);
  const name = host.includes(':') ? `[${host}]` : host;
  return `${protocol === 'ftps_implicit' ? 'ftps' : protocol}://${name}${port === defaultPorts[protocol] ? '' : `:${port}`}`;
}
