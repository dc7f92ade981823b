import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../../lib/problem.ts';
import { collectControls } from '../collect.ts';
import { buildControlApp } from './app.ts';
import type { ControlContext } from './context.ts';
import { checkToken, newToken } from './token.ts';

export interface ControlOptions {
  /** The port. The default, 0, picks a free port. */
  readonly port?: number;
  /** The token: 8 to 200 printable characters. By default, a token is generated. */
  readonly token?: string;
}

export interface RunningControl {
  /** Without a trailing slash. */
  readonly url: string;
  /** The token, which clients must send with every request as `Authorization: Bearer`. */
  readonly token: string;
  close(): Promise<void>;
}

/**
 * The token is sent in plaintext and grants full control, so the control interface listens only on loopback, even if
 * the service itself listens on another address.
 */
const host = '127.0.0.1';

/** Starts the control interface of a running service. Throws a Problem if the token or port can't be used. */
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
      next: 'set another --control-port; 0 selects a free port',
      cause,
    });
  }
}
