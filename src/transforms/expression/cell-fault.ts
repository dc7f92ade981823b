/** A cell, or an argument, with which an expression cannot go on; the message is for the person who wrote it. */
export class CellFault extends Error {
  override name = 'CellFault';
}
