import type { Client, FTPContext } from 'basic-ftp';

/** How long to wait for the control connection to report why a data connection broke. */
const graceMs = 1000;

/**
 * If a data connection breaks before any data arrives, waits for the server's reply. Some servers reset the data
 * connection and then refuse the command ("550 Permission denied"). Without the wait, the client library would report a
 * lost connection and never read the refusal.
 */
export function delayDataErrors(client: Client): void {
  let strategy = client.prepareTransfer;
  const patient = async (ftp: FTPContext) => {
    const response = await strategy(ftp);
    // After the first success, the client replaces the function that tries all modes with the function for the mode
    // that worked.
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
    // When the grace period ends, a transfer that has started or was refused has already released this socket.
    const timer = setTimeout(() => ftp.dataSocket === socket && ftp.closeWithError(error), graceMs);
    timer.unref();
  });
  socket.on('error', () => undefined);
}
