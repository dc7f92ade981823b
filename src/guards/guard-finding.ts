/** A failed guard. All texts are meant for people. */
export interface GuardFailure {
  readonly guard: 'rows' | 'row_change' | 'columns' | 'nulls' | 'unique' | 'newest' | 'bytes';
  /** One sentence. */
  readonly message: string;
  readonly seen: string;
  readonly allowed: string;
}
