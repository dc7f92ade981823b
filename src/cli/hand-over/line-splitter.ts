/** Splits a stream of text into lines. */
export class LineSplitter {
  /** The beginning of a line whose end hasn't arrived yet. */
  rest = '';

  /** Adds a chunk, and returns the lines that are now complete. */
  push(text: string): string[] {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    return lines;
  }
}
