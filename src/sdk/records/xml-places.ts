/** Maximum number of distinguished paths outside of a document's records. */
const maxPaths = 1000;

/**
 * Where the records of several documents are: the elements around them, and the other content of those elements, as
 * local names joined by `/`. This distinguishes a page without records from another kind of response, such as an error.
 */
export class XmlPlaces {
  /** The path of the element that contains the records; undefined before the first record. */
  #around: string | undefined;
  /** Paths outside records, in documents that have records. */
  readonly #usual = new Set<string>();

  /** Adds a document with records. @param around the path of the element that contains the first record. */
  learn(met: XmlPathsMet, around: string): void {
    this.#around ??= around;
    for (const path of met.paths) if (this.#usual.size < maxPaths) this.#usual.add(path);
  }

  /**
   * Whether a document without records has an empty list.
   * @param isAnyFirst whether it may be the first document: then there is nothing to compare it with.
   * @returns true if it has the element that contains the records in other documents, and only elements that other
   * documents have.
   */
  isEmptyList(met: XmlPathsMet, isAnyFirst: boolean): boolean {
    const around = this.#around;
    if (around === undefined) return isAnyFirst;
    if (around === '' || met.isFull) return false;
    const has = isAnyFirst ? met.paths.has(around.split('/')[0]!) : met.paths.has(around);
    return has && [...met.paths].every((path) => this.#usual.has(path));
  }
}

/** Paths outside the records of a document. */
export class XmlPathsMet {
  readonly paths = new Set<string>();

  /** Whether there are too many paths to decide. */
  get isFull(): boolean {
    return this.paths.size >= maxPaths;
  }

  add(open: readonly { readonly local: string }[]): void {
    if (!this.isFull) this.paths.add(open.map(({ local }) => local).join('/'));
  }
}
