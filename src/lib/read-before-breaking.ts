import type { Socket } from 'node:net';

/** Enough time to read what arrived before the connection broke. */
const graceMs = 500;
const broken = new Set(['EPIPE', 'ECONNRESET']);

type Done = (error?: Error | null) => void;

/**
 * A server that rejects an upload early responds and closes the connection while we're still writing. The write then
 * fails, which would destroy the socket and the response that is ready to be read. This socket reports such a write
 * error slightly later, so that the response is read first.
 */
export function readBeforeBreaking<S extends Socket>(socket: S): S {
  const { _write: write, _writev: writev } = socket;
  socket._write = (chunk, encoding, done) => write.call(socket, chunk, encoding, later(done));
  if (writev) socket._writev = (chunks, done) => writev.call(socket, chunks, later(done));
  return socket;
}

function later(done: Done): Done {
  return (error) => {
    if (error && broken.has((error as NodeJS.ErrnoException).code ?? '')) setTimeout(done, graceMs, error);
    else done(error);
  };
}
