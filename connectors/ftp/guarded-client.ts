import type { Duplex } from 'node:stream';
import { type Client, FTPContext } from 'basic-ftp';
import { guardStream } from '#sdk';

/**
 * Guards each of the client's sockets, for commands and data, with and without TLS: if the client throws an error while
 * it parses, the connection ends, not the process.
 */
export function guardClient({ ftp }: Client): void {
  const guarded = <S extends Duplex | undefined>(socket: S): S => {
    if (socket !== undefined) guardStream(socket, toError);
    return socket;
  };
  guarded(ftp.socket);
  for (const name of ['socket', 'dataSocket'] as const) {
    const { get, set } = Object.getOwnPropertyDescriptor(FTPContext.prototype, name)!;
    Object.defineProperty(ftp, name, {
      get: get!,
      set: (socket: Duplex | undefined) => set!.call(ftp, guarded(socket)),
    });
  }
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
