import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from 'undici';
import { documentOf, type Format, formats } from './service-documents.ts';
import { middle, type Rounds } from './service-rates.ts';
import { type Server, startServer } from './service-server.ts';
import { keyOf } from './service-world.ts';

/**
 * The cost of receiving a ten-megabyte document: wall time and the server's CPU time in seconds, each as the median of
 * all rounds.
 */
export interface Upload {
  readonly name: string;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

const documentBytes = 10_000_000;
const admin = { 'kf-api-key': keyOf('small', 'admin') };

/** Where to send a document, and how to verify that the document arrived. */
interface Receiver {
  readonly name: string;
  readonly server: Server;
  readonly url: string;
  readonly sha256: (answer: string) => Promise<string>;
}

/**
 * Sends the same content in turn to three servers: a ten-line Node server that writes and hashes the body, the same
 * server with fsync, and the service.
 */
export async function measureUploads(folder: string, rounds: Rounds): Promise<Upload[]> {
  const plain = await startServer('receiver', folder);
  const synced = await startServer('synced receiver', folder);
  const service = await startServer('service', folder);
  try {
    const measured: Upload[] = [];
    for (const format of formats) {
      const receivers = [bare(`${format} ten lines`, plain), bare(`${format} ten lines, synced`, synced)];
      receivers.push(await instanceOf(service, format, folder));
      measured.push(...(await measureAll(receivers, documentOf(format, documentBytes), rounds)));
    }
    return measured;
  } finally {
    await Promise.all([plain.stop(), synced.stop(), service.stop()]);
  }
}

function bare(name: string, server: Server): Receiver {
  const sha256 = async (answer: string): Promise<string> => (JSON.parse(answer) as { sha256: string }).sha256;
  return { name, server, url: server.url, sha256 };
}

/**
 * Creates a data source with this format. The benchmark reads the stored document from disk, so that verification puts
 * no load on the service.
 */
async function instanceOf(server: Server, format: Format, folder: string): Promise<Receiver> {
  const body = JSON.stringify({ name: format, format });
  const made = await request(`${server.url}/datasources`, { method: 'POST', headers: admin, body });
  const { meta } = (await made.body.json()) as { meta: { instance_location: string } };
  const url = `${server.url + meta.instance_location}/data`;
  return { name: `${format} service`, server, url, sha256: () => hashOfNewest(join(folder, 'documents')) };
}

async function hashOfNewest(folder: string): Promise<string> {
  const paths = (await readdir(folder)).map((name) => join(folder, name));
  const files = await Promise.all(paths.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })));
  files.sort((a, b) => b.at - a.at);
  return hashOf(await readFile(files[0]!.path));
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

async function measureAll(receivers: readonly Receiver[], document: Buffer, { runs }: Rounds): Promise<Upload[]> {
  const right = hashOf(document);
  const seen = new Map(receivers.map((receiver) => [receiver, [] as { seconds: number; cpuSeconds: number }[]]));
  for (let round = 0; round < warmUp + runs * uploadsPerRun; round++) {
    for (const receiver of receivers) {
      const cost = await upload(receiver, document, right);
      if (round >= warmUp) seen.get(receiver)!.push(cost);
    }
  }
  return receivers.map((receiver) => ({
    name: receiver.name,
    seconds: middle(seen.get(receiver)!.map(({ seconds }) => seconds)),
    cpuSeconds: middle(seen.get(receiver)!.map(({ cpuSeconds }) => cpuSeconds)),
  }));
}

const warmUp = 10;
const uploadsPerRun = 5;

async function upload({ name, server, url, sha256 }: Receiver, document: Buffer, right: string) {
  const cpu = await server.cpu();
  const started = performance.now();
  const answer = await request(url, { method: 'PUT', headers: admin, body: document });
  const text = await answer.body.text();
  const seconds = (performance.now() - started) / 1000;
  const cpuSeconds = (await server.cpu()) - cpu;
  if (answer.statusCode !== 200) throw new Error(`${name}: ${text}`);
  if ((await sha256(text)) !== right) throw new Error(`${name}: the stored document differs from the sent one`);
  return { seconds, cpuSeconds };
}
