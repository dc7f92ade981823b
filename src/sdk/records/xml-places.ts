/** Maximum number of different paths outside a document's records. */
const maxPaths = 1000;

/**
 * Where the records are in several documents: the paths of the elements around them and of other content, as local
 * names joined by `/`. These paths distinguish a page without records from another kind of response, such as an error.
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
   * Whether a document without records contains an empty list.
   * @param isAnyFirst whether the document may be the first one, so that there may be no other document to compare it
   * with.
   * @returns true if the document has the element that contains the records in other documents, and has only elements
   * that other documents also have.
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
