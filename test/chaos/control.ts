import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** A request as the service saw it (docs/service-control.md). */
export interface Seen {
  readonly id: number;
  /** ISO 8601, by the service's clock. */
  readonly time: string;
  /** Monotonic milliseconds. */
  readonly arrived: number;
  readonly method: string;
  readonly path: string;
  /** Null: still in progress, or the client disconnected. */
  readonly status: number | null;
  readonly bytes_in: number;
  /** Null: still in progress. */
  readonly took_ms: number | null;
  readonly fault: string | null;
}

/** The control interface of a service that a world started with `--control-port`. */
export class Control {
  readonly #url: string;
  readonly #token: string;

  private constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** From the ready file in the world's folder. */
  static async of(folder: string): Promise<Control> {
    const ready = JSON.parse(await readFile(join(folder, 'ready.json'), 'utf8')) as Record<string, string>;
    return new Control(ready.control_url!, (await readFile(ready.control_token_file!, 'utf8')).trim());
  }

  /** Every finished upload to an instance; waits for uploads in progress. */
  async uploads(instance: string): Promise<Seen[]> {
    for (;;) {
      const seen = await this.#uploads(instance);
      if (seen.every(({ took_ms }) => took_ms !== null)) return seen;
      await wait(20);
    }
  }

  /** Adds a fault rule for the uploads to an instance. */
  async break(instance: string, rule: object): Promise<void> {
    await this.#ask('POST', '/faults', { method: 'PUT', path: `/datasource-instances/${instance}/data`, ...rule });
  }

  /** Removes all fault rules. */
  async repair(): Promise<void> {
    await this.#ask('DELETE', '/faults');
  }

  async #uploads(instance: string): Promise<Seen[]> {
    const all: Seen[] = [];
    for (;;) {
      const query = `method=PUT&path=/datasource-instances/${instance}/data&limit=1000&offset=${all.length}`;
      const { requests, total } = (await this.#ask('GET', `/requests?${query}`)) as { requests: Seen[]; total: number };
      all.push(...requests);
      if (all.length >= total) return all;
    }
  }

  async #ask(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await fetch(this.#url + path, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} at the control interface: ${answer.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }
}
