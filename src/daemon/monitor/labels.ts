/** Maximum number of values of a label: beyond it, the values are merged, so that no config can flood the scraper. */
const mostNames = 1000;

/** The values of one label, first come, first named; what comes after the thousandth is `other`. */
export class Names {
  readonly #known = new Set<string>();

  of(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#known.size >= mostNames) return 'other';
    this.#known.add(name);
    return name;
  }
}

/** `2xx` and so on; `none` where no answer came. */
export function classOf(status: number | undefined): string {
  return status === undefined ? 'none' : `${Math.floor(status / 100)}xx`;
}
