import type { RecordRef } from './record.ts';

/** Records in the order of their keys, no key twice. Stands on one of them after `next` said yes. */
export interface RecordSource extends RecordRef {
  /** Of two records of one key and one version, the one of the later source counts: the one with the higher rank. */
  readonly rank: number;
  /** {@link keyPrefix} of the record that it stands on. */
  readonly prefix: number;
  /** Goes on to the next record. False: there is none in memory, ask {@link fill}. What it stood on is gone then. */
  next(): boolean;
  /** Reads more and stands on the first record of it. False at the end. */
  fill(): Promise<boolean>;
  close(): Promise<void>;
}
