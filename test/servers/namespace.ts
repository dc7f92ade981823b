import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import type { Scope } from '../journey/process.ts';
import { findProgram } from './server.ts';

const run = promisify(execFile);
const program = findProgram('ip', ['/usr/sbin', '/sbin']);
let namespaces = 0;

/** Which packets are lost between this machine and a namespace, silently, as in a broken network. */
export type Loss = 'both ways' | 'to the namespace' | 'from the namespace';

/** A network namespace: its processes reach this machine over one link, as if they were on another machine. */
export interface Namespace {
  /** The program, with its flags, that starts a process in the namespace. */
  readonly under: readonly string[];
  /** This machine's address on the link. */
  readonly here: string;
  /** Makes a port of this machine's loopback address reachable over the link. Returns the port to connect to. */
  forward(port: number): Promise<number>;
  lose(packets: Loss): Promise<void>;
  /** From now on, no packets are lost. */
  restore(): Promise<void>;
}

export function hasIp(): boolean {
  return program !== undefined;
}

/** Opens a namespace until its scope ends. Needs root. */
export async function openNamespace(scope: Scope): Promise<Namespace> {
  const nth = process.pid * 4 + (namespaces++ % 4);
  const name = `sluice-${nth}`;
  // A link's name has at most 15 characters.
  const [outer, inner] = [`slo${nth}`, `sli${nth}`];
  const net = `10.231.${(nth >> 6) & 255}`;
  const [here, there] = [`${net}.${(nth & 63) * 4 + 1}`, `${net}.${(nth & 63) * 4 + 2}`];
  const ip = (text: string) => run(program!, text.split(' '));
  await ip(`netns add ${name}`);
  scope(async () => {
    await ip(`link del ${outer}`).catch(() => undefined);
    await ip(`netns del ${name}`);
  });
  await ip(`link add ${outer} type veth peer name ${inner} netns ${name}`);
  await ip(`addr add ${here}/30 dev ${outer}`);
  await ip(`link set ${outer} up`);
  await ip(`-n ${name} addr add ${there}/30 dev ${inner}`);
  await ip(`-n ${name} link set ${inner} up`);
  await ip(`-n ${name} link set lo up`);
  // Packets to an unused hardware address are lost.
  const unused = 'lladdr 02:00:00:00:00:99';
  return {
    under: [program!, 'netns', 'exec', name],
    here,
    forward: (port) => openForward(here, port, scope),
    async lose(packets) {
      if (packets !== 'from the namespace') await ip(`neigh replace ${there} ${unused} dev ${outer} nud permanent`);
      if (packets !== 'to the namespace')
        await ip(`-n ${name} neigh replace ${here} ${unused} dev ${inner} nud permanent`);
    },
    async restore() {
      await ip(`neigh del ${there} dev ${outer}`).catch(() => undefined);
      await ip(`-n ${name} neigh del ${here} dev ${inner}`).catch(() => undefined);
    },
  };
}

async function openForward(host: string, target: number, scope: Scope): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect({ port: target, host: '127.0.0.1' });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      const end = (): void => {
        sockets.delete(socket);
        for (const one of [client, upstream]) one.destroy();
      };
      socket.on('error', end).on('close', end);
    }
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, host);
  await once(server, 'listening');
  scope(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}
