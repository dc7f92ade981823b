export interface WatermarksTable {
  job: string;
  /** Fingerprint of the query, the output and the target. */
  reading: string;
  text: string;
  /** The value that `text` had before `run`. Null if there was none. */
  previous_text: string | null;
  run: string;
  set_at: number;
}

export interface GenerationsTable {
  run: string;
  job: string;
  /** Fingerprint of the query. Rows that were read with a different query can't be used. */
  reading: string;
  /** Fingerprint of the output: the transforms and the target. */
  shape: string;
  /** JSON: columns and files. */
  manifest: string;
  /** How far the run has read the source. Null if the source has no watermark. */
  watermark: string | null;
  /** The run whose generation was current when this generation was stored. Null if there was none. */
  parent: string | null;
  made_at: number;
}

export interface CurrentGenerationsTable {
  job: string;
  /** The run whose generation is current. */
  run: string;
  /** The run whose generation was current before. It's needed if the payload of `run` is never delivered. */
  previous_run: string | null;
  /** 0 if it's unknown whether the instance shows this generation's rows, otherwise 1. */
  shown: number;
  set_at: number;
}

export interface BackfillsTable {
  job: string;
  /** Fingerprint of the query. Chunks that were read with a different query can't be used. */
  reading: string;
  /** Start of the range (inclusive), as the user wrote it. */
  lower: string;
  /** End of the range (exclusive), as the user wrote it. */
  upper: string;
  /** Length of the steps in which the range is read. If empty, the whole range is read at once. */
  chunk: string;
  /** All rows below this value have been read. */
  reached: string;
  /** The files that the backfill has written, as JSON. Null before the first chunk. */
  staged: string | null;
  begun_at: number;
}
