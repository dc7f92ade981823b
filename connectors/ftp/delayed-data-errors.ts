import type { Client, FTPContext } from 'basic-ftp';

/** How long the control connection may take to say why the data connection broke. */
const graceMs = 1000;

/**
 * Lets a client wait for the server's word when a data connection breaks before anything came over it. Some servers
 * reset it and then refuse the command ("550 Permission denied"); the client library would take the reset for a lost
 * connection, and the refusal would never be read.
 */
export function delayDataErrors(client: Client): void {
  let strategy = client.prepareTransfer;
  const patient = async (ftp: FTPContext) => {
    const response = await strategy(ftp);
    // The client puts the way that has worked once into the place of the one that tries them all.
    if (client.prepareTransfer !== patient) strategy = client.prepareTransfer;
    client.prepareTransfer = patient;
    delayErrors(ftp);
    return response;
  };
  client.prepareTransfer = patient;
}

function delayErrors(ftp: FTPContext): void {
  const socket = ftp.dataSocket;
  if (socket === undefined) return;
  for (const event of ['error', 'close']) socket.removeAllListeners(event);
  socket.once('error', (error: Error) => {
    // A transfer that has begun, or was refused, has let go of its socket by then.
    const timer = setTimeout(() => ftp.dataSocket === socket && ftp.closeWithError(error), graceMs);
    timer.unref();
  });
  socket.on('error', () => undefined);
}
