import { createHash } from 'node:crypto';

/** Secrets that can be recognized wherever they end up, in any encoding. */
export class Canaries {
  /** The places where secrets were planted, keyed by the letters and digits in the middle of each secret. */
  readonly #cores = new Map<string, string>();

  /** A secret for a place. Around its core, it has characters that each text format escapes differently. */
  odd(place: string): string {
    return `"'<&${this.core(place)}\\%/+ö>`;
  }

  /** A secret without spaces, quotes or non-ASCII letters, which keys may not contain. */
  key(place: string): string {
    return `&%${this.core(place)}+/=`;
  }

  /** Letters and digits only. */
  core(place: string): string {
    const core = `Cnry${createHash('sha256').update(place).digest('hex').slice(0, 28)}`;
    this.#cores.set(core, place);
    return core;
  }

  /**
   * The places whose secrets can be found in a text, in full or in large part, as plain text, base64 or hexadecimal.
   */
  in(text: string): string[] {
    const found = [...this.#cores].filter(([core]) => shapesOf(core).some((shape) => text.includes(shape)));
    return found.map(([, place]) => place);
  }

  get size(): number {
    return this.#cores.size;
  }
}

/** Half a secret is as bad as all of it, whether its end or its beginning was cut off. */
function shapesOf(core: string): string[] {
  const halves = [core.slice(4, 20), core.slice(-16)];
  return halves.flatMap((half) => {
    const bytes = Buffer.from(half);
    const inner = [0, 1, 2].map((before) => {
      const all = Buffer.concat([Buffer.alloc(before), bytes]);
      return all.toString('base64').slice(4, Math.floor((all.length * 8) / 6));
    });
    return [half, bytes.toString('hex'), ...inner];
  });
}
