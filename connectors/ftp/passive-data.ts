import type { Client } from 'basic-ftp';

/**
 * For PASV, connects to the address of the control connection, like curl. The address in the server's reply is often
 * 0.0.0.0 or a private one behind NAT, and a server must not redirect us to other hosts.
 */
export function ignorePasvAddress({ ftp }: Client): void {
  const request = ftp.request.bind(ftp);
  ftp.request = async (command) => {
    const response = await request(command);
    if (command !== 'PASV') return response;
    const address = (ftp.socket.remoteAddress ?? '').replace(/^::ffff:/i, '').replaceAll('.', ',');
    return { ...response, message: response.message.replace(/\d+,\d+,\d+,\d+(?=,\d+,\d+)/, address) };
  };
}
