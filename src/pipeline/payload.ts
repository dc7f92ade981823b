import type { Manifest } from '../kept-rows/manifest.ts';
import type { Column } from '../sdk/column.ts';

/** A finished extract's encoded bytes: complete, synced, and on disk under their hash. Immutable. */
export interface Payload {
  /** Lowercase hex SHA-256 of the bytes. */
  readonly sha256: string;
  /** Absolute path. The file name is the hash with the format's extension. */
  readonly path: string;
  readonly bytes: number;
  readonly rows: number;
  readonly format: string;
  /**
   * When the extract started (epoch milliseconds), which determines the data's age. Data from a later start is newer
   * (invariant 3).
   */
  readonly asOf: number;
}

/**
 * A run's encoded and hashed result. Call `seal` if the payload will be sent, so that it survives a power loss, and
 * `discard` if it won't.
 */
export interface DraftPayload extends Omit<Payload, 'path'> {
  readonly columns: readonly Column[];
  /** The watermark after the extract. */
  readonly watermark?: string;
  /** The generation that the payload was made from. Its files are on disk, but nothing refers to them yet. */
  readonly manifest?: Manifest;
  /** Syncs the file and renames it to its hash; after that, a crash can't lose it. */
  seal(): Promise<Payload>;
  /** Removes the written bytes; does nothing after {@link seal}. Never throws. */
  discard(): Promise<void>;
}
