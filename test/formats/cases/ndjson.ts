export function rowsOf(document: Buffer): number {
  const lines = document.toString().split('\n');
  if (lines.pop() !== '') throw new Error('The last line has no end');
  return lines.map((line) => JSON.parse(line) as object).length;
}
