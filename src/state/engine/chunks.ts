/** Rows per statement. A statement can have only so many bound values, and each one is a round trip to a server. */
export const rowsAtOnce = 500;

/** Divides rows, in order, into parts that fit into one statement each. */
export function* chunksOf<T>(rows: Iterable<T>): Generator<readonly T[]> {
  let chunk: T[] = [];
  for (const row of rows) {
    if (chunk.length === rowsAtOnce) {
      yield chunk;
      chunk = [];
    }
    chunk.push(row);
  }
  if (chunk.length > 0) yield chunk;
}
