import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { Scope } from './process.ts';

/**
 * A server that rejects every request and echoes all of it in many encodings, as bad servers do in their error pages.
 * The part of the path before `/at/` is the status: `/500/at/…`.
 */
export async function openEcho(scope: Scope): Promise<{ url: string; heard: () => string }> {
  let heard = '';
  const server = createHttpServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString();
      heard += `${request.url}\n${JSON.stringify(request.headers)}\n${body}\n`;
      sayBack(request, response, body);
    });
  });
  return { url: `http://127.0.0.1:${await listen(server, scope)}`, heard: () => heard };
}

function sayBack({ url = '', headers }: IncomingMessage, response: ServerResponse, body: string): void {
  const status = Number(/\/(\d{3})\/at/.exec(url)?.[1] ?? '401');
  const auth = headers.authorization ?? '';
  const decoded = Buffer.from(auth.replace(/^\w+ /, ''), 'base64').toString();
  const all = [safelyDecoded(url), url, auth, decoded, safelyDecoded(body), body, JSON.stringify(headers)].join(' | ');
  const kinds: readonly [string, string][] = [
    ['text/plain', all],
    ['application/json', JSON.stringify({ error: 'invalid_client', error_description: all, message: all })],
    ['text/html', `<html><title>${all.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</title><p>${all}</p></html>`],
    ['application/xml', `<error>${all.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</error>`],
    ['application/json', JSON.stringify({ meta: { success: false, status, error_code: 'x', error_desc: all } })],
  ];
  const [type, text] = kinds[Number(/\/kind(\d)/.exec(url)?.[1] ?? '4')]!;
  response.writeHead(status, { 'content-type': type }).end(text);
}

function safelyDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A line-based server (FTP, SMTP) that echoes each line and rejects whatever looks like a login. */
export async function openLineEcho(greeting: string, scope: Scope): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write(`${greeting}\r\n`);
    socket.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split('\r\n').filter((one) => one !== '')) socket.write(answerTo(line));
    });
  });
  return listen(server, scope);
}

function answerTo(line: string): string {
  if (/^(EHLO|HELO)/.test(line)) return '250-here\r\n250 AUTH PLAIN LOGIN\r\n';
  if (/^USER/.test(line)) return '331 and the password?\r\n';
  if (/^FEAT/.test(line)) return '211 none\r\n';
  return `535 530 no: ${line}, that is ${Buffer.from(line.split(' ').at(-1)!, 'base64').toString()}\r\n`.replace(
    '535 530',
    /^PASS/.test(line) ? '530' : '535',
  );
}

async function listen(server: Server, scope: Scope): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket));
  scope(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}
