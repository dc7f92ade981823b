import type { RecordRef } from './record.ts';

/** Records in key order, without duplicate keys. After `next` returns true, the source is positioned on a record. */
export interface RecordSource extends RecordRef {
  /** Among records with the same key and version, the one from the source with the higher rank wins. */
  readonly rank: number;
  /** {@link keyPrefix} of the current record. */
  readonly prefix: number;
  /**
   * Advances to the next record, which invalidates the current one. Returns false if the next one isn't in memory; call
   * {@link fill} then.
   */
  next(): boolean;
  /** Reads more records and advances to the first of them. Returns false at the end. */
  fill(): Promise<boolean>;
  close(): Promise<void>;
}
