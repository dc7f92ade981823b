/** Splits a stream of text into lines. */
export class LineSplitter {
  /** The beginning of a line whose end hasn't come. */
  rest = '';

  /** Returns the lines that end in this piece. */
  push(text: string): string[] {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    return lines;
  }
}
