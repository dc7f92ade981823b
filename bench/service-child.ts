import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Fastify from 'fastify';
import { startService } from '../src/service/service.ts';

/**
 * Runs one server. The first argument is the server's name; the second is a folder for its files. The process reports
 * its URL when the server starts to listen, and its CPU time and memory on request.
 */
const [kind, folder] = process.argv.slice(2) as [keyof typeof servers, string];

const servers = { node: bareNode, fastify: bareFastify, receiver, 'synced receiver': receiver, service };

interface Running {
  readonly url: string;
  close(): Promise<void>;
}

/** The fastest possible server: Node without a framework and with one small response. */
async function bareNode(): Promise<Running> {
  const body = JSON.stringify({ hello: 'world' });
  return listening(
    createServer((_request, response) => {
      response.setHeader('content-type', 'application/json; charset=utf-8');
      response.end(body);
    }),
  );
}

/** Fastify with one parameterized route and Fastify's default serialization. */
async function bareFastify(): Promise<Running> {
  const app = Fastify({ forceCloseConnections: true });
  app.get('/hello/:id', async () => ({ hello: 'world' }));
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), close: () => app.close() };
}

/** A ten-line server that only writes the body to a file and hashes it. It doesn't check anything. */
async function receiver(): Promise<Running> {
  return listening(
    createServer(async (request, response) => {
      const hash = createHash('sha256');
      const file = await open(join(folder, 'received'), 'w');
      for await (const chunk of request as AsyncIterable<Buffer>) {
        hash.update(chunk);
        await file.write(chunk);
      }
      if (kind === 'synced receiver') await file.sync();
      await file.close();
      response.end(JSON.stringify({ sha256: hash.digest('hex') }));
    }),
  );
}

async function service(): Promise<Running> {
  return startService({ data: { folder } });
}

async function listening(server: Server): Promise<Running> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

const running = await servers[kind]();
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: (user + system) / 1e6 });
});
process.on('disconnect', () => void running.close());
process.send?.(running.url);
