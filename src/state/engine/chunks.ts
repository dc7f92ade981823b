/** Rows per statement. A statement can have only so many bound values, and each one is a round trip to a server. */
const rowsAtOnce = 500;

/** Divides rows, in order, into parts that fit into one statement each. */
export function* chunksOf<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < rows.length; start += rowsAtOnce) yield rows.slice(start, start + rowsAtOnce);
}
