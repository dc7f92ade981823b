/** Jobs that read from one server, and those that wait for their turn, first come first served. */
interface Server {
  reading: number;
  readonly waiting: (() => void)[];
}

const servers = new Map<string, Server>();

/** How often the runner hears that a job still waits. */
const aliveMs = 1000;

interface SlotOptions {
  /** Names the server; jobs with the same name share its places. */
  readonly server: string;
  readonly most: number;
  readonly signal: AbortSignal;
  readonly alive: () => void;
}

/**
 * Waits until fewer than `most` jobs of this process read from the server; resolves to what gives the place back. Throws
 * the signal's reason when told to stop meanwhile.
 *
 * Places are shared, connections are not: each job gets a fresh one, so that nothing of one session (settings, temporary
 * tables, variables, a changed password) is met by the next, and a server holds none for us between two runs.
 */
export async function acquireSlot({ server: name, most, signal, alive }: SlotOptions): Promise<() => void> {
  signal.throwIfAborted();
  const server = servers.get(name) ?? { reading: 0, waiting: [] };
  servers.set(name, server);
  if (server.reading >= most || server.waiting.length > 0) await waitForSlot(server, { signal, alive });
  else server.reading++;
  let isFree = false;
  return () => {
    if (isFree) return;
    isFree = true;
    releaseSlot(name, server);
  };
}

/** The place of the one that leaves goes to the first that waits, or is free. */
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
