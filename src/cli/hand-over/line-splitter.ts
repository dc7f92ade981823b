/** Splits a text stream into lines. */
export class LineSplitter {
  /** The beginning of a line that isn't complete yet. */
  rest = '';

  /** Adds a chunk, and returns the lines that it completes. */
  push(text: string): string[] {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    return lines;
  }
}
