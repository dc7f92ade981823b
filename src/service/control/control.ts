import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../lib/problem.ts';
import { buildControlApp } from './app.ts';
import { collectControls } from './collect.ts';
import type { ControlContext } from './context.ts';
import { checkToken, newToken } from './token.ts';

export interface ControlOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  /** 8 to 200 printable characters; one is made when none is given. */
  readonly token?: string;
}

export interface RunningControl {
  /** Without a trailing slash. */
  readonly url: string;
  /** What every request shows as `Authorization: Bearer`. */
  readonly token: string;
  close(): Promise<void>;
}

/**
 * Whoever has the token can empty the service, so it listens on loopback alone, wherever the service itself listens:
 * the token goes over the wire in clear.
 */
const host = '127.0.0.1';

/** Starts the control interface of a running service. Throws a Problem when token or port cannot be used. */
export async function startControl(
  context: ControlContext,
  { port = 0, token }: ControlOptions,
): Promise<RunningControl> {
  const used = checkToken(token ?? newToken());
  const end = new AbortController();
  const running = new Set<Promise<unknown>>();
  const app = buildControlApp({ context, token: used, end: end.signal, running }, await collectControls());
  const url = `http://${host}:${await listen(app, port)}`;
  return {
    url,
    token: used,
    close: async () => {
      end.abort();
      await app.close();
      await Promise.allSettled(running);
    },
  };
}

async function listen(app: FastifyInstance, port: number): Promise<number> {
  try {
    await app.listen({ host, port });
    return (app.server.address() as AddressInfo).port;
  } catch (cause) {
    throw new Problem({
      code: 'SERVICE_CONTROL_ADDRESS',
      family: 'config',
      message: `the control interface cannot listen on ${host}:${port}: ${(cause as Error).message}`,
      next: 'name another --control-port; 0 takes a free one',
      cause,
    });
  }
}
