import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs `sync` of a small job twice with the built files. The second run finds no new data. Returns the files that the
 * second run loaded.
 */
export async function filesOfSync(dist: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-build-'));
  const receiver = await startReceiver();
  try {
    await writeFile(join(folder, 'rows.csv'), 'id,name\n1,a\n2,b\n');
    await writeFile(join(folder, 'sluice.json'), configFor(receiver.url));
    await sync(dist, folder);
    return await sync(dist, folder);
  } finally {
    receiver.stop();
    await rm(folder, { recursive: true });
  }
}

/** The files that a process loads when it reads a source on behalf of the service. */
export async function filesOfRefresh(dist: string): Promise<string[]> {
  return run([dist, 'src/cli/refresh/child.js'], dist);
}

const configFor = (url: string): string =>
  JSON.stringify({
    version: 1,
    state: 'state',
    destinations: { here: { url, api_key: 'none' } },
    sources: { folder: { connector: 'file' } },
    jobs: { small: { source: 'folder', query: 'rows.csv', format: 'csv', target: '0'.repeat(32) } },
  });

interface Receiver {
  readonly url: string;
  readonly stop: () => void;
}

/** A server that accepts every upload, as the service does. */
async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end('{"meta":{"success":true,"status":200},"data":{}}\n');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/api/1.0`, stop: () => void server.close().closeAllConnections() };
}

const sync = (dist: string, cwd: string): Promise<string[]> =>
  run([dist, 'src/cli/main.js', 'sync', '--config', 'sluice.json'], cwd);

async function run(args: readonly string[], cwd: string): Promise<string[]> {
  const stdio = ['ignore', 'pipe', 'pipe', 'ipc'] as const;
  const child = fork(join(import.meta.dirname, 'trained-run-child.ts'), args, { cwd, stdio: [...stdio] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  let loaded: string[] = [];
  child.on('message', (files: string[]) => (loaded = files));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`the built package failed with ${code}:\n${output}`);
  return loaded;
}
