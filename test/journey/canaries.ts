import { createHash } from 'node:crypto';

/** Secrets that can be found wherever they end up, in any encoding. */
export class Canaries {
  /** Places, keyed by the letters and digits in the middle of the secret planted there. */
  readonly #cores = new Map<string, string>();

  /** A secret for a place, whose core is surrounded by characters that each text format escapes differently. */
  odd(place: string): string {
    return `"'<&${this.core(place)}\\%/+ö>`;
  }

  /** A secret without spaces, quotes and non-ASCII letters, as keys require. */
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
   * The places whose secrets, in full or in large part, can be found in a text: in plain text, base64 or hexadecimal.
   */
  in(text: string): string[] {
    const found = [...this.#cores].filter(([core]) => shapesOf(core).some((shape) => text.includes(shape)));
    return found.map(([, place]) => place);
  }

  get size(): number {
    return this.#cores.size;
  }
}

/** Half of a secret is as bad as all of it: cut off at its end, or at its beginning. */
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
