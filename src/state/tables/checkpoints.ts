export interface WatermarksTable {
  job: string;
  /** Hash of query, output and target. */
  reading: string;
  text: string;
  /** The value of `text` before `run`; null if there was none. */
  previous_text: string | null;
  run: string;
  set_at: number;
}

export interface GenerationsTable {
  run: string;
  job: string;
  /** Query fingerprint. Rows of another query can't be used. */
  reading: string;
  /** Output fingerprint, of the transforms and the target. */
  shape: string;
  /** JSON: columns and files. */
  manifest: string;
  /** How far the source was read; null if it has no watermark. */
  watermark: string | null;
  /** The generation that was current at that time; null if there was none. */
  parent: string | null;
  made_at: number;
}

export interface CurrentGenerationsTable {
  job: string;
  /** The run whose generation is current. */
  run: string;
  /** The previous generation, in case the payload of `run` is never delivered. */
  previous_run: string | null;
  /** 0 if it's unknown whether the instance shows it. */
  shown: number;
  set_at: number;
}

export interface BackfillsTable {
  job: string;
  /** Fingerprint of the query. Chunks of another query can't be used. */
  reading: string;
  /**
   * The range as the user wrote it: `lower` is inclusive, `upper` exclusive. Read in steps of `chunk`; if empty, all at
   * once.
   */
  lower: string;
  upper: string;
  chunk: string;
  /** Everything below this value has been read. */
  reached: string;
  /** The backfill's files as JSON; null before the first chunk. */
  staged: string | null;
  begun_at: number;
}
