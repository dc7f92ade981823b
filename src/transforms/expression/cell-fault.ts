/**
 * Thrown if an expression can't be evaluated for a cell or an argument. The message is written for the expression's
 * author.
 */
export class CellFault extends Error {
  override name = 'CellFault';
}
