import type { Manifest } from '../kept-rows/manifest.ts';
import type { Column } from '../sdk/column.ts';

/** The encoded bytes of a finished extract: complete, on disk under its hash, synced. Immutable. */
export interface Payload {
  /** Lowercase hex SHA-256 of the bytes. */
  readonly sha256: string;
  /** Absolute path; the file name is the hash with the format's extension. */
  readonly path: string;
  readonly bytes: number;
  readonly rows: number;
  readonly format: string;
  /** When the extract began, epoch milliseconds: the age of the data. A later start is newer (invariant 3). */
  readonly asOf: number;
}

/**
 * The encoded and hashed result of a run. End it with `seal` or `discard`: only a payload that will be sent must
 * survive a power loss.
 */
export interface DraftPayload extends Omit<Payload, 'path'> {
  readonly columns: readonly Column[];
  /** The watermark after its extract. */
  readonly watermark?: string;
  /** The generation that it was made from. Its files are on disk, but nothing refers to them yet. */
  readonly manifest?: Manifest;
  /** Syncs the file and renames it to its hash: from here on, a crash can't lose it. */
  seal(): Promise<Payload>;
  /** Removes the written bytes; does nothing after {@link seal}. Never throws. */
  discard(): Promise<void>;
}
