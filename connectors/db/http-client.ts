import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { Client } from 'undici';
import type { LoginOptions } from './driver.ts';
import type { Tls } from './tls-files.ts';

/** A connection to a database's HTTP interface. */
export function openClient({ server, address, tunnel }: LoginOptions, tls: Tls | undefined): Client {
  const host = server.host.includes(':') ? `[${server.host}]` : server.host;
  return new Client(`${tls === undefined ? 'http' : 'https'}://${host}:${server.port}`, {
    allowH2: false,
    // The run's stall timeout and the server's limits decide how long a query may take.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: {
      timeout: address.connectSeconds * 1000,
      socketPath: tunnel?.path,
      ...(tls === undefined ? {} : secure(tls, server.host)),
    },
  });
}

/** As in mysql2's and pg's configuration: the certificate is verified for the name that the options ask for. */
function secure({ verifyIdentity, servername, ...tls }: Tls, host: string) {
  const name = servername ?? host;
  return {
    ...tls,
    ...(isIP(name) === 0 ? { servername: name } : {}),
    checkServerIdentity: verifyIdentity
      ? (_host: string, certificate: PeerCertificate) => checkServerIdentity(name, certificate)
      : () => undefined,
  };
}
