export interface WatermarksTable {
  job: string;
  /** Hash of what is read, how it is shaped and where it goes. */
  reading: string;
  text: string;
  /** What `text` was before `run`; null when nothing was known. */
  previous_text: string | null;
  run: string;
  set_at: number;
}

export interface GenerationsTable {
  run: string;
  job: string;
  /** Hash of what is read: rows of another query are of no use. */
  reading: string;
  /** Hash of what is made of the rows, and where it goes. */
  shape: string;
  /** JSON: columns and files. */
  manifest: string;
  /** How far the source was read for it; null where it has no watermark. */
  watermark: string | null;
  /** The generation that was the present one then; null when there was none. */
  parent: string | null;
  made_at: number;
}

export interface CurrentGenerationsTable {
  job: string;
  /** Whose generation is the present one. */
  run: string;
  /** The one before, in case the payload of `run` is never delivered. */
  previous_run: string | null;
  /** 0: it is unknown whether the instance shows it. */
  shown: number;
  set_at: number;
}

export interface BackfillsTable {
  job: string;
  reading: string;
  /** The range as a person wrote it: from `lower` on, up to but without `upper`, in steps of `chunk` (empty: at once). */
  lower: string;
  upper: string;
  chunk: string;
  /** What lies before this has been read. */
  reached: string;
  /** JSON: the files of it; null before the first. */
  staged: string | null;
  begun_at: number;
}
