import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Scope } from '../journey/process.ts';

/** Default number of a version's rows without the last one. Always the same, so that no guard objects. */
export const usualRows = 40;

/**
 * A source with known content: it shows one version of its rows after another, and remembers which versions it has
 * returned completely. With `prunes`, it forgets the rows that it has returned, so that their payload is the only copy.
 */
export class Upstream {
  readonly url: string;
  prunes = false;
  /** If true, a reader that already has the current version gets no rows, only that information. */
  isConditional = false;
  /** The version that the source would return now; 0 before the first. */
  version = 0;
  /** Whether it still has that version. */
  has = false;
  /** Versions that were read completely. */
  readonly finished = new Set<number>();
  readonly #texts = new Map<string, number>();
  readonly #sizes = new Map<number, number>();
  #text = '';

  private constructor(url: string) {
    this.url = url;
  }

  /** Listens until its scope ends. */
  static async open(scope: Scope): Promise<Upstream> {
    const server = createServer((request, answer) => upstream.#hand(request, answer));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    scope(() => void server.close().closeAllConnections());
    const upstream = new Upstream(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return upstream;
  }

  /**
   * Replaces the rows with a new version. No two versions have the same size, so that a request's size in the service's
   * log shows which version it contained. With `large`, a version consists of several chunks, so that an upload can be
   * interrupted in the middle.
   */
  advance({ large = false, rows = usualRows }: { large?: boolean; rows?: number } = {}): string {
    this.version += 1;
    const fill = 'x'.repeat(large ? 40_000 : 10);
    const lines = Array.from({ length: rows }, (_, i) => `${idOf(i)},${this.version},${fill}\n`);
    this.#text = `id,version,fill\n${lines.join('')}${idOf(rows)},${this.version},${'y'.repeat(this.version)}\n`;
    this.#texts.set(hashOf(this.#text), this.version);
    this.#sizes.set(this.#text.length, this.version);
    this.has = true;
    return this.#text;
  }

  /** The version that a text contains; undefined if it contains none or is incomplete. */
  versionOf(text: string): number | undefined {
    return this.#texts.get(hashOf(text));
  }

  /** The version with this many bytes. */
  versionOfSize(bytes: number): number | undefined {
    return this.#sizes.get(bytes);
  }

  /** Which version has this hash. */
  versionOfHash(sha256: string): number | undefined {
    return this.#texts.get(sha256);
  }

  #hand(request: IncomingMessage, answer: ServerResponse): void {
    const etag = this.isConditional ? { etag: `"${this.version}"` } : undefined;
    if (etag !== undefined && request.headers['if-none-match'] === etag.etag) {
      answer.writeHead(304, etag).end();
      return;
    }
    if (!this.has) {
      answer.writeHead(404).end();
      return;
    }
    const { version, prunes } = this;
    answer.writeHead(200, { 'content-type': 'text/csv', ...etag }).end(this.#text);
    answer.on('finish', () => {
      this.finished.add(version);
      if (prunes && this.version === version) this.has = false;
    });
  }
}

/** All IDs have the same length, so sorting rows by ID also sorts them by text. */
function idOf(row: number): string {
  return `r${String(row).padStart(3, '0')}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
