import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A server in a child process; see service-child.ts. */
export interface Server {
  readonly url: string;
  /** CPU seconds used so far. */
  cpu(): Promise<number>;
  stop(): Promise<void>;
}

export type ServerKind = 'node' | 'fastify' | 'receiver' | 'synced receiver' | 'service';

/** Starts a server. `nodeFlags` are passed to Node, for example to start a profiler. */
export async function startServer(
  kind: ServerKind,
  folder: string,
  nodeFlags: readonly string[] = [],
): Promise<Server> {
  const script = new URL('service-child.ts', import.meta.url).pathname;
  const child = fork(script, [kind, folder], {
    execArgv: [...nodeFlags],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const url = (await answerOf(child)) as string;
  const cpu = async (): Promise<number> => {
    child.send('cpu');
    return ((await answerOf(child)) as { cpu: number }).cpu;
  };
  const stop = async (): Promise<void> => {
    child.disconnect();
    await ended;
  };
  return { url, cpu, stop };
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  const waiting = new AbortController();
  const gone = once(child, 'exit', waiting).then(([code]) => {
    throw new Error(`the server's process ended with ${code}`);
  });
  gone.catch(() => undefined);
  const [answer] = (await Promise.race([once(child, 'message', waiting), gone])) as [unknown];
  waiting.abort();
  return answer;
}
