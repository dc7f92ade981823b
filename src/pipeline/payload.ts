import type { Manifest } from '../kept-rows/manifest.ts';
import type { Column } from '../sdk/column.ts';

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

/**
 * The encoded and hashed result of a run. It ends with `seal` or `discard`: only what is to be
 * sent has to survive a power failure.
 */
export interface DraftPayload extends Omit<Payload, 'path'> {
  readonly columns: readonly Column[];
  /** How far the source was read for it. */
  readonly watermark?: string;
  /** The generation that it was made of, on disk: nothing refers to its files yet. */
  readonly manifest?: Manifest;
  /** Syncs the file and renames it to its hash: from here on, a crash can't lose it. */
  seal(): Promise<Payload>;
  /** Removes what was written; does nothing after {@link seal}. Never throws. */
  discard(): Promise<void>;
}
