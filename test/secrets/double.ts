import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { Loaded, LoadOptions } from '../../src/config/load.ts';
import { configWith, goodJob, load } from '../config/fixtures.ts';

export interface Asked {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A vendor's server for the current test. First returns `answers`, one per request, whatever the request. */
export class Double {
  readonly asked: Asked[] = [];
  readonly answers: Reply[] = [];
  url = '';

  static async start(reply: (asked: Asked) => Reply): Promise<Double> {
    const double = new Double();
    const server = createServer(async (request, response) => {
      const { method = '', url: path = '', headers } = request;
      const asked = { method, path, headers, body: await text(request) };
      double.asked.push(asked);
      const { status = 200, headers: own = {}, body = {} } = double.answers.shift() ?? reply(asked);
      response.writeHead(status, { 'content-type': 'application/json', ...own });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    double.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return double;
  }

  /** The requests whose path matches. */
  to(path: RegExp): Asked[] {
    return this.asked.filter((one) => path.test(one.path));
  }
}

/** Throttled, but not for long. */
export const busy = (status: number): Reply => ({ status, headers: { 'retry-after': '0.01' } });

/** A variable in the config. */
export const variable = (written: string): string => `\${${written}}`;

/** Loads a config whose sources have these passwords; `top` contains lines for the top level. */
export function loadPasswords(
  passwords: readonly string[],
  { top = '', files = {}, ...options }: LoadOptions & { top?: string; files?: Record<string, string> } = {},
): Promise<Loaded> {
  const sources = passwords.map(
    (written, i) => `  s${i}:\n    connector: warehouse\n    host: db.example.com\n    password: '${written}'`,
  );
  const text = configWith(goodJob, top).replace('sources:\n', `sources:\n${sources.join('\n')}\n`);
  return load(text, options, files);
}

/** The passwords of {@link loadPasswords}, in order. */
export function passwordsIn({ config }: Loaded): unknown[] {
  return [...(config?.sources.values() ?? [])].flatMap(({ name, options }) =>
    name === 'shop' ? [] : [options.password],
  );
}
