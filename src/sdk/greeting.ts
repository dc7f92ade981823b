import { connect } from 'node:net';

/**
 * The first line that a server sends on its own, read over a separate connection; undefined if it sends nothing in time
 * or isn't reachable. Shows which protocol a port speaks if another was expected: SSH and FTP servers send the first
 * line.
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
