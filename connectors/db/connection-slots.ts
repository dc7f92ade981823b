/** The number of jobs that are reading from a server, and the queue of jobs that are waiting (first in, first out). */
interface Server {
  reading: number;
  readonly waiting: (() => void)[];
}

const servers = new Map<string, Server>();

/** Heartbeat interval while a job waits for a connection slot. */
const aliveMs = 1000;

interface SlotOptions {
  /** Name of the server. Jobs with the same server name share its connection slots. */
  readonly server: string;
  readonly maxConnections: number;
  readonly signal: AbortSignal;
  readonly alive: () => void;
}

/**
 * Semaphore per server: waits until fewer than `most` jobs of this process read from the server, and resolves to a
 * release function. Throws the signal's reason if the signal is aborted.
 *
 * Connections are never reused. Each job opens a new connection, so that no session state leaks (settings, temporary
 * tables, variables, a changed password) and no connection stays open between runs.
 */
export async function acquireSlot({ server: name, maxConnections, signal, alive }: SlotOptions): Promise<() => void> {
  signal.throwIfAborted();
  const server = servers.get(name) ?? { reading: 0, waiting: [] };
  servers.set(name, server);
  if (server.reading >= maxConnections || server.waiting.length > 0) await waitForSlot(server, { signal, alive });
  else server.reading++;
  let isFree = false;
  return () => {
    if (isFree) return;
    isFree = true;
    releaseSlot(name, server);
  };
}

/** Passes the slot to the job that has waited longest, or frees the slot if no job is waiting. */
function releaseSlot(name: string, server: Server): void {
  const next = server.waiting.shift();
  if (next === undefined) server.reading--;
  else next();
  if (server.reading === 0) servers.delete(name);
}

async function waitForSlot(server: Server, { signal, alive }: Pick<SlotOptions, 'signal' | 'alive'>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = () => {
    server.waiting.splice(server.waiting.indexOf(resolve), 1);
    reject(signal.reason);
  };
  const beat = setInterval(alive, aliveMs);
  server.waiting.push(resolve);
  signal.addEventListener('abort', stop, { once: true });
  try {
    await promise;
  } finally {
    clearInterval(beat);
    signal.removeEventListener('abort', stop);
  }
}
