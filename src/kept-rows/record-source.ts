import type { RecordRef } from './record.ts';

/** Records in key order, no key twice. After `next` returned true, it's positioned on a record. */
export interface RecordSource extends RecordRef {
  /** Among records with the same key and version, the one from the source with the higher rank wins. */
  readonly rank: number;
  /** {@link keyPrefix} of the current record. */
  readonly prefix: number;
  /** Advances to the next record; the current one becomes invalid. False: none is in memory, call {@link fill}. */
  next(): boolean;
  /** Reads more and positions on its first record. False at the end. */
  fill(): Promise<boolean>;
  close(): Promise<void>;
}
