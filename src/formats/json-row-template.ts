/** Rows of more columns are read without this. */
const maxColumns = 256;

/**
 * Data says the same again and again: from the first value of a row to that of the next one, all but the values is the
 * same bytes each time. A row is an object that is an item of the outermost value. What led from one value in a row to
 * another does so wherever it stands behind a value in a row, so that it only has to be compared. All offsets are meant in
 * the bytes at hand.
 */
export class JsonRowTemplate {
  /** What stands behind each column's value, up to the next value; the last leads to the first of the next row. */
  readonly starts = new Int32Array(maxColumns);
  readonly lengths = new Int32Array(maxColumns);
  /** The lines that end in it. */
  readonly lines = new Int32Array(maxColumns);
  columns = 0;
  #isLearning = false;
  #line = 0;
  #items = 0;

  forget(): void {
    this.#isLearning = false;
  }

  /** A value begins a row: where there are so many items and this line. True when the row before is known by heart. */
  first(items: number, line: number): boolean {
    if (this.#isLearning && items === this.#items + 1) return true;
    this.columns = 0;
    this.#line = line;
    this.#items = items;
    this.#isLearning = true;
    return false;
  }

  /** Notes what stands between a value of a row and the next that is no array or object, which may be in another row. */
  between(start: number, end: number, line: number): void {
    if (!this.#isLearning) return;
    if (this.columns === maxColumns) {
      this.forget();
      return;
    }
    this.starts[this.columns] = start;
    this.lengths[this.columns] = end - start;
    this.lines[this.columns++] = line - this.#line;
    this.#line = line;
  }
}
