/** Paths that one document may have outside of its records before they are no longer told apart. */
const maxPaths = 1000;

/**
 * Where the records of several documents are: the elements around them, and what else those hold. By local names, joined by `/`.
 * It tells a page without records from an answer of another kind, such as an error.
 */
export class XmlPlaces {
  /** The path of the element that holds the records; undefined before there was one. */
  #around: string | undefined;
  /** Paths met outside of records, in documents that have some. */
  readonly #usual = new Set<string>();

  /** Takes in a document with records. @param around the path of the element that holds the first one. */
  learn(met: XmlPathsMet, around: string): void {
    this.#around ??= around;
    for (const path of met.paths) if (this.#usual.size < maxPaths) this.#usual.add(path);
  }

  /**
   * Whether a document without records is one whose list is empty.
   * @param isAnyFirst whether it may be the first: then nothing is known to compare it with.
   * @returns true if it has the element that holds the records elsewhere, and no element that no other document has.
   */
  isEmptyList(met: XmlPathsMet, isAnyFirst: boolean): boolean {
    const around = this.#around;
    if (around === undefined) return isAnyFirst;
    if (around === '' || met.isFull) return false;
    const has = isAnyFirst ? met.paths.has(around.split('/')[0]!) : met.paths.has(around);
    return has && [...met.paths].every((path) => this.#usual.has(path));
  }
}

/** Paths of one document outside of its records. */
export class XmlPathsMet {
  readonly paths = new Set<string>();

  /** Whether there are too many to say more. */
  get isFull(): boolean {
    return this.paths.size >= maxPaths;
  }

  add(open: readonly { readonly local: string }[]): void {
    if (!this.isFull) this.paths.add(open.map(({ local }) => local).join('/'));
  }
}
