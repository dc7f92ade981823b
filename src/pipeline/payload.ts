/** The encoded bytes of one finished extract: whole, on disk under its hash, fsynced. Immutable. */
export interface Payload {
  /** Lowercase hex SHA-256 of the bytes. */
  readonly sha256: string;
  /** Absolute path; the file's name is the hash with the format's ending. */
  readonly path: string;
  readonly bytes: number;
  readonly rows: number;
  readonly format: string;
  /** When the extract began, epoch milliseconds: the age of the data. What began later is newer (invariant 3). */
  readonly asOf: number;
}
