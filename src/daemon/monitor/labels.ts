/** Maximum number of values per label. Additional values are merged, so that no config can overload the scraper. */
const maxNames = 1000;

/** One label's values, in order of first appearance. After the first thousand, all further values become `other`. */
export class Names {
  readonly #known = new Set<string>();

  of(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#known.size >= maxNames) return 'other';
    this.#known.add(name);
    return name;
  }
}

/** Returns the status class, such as `2xx`, or `none` if there was no response. */
export function classOf(status: number | undefined): string {
  return status === undefined ? 'none' : `${Math.floor(status / 100)}xx`;
}
