/** Maximum number of values per label. Further values are merged, so that no config can flood the scraper. */
const mostNames = 1000;

/** One label's values, in order of first appearance. After the first thousand, all others become `other`. */
export class Names {
  readonly #known = new Set<string>();

  of(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#known.size >= mostNames) return 'other';
    this.#known.add(name);
    return name;
  }
}

/** The status class, such as `2xx`; `none` if there was no response. */
export function classOf(status: number | undefined): string {
  return status === undefined ? 'none' : `${Math.floor(status / 100)}xx`;
}
