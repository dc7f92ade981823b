import { connect } from 'node:net';

/**
 * The first line that a server sends unprompted, read over a separate connection; undefined if the server sends nothing
 * in time or isn't reachable. Reveals an unexpected protocol on the port, because SSH and FTP servers send the first
 * message.
 */
export function greetingOf(
  { host, port }: { host: string; port: number },
  patienceMs = 1000,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const socket = connect({ host, port });
  const end = (line?: string) => {
    clearTimeout(timer);
    socket.destroy();
    resolve(line);
  };
  const timer = setTimeout(end, patienceMs);
  socket.once('data', (bytes) => end(bytes.toString('latin1').split(/[\r\n]/)[0]));
  socket.once('error', () => end()).once('close', () => end());
  return promise;
}
