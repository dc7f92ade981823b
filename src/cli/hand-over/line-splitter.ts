/** Splits a text stream into lines. */
export class LineSplitter {
  /** The first part of an incomplete line. */
  rest = '';

  /** Adds a chunk of text, and returns the lines that are now complete. */
  push(text: string): string[] {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    return lines;
  }
}
