import { createHash } from 'node:crypto';

/** Secrets that can be found again wherever they went, and in whatever writing. */
export class Canaries {
  /** Places by the letters and digits that stand in the middle of what was planted there. */
  readonly #cores = new Map<string, string>();

  /** A secret for a place, with signs around its core that each kind of text spells in its own way. */
  odd(place: string): string {
    return `"'<&${this.core(place)}\\%/+ö>`;
  }

  /** A secret without blanks, quotes and foreign letters, as keys have to be. */
  key(place: string): string {
    return `&%${this.core(place)}+/=`;
  }

  /** Letters and digits alone. */
  core(place: string): string {
    const core = `Cnry${createHash('sha256').update(place).digest('hex').slice(0, 28)}`;
    this.#cores.set(core, place);
    return core;
  }

  /** Places whose secrets, or the most of them, can be read in a text: as they are, in base64 of anything, or in hexadecimal. */
  in(text: string): string[] {
    const found = [...this.#cores].filter(([core]) => shapesOf(core).some((shape) => text.includes(shape)));
    return found.map(([, place]) => place);
  }

  get size(): number {
    return this.#cores.size;
  }
}

/** Half of a secret is as bad as all of it: cut off at the end of a line, or at its beginning. */
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
