/** A cell or argument for which an expression can't be evaluated; the message is for its author. */
export class CellFault extends Error {
  override name = 'CellFault';
}
