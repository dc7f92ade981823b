/** Splits a text stream into lines. */
export class LineSplitter {
  /** The beginning of an incomplete line. */
  rest = '';

  /** Adds a chunk, and returns the lines that it completes. */
  push(text: string): string[] {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    return lines;
  }
}
