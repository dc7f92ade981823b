export interface BlobsTable {
  /** Path of the file, relative to the state folder. */
  name: string;
  bytes: number;
  /** Lowercase hex SHA-256 of the bytes. Null while the bytes are being written or removed. */
  sha256: string | null;
  /** When the bytes were written, in epoch milliseconds. Negative if they're to be removed. */
  stored_at: number;
}

export interface BlobPiecesTable {
  name: string;
  /** Position among the blob's pieces, starting at 0. */
  number: number;
  bytes: Buffer;
}
